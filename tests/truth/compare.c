// Compares the results of the simulator with those of a GPU, as run.c wrote them.
//
//   truth-compare GOLDEN RESULTS DIFFERENCES.csv [FORMS]     FORMS: names, of those that were to run; otherwise all
//   truth-compare --list RESULTS                             a name a line, and the hash, or error
//
// A form that is exact must have the same bits. One that is approximate must lie within the documented bound of the
// exact value, on both sides, and agree with the GPU on what is a NaN, an infinity or a zero. DIFFERENCES.csv lists
// forms where the two are known to differ; one that no longer differs is an error. Listed or not, the simulator's
// approximate results must lie within their bound. A form that no GPU has run yet is named, and no error.
#include "truth.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FORMS = 2048, NAME = sizeof(((struct truth_result *)0)->name) };

// The records of a file, with their results behind them.
struct run {
    const struct truth_result *result[MOST_FORMS];
    int results;
};

static void die(const char *path) {
    perror(path);
    exit(2);
}

static void read_run(const char *path, struct run *run) {
    FILE *file = fopen(path, "rb");
    if (!file)
        die(path);
    struct truth_result head, *result;
    for (; fread(&head, sizeof head, 1, file) == 1 && run->results < MOST_FORMS; run->results++) {
        const size_t bytes = (size_t)head.elements * truth_type_bytes((enum truth_type)head.type);
        result = malloc(sizeof head + bytes);
        if (!result || fread(memcpy(result, &head, sizeof head) + sizeof head, 1, bytes, file) != bytes)
            die(path);
        run->result[run->results] = result;
    }
    fclose(file);
}

static const struct truth_result *find(const struct run *run, const char *name) {
    for (int i = 0; i < run->results; i++)
        if (strcmp(run->result[i]->name, name) == 0)
            return run->result[i];
    return NULL;
}

static uint64_t bits_at(const uint8_t *bytes, size_t width, size_t i) {
    uint64_t bits = 0;
    memcpy(&bits, bytes + i * width, width);
    return bits;
}

// A number of 1 + exponent_bits + mantissa bits.
static double decode(uint64_t bits, int mantissa, int exponent_bits) {
    const uint64_t fraction = bits & ((1ull << mantissa) - 1), ones = (1ull << exponent_bits) - 1;
    const uint64_t exponent = bits >> mantissa & ones;
    const double sign = bits >> (mantissa + exponent_bits) & 1 ? -1.0 : 1.0;
    const int bias = (1 << (exponent_bits - 1)) - 1;
    if (exponent == ones)
        return fraction != 0 ? NAN : sign * INFINITY;
    return exponent == 0 ? sign * ldexp((double)fraction, 1 - bias - mantissa)
                         : sign * ldexp((double)(fraction | 1ull << mantissa), (int)exponent - bias - mantissa);
}

struct format {
    int mantissa, exponent_bits, parts; // parts: numbers in an element
};

static struct format format_of(int type) {
    switch (type) {
    case TRUTH_F16:
        return (struct format){10, 5, 1};
    case TRUTH_F16X2:
        return (struct format){10, 5, 2};
    case TRUTH_BF16:
        return (struct format){7, 8, 1};
    case TRUTH_BF16X2:
        return (struct format){7, 8, 2};
    case TRUTH_F64:
        return (struct format){52, 11, 1};
    default:
        return (struct format){23, 8, 1};
    }
}

static double part(struct format format, uint64_t bits, int which) {
    return decode(format.parts == 2 ? bits >> 16 * which & 0xffff : bits, format.mantissa, format.exponent_bits);
}

static double smallest_normal(struct format format) {
    return ldexp(1.0, 2 - (1 << (format.exponent_bits - 1)));
}

static double exact_value(const char *name, double a, double b) {
    static const struct {
        const char *prefix;
        double (*function)(double);
    } functions[] = {{"ex2", exp2}, {"lg2", log2}, {"sqrt", sqrt}, {"sin", sin}, {"cos", cos}, {"tanh", tanh}};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (strncmp(name, functions[i].prefix, strlen(functions[i].prefix)) == 0)
            return functions[i].function(a);
    return strncmp(name, "rcp", 3) == 0 ? 1.0 / a : strncmp(name, "rsqrt", 5) == 0 ? 1.0 / sqrt(a) : a / b;
}

// How far a result may lie from the exact value.
static double allowed_error(const struct truth_result *form, struct format format, double a, double exact) {
    const double spacing = ldexp(smallest_normal(format), -format.mantissa); // of subnormal results
    if (form->comparison == TRUTH_ABSOLUTE)
        return form->bound;
    if (form->comparison == TRUTH_LOGARITHM)
        return a > 0.5 && a < 2.0 ? form->bound : form->bound * fabs(exact);
    if (form->comparison == TRUTH_ULP) {
        const double size = fmax(fabs(exact), smallest_normal(format));
        return form->bound * ldexp(1.0, ilogb(size) - format.mantissa);
    }
    return form->bound * fabs(exact) + spacing;
}

static bool same_kind(double x, double y) {
    return isnan(x) || isnan(y) ? isnan(x) && isnan(y) : !(isinf(x) || isinf(y) || x == 0.0 || y == 0.0) || x == y;
}

// One approximate result; on a miss writes what is wrong to why.
static bool is_near(const struct truth_result *form, const double input[2], double gpu, double simulated, char *why,
                    size_t why_size) {
    if (form->comparison == TRUTH_NEAR) {
        snprintf(why, why_size, "GPU %.9g, simulator %.9g, allowed %g apart", gpu, simulated, form->bound);
        return isnan(gpu) ? isnan(simulated) : fabs(gpu - simulated) <= form->bound;
    }
    const struct format format = format_of(form->type);
    double a = input[0], b = input[1];
    if (strstr(form->name, "ftz")) {
        a = fabs(a) < smallest_normal(format) ? copysign(0.0, a) : a;
        b = fabs(b) < smallest_normal(format) ? copysign(0.0, b) : b;
    }
    // The bounds of sine and cosine end at 100 pi.
    if ((strncmp(form->name, "sin", 3) == 0 || strncmp(form->name, "cos", 3) == 0) && fabs(a) > 100 * 3.14159265) {
        snprintf(why, why_size, "of %.9g: GPU %.9g, simulator %.9g", a, gpu, simulated);
        return isinf(a) ? isnan(gpu) && isnan(simulated) : fabs(gpu) <= 1.0 && fabs(simulated) <= 1.0;
    }
    const double exact = exact_value(form->name, a, b), allowed = allowed_error(form, format, a, exact);
    snprintf(why, why_size, "of %.9g, %.9g: exact %.9g, GPU %.9g, simulator %.9g, allowed error %g", input[0], input[1],
             exact, gpu, simulated, allowed);
    if (!same_kind(gpu, simulated))
        return false;
    if (isnan(gpu) || isinf(gpu) || gpu == 0.0)
        return true;
    return fabs(gpu - exact) <= allowed && fabs(simulated - exact) <= allowed;
}

enum verdict { SAME, DIFFERS_AS_LISTED, WRONG };

// Prints the first place where the two results of a form are wrong.
static enum verdict compare_form(const struct truth_result *golden, const struct truth_result *result, bool listed) {
    const uint8_t *gpu = (const uint8_t *)(golden + 1), *simulated = (const uint8_t *)(result + 1);
    if (golden->type != result->type || golden->elements != result->elements) {
        printf("%s: %s\n", golden->name, result->comparison == TRUTH_FAILED ? "did not run" : "another type or size");
        return WRONG;
    }
    const size_t width = truth_type_bytes((enum truth_type)golden->type);
    const bool exact = golden->comparison == TRUTH_EXACT;
    enum verdict verdict = SAME;
    static uint64_t values[3][TRUTH_ELEMENTS];
    for (int k = 0; k < 3; k++)
        truth_fill((enum truth_type)golden->input[k], k, values[k]);
    for (size_t i = 0; i < (size_t)golden->elements; i++) {
        const uint64_t from_gpu = bits_at(gpu, width, i), from_simulator = bits_at(simulated, width, i);
        uint64_t input[3];
        for (int k = 0; k < 3; k++)
            input[k] = bits_at((const uint8_t *)values[k], truth_type_bytes((enum truth_type)golden->input[k]), i);
        if (exact && from_gpu != from_simulator) {
            if (listed)
                return DIFFERS_AS_LISTED;
            printf("%s: element %zu of %#llx, %#llx, %#llx: GPU %#llx, simulator %#llx\n", golden->name, i,
                   (unsigned long long)input[0], (unsigned long long)input[1], (unsigned long long)input[2],
                   (unsigned long long)from_gpu, (unsigned long long)from_simulator);
            return WRONG;
        }
        for (int p = 0; !exact && p < format_of(golden->type).parts; p++) {
            char why[256];
            const double of[2] = {part(format_of(golden->input[0]), input[0], p),
                                  part(format_of(golden->input[1]), input[1], p)};
            const double on_gpu = part(format_of(golden->type), from_gpu, p);
            const double on_simulator = part(format_of(golden->type), from_simulator, p);
            if (is_near(golden, of, on_gpu, on_simulator, why, sizeof why))
                continue;
            verdict = DIFFERS_AS_LISTED;
            if (!listed || !is_near(golden, of, on_simulator, on_simulator, why, sizeof why)) {
                printf("%s: element %zu: %s\n", golden->name, i, why);
                return WRONG;
            }
        }
    }
    if (exact && golden->hash != result->hash) {
        if (listed)
            return DIFFERS_AS_LISTED;
        printf("%s: differs past the first %d elements\n", golden->name, golden->elements);
        return WRONG;
    }
    return verdict;
}

// The forms that may differ: names only, [*count].
static char (*read_differences(const char *path, int *count))[NAME] {
    static char names[MOST_FORMS][NAME];
    char line[1024];
    FILE *file = fopen(path, "r");
    if (!file)
        die(path);
    for (*count = 0; fgets(line, sizeof line, file) && *count < MOST_FORMS;) {
        // Names with a slash are counts, which compare.sql looks after.
        const bool is_form =
            line[0] != '#' && strncmp(line, "what,", 5) != 0 && strcspn(line, "/") > strcspn(line, ",");
        *count += is_form && sscanf(line, "%63[^,],", names[*count]) == 1;
    }
    fclose(file);
    return names;
}

// Names, a line each, of a file or of none; [*count].
static char (*read_names(const char *path, int *count))[NAME] {
    static char names[MOST_FORMS][NAME];
    *count = 0;
    FILE *file = path ? fopen(path, "r") : NULL;
    if (path && !file)
        die(path);
    while (file && *count < MOST_FORMS && fscanf(file, "%63s", names[*count]) == 1)
        ++*count;
    if (file)
        fclose(file);
    return names;
}

static bool is_among(char (*names)[NAME], int count, const char *name) {
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static int list(const char *path) {
    static struct run run;
    read_run(path, &run);
    for (int i = 0; i < run.results; i++)
        if (run.result[i]->comparison == TRUTH_FAILED)
            printf("%s error\n", run.result[i]->name);
        else
            printf("%s %016llx\n", run.result[i]->name, (unsigned long long)run.result[i]->hash);
    return 0;
}

int main(int argc, char **argv) {
    if (argc == 3 && strcmp(argv[1], "--list") == 0)
        return list(argv[2]);
    if (argc != 4 && argc != 5) {
        fprintf(stderr, "usage: %s GOLDEN RESULTS DIFFERENCES.csv [FORMS] | --list RESULTS\n", argv[0]);
        return 2;
    }
    static struct run golden, results;
    read_run(argv[1], &golden);
    read_run(argv[2], &results);
    int differences = 0, wrong = 0, allowed = 0, left = 0;
    char(*difference)[NAME] = read_differences(argv[3], &differences);
    int asked_count;
    char(*asked)[NAME] = read_names(argc == 5 ? argv[4] : NULL, &asked_count);
    for (int d = 0; d < differences; d++) {
        if (!find(&golden, difference[d])) {
            printf("%s: listed as a difference, but there is no such form\n", difference[d]);
            wrong++;
        }
    }
    for (int i = 0; i < golden.results; i++) {
        const struct truth_result *form = golden.result[i], *result = find(&results, form->name);
        const bool listed = is_among(difference, differences, form->name);
        if (!result && argc == 5 && !is_among(asked, asked_count, form->name)) {
            left++;
            continue;
        }
        if (!result) {
            printf("%s: not among the results\n", form->name);
            wrong++;
            continue;
        }
        const enum verdict verdict = compare_form(form, result, listed);
        if (verdict == SAME && listed)
            printf("%s: listed as a difference, but there is none\n", form->name);
        wrong += verdict == WRONG || (verdict == SAME && listed);
        allowed += verdict == DIFFERS_AS_LISTED;
    }
    int missing = 0;
    for (int i = 0; i < results.results; i++) {
        if (find(&golden, results.result[i]->name))
            continue;
        if (missing++ < 4)
            printf("%s: no golden result: record it on a GPU\n", results.result[i]->name);
    }
    if (missing > 4)
        printf("and %d more: no golden result: record them on a GPU\n", missing - 4);
    printf("truth: %d forms, %d wrong, %d known to differ, %d not recorded\n", golden.results - left, wrong, allowed,
           missing);
    return wrong == 0 ? 0 : 1;
}
