// Findings: see report.h.
#include "report.h"

#include "../simulator.h"
#include "cause.h"
#include "control.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define MAX_FINDINGS 256 // kept per launch
#define MAX_PRINTED 10
#define NO_INSTRUCTION (-2)

struct finding {
    uint64_t hash; // of the kind and the source lines, which all instances of a template share
    enum sim_finding_kind kind;
    int32_t instruction, other;
    _Atomic uint64_t count;
    char *title, *details, code[48];
};

static const struct {
    enum sim_severity severity;
    const char *code, *title, *usual_cause;
} kinds[SIM_FINDING_KINDS] = {
#define FINDING(name, severity, code, title, cause) [name] = {severity, code, title, cause},
#include "../findings.def"
#undef FINDING
};

static bool is_warning(enum sim_finding_kind kind) {
    return kinds[kind].severity == SIM_WARNING;
}

// A warning that is printed once per program, wherever it occurs.
static bool is_printed_once(enum sim_finding_kind kind) {
    return is_warning(kind) && kind != SIM_FINDING_MIXED_ACCESS;
}

static bool is_uninitialized(enum sim_finding_kind kind) {
    return kind == SIM_FINDING_UNINITIALIZED_SHARED || kind == SIM_FINDING_UNINITIALIZED_GLOBAL;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct finding findings[MAX_FINDINGS];
static unsigned unprinted, warnings, total; // warnings: of the unprinted ones
static enum sim_finding_kind first_kind;    // if total is not 0
static const struct sim_report_listener *listener;

// The findings that were printed, if each one is to be printed once.
#define MAX_PRINTED_HASHES 256
static bool print_once;
static unsigned printed_hashes;
static bool kind_was_printed[SIM_FINDING_KINDS];
static uint64_t printed_hash[MAX_PRINTED_HASHES];

const char *sim_report_title(enum sim_finding_kind kind) {
    return kinds[kind].title;
}

void sim_report_listen(const struct sim_report_listener *new) {
    listener = new;
}

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

// Code that is inlined from one of CUDA's headers, such as __shfl_sync, is located at the line of the program that
// calls it.
void sim_report_location(const struct ptx_kernel *kernel, int32_t instruction, char *text, size_t size) {
    const struct ptx_module *module = kernel->module;
    int32_t location = kernel->instruction[instruction].location;
    if (location < 0 || location >= module->locations || module->location[location].file == 0) {
        snprintf(text, size, "PTX line %d of %s", kernel->instruction[instruction].ptx_line, kernel->name);
        return;
    }
    const struct ptx_location *at = &module->location[location];
    for (int hops = 0; at->inlined_at >= 0 && at->inlined_at < module->locations && hops < 32; hops++) {
        const char *dot = strrchr(module->file[at->file], '.');
        if (dot && (strcmp(dot, ".cu") == 0 || strcmp(dot, ".cuh") == 0))
            break;
        at = &module->location[at->inlined_at];
    }
    size_t length = (size_t)snprintf(text, size, "%s:%d", base_name(module->file[at->file]), at->line);
    for (int hops = 0; at->inlined_at >= 0 && at->inlined_at < module->locations && hops < 4 && length < size; hops++) {
        at = &module->location[at->inlined_at];
        length += (size_t)snprintf(text + length, size - length, " (called at %s:%d)",
                                   base_name(module->file[at->file]), at->line);
    }
}

const char *sim_report_operation(const struct ptx_instruction *instruction) {
    bool stores = instruction->space == PTX_GLOBAL;
    switch (instruction->opcode) {
    case PTX_OP_LD:
    case PTX_OP_LDU:
        return "load";
    case PTX_OP_ST:
        return "store";
    case PTX_OP_ATOM:
    case PTX_OP_RED:
        return "atomic";
    case PTX_OP_BAR:
        return "barrier";
    case PTX_OP_SHFL:
        return "shfl.sync";
    case PTX_OP_WGMMA_MMA_ASYNC:
        return "wgmma";
    case PTX_OP_CP_ASYNC_BULK_TENSOR:
        return stores ? "TMA store" : "TMA load";
    case PTX_OP_CP_REDUCE_ASYNC_BULK_TENSOR:
        return "TMA reduction";
    default:
        return ptx_opcode_name(instruction->opcode);
    }
}

// Replaces {here} and {there} by the locations of the two instructions.
static void insert_locations(const char *detail, const char *here, const char *there, char *text, size_t size) {
    size_t length = 0;
    if (!strstr(detail, "{here}"))
        length = (size_t)snprintf(text, size, "%s: ", here);
    while (*detail && length + 1 < size) {
        const char *location = strncmp(detail, "{here}", 6) == 0    ? here
                               : strncmp(detail, "{there}", 7) == 0 ? there
                                                                    : NULL;
        if (location) {
            length += (size_t)snprintf(text + length, size - length, "%s", location);
            length = length < size ? length : size - 1;
            detail += location == here ? 6 : 7;
        } else {
            text[length++] = *detail++;
        }
    }
    text[length < size ? length : size - 1] = 0;
}

// Cuts off the code, in brackets, in which a detail may end.
static const char *cut_code(char *text, enum sim_finding_kind kind) {
    size_t length = strlen(text);
    char *bracket = length && text[length - 1] == ']' ? strrchr(text, '[') : NULL;
    if (!bracket || bracket == text || bracket[-1] != ' ')
        return kinds[kind].code;
    text[length - 1] = 0;
    bracket[-1] = 0;
    return bracket + 1;
}

static struct finding *find(enum sim_finding_kind kind, int32_t instruction, int32_t other) {
    for (unsigned i = 0; i < unprinted; i++)
        if (findings[i].kind == kind && findings[i].instruction == instruction && findings[i].other == other)
            return &findings[i];
    return NULL;
}

_Atomic uint64_t *sim_report_counter(enum sim_finding_kind kind, int32_t instruction, int32_t other_instruction) {
    pthread_mutex_lock(&lock);
    struct finding *known = find(kind, instruction, other_instruction);
    pthread_mutex_unlock(&lock);
    return known ? &known->count : NULL;
}

static uint64_t hash_of(const char *text, uint64_t hash) {
    while (*text)
        hash = (hash ^ (unsigned char)*text++) * 1099511628211u;
    return hash;
}

static char *make_details(const char *cause, const char *listing) {
    char *details;
    if (asprintf(&details, "%s%s%s%s", *cause ? "Usual cause: " : "", cause, *cause && listing ? "\n" : "",
                 listing ? listing : "") < 0)
        return NULL;
    return details;
}

void sim_report_cause(enum sim_finding_kind kind, int32_t instruction, const char *cause) {
    pthread_mutex_lock(&lock);
    struct finding *known = find(kind, instruction, -1);
    char *details = known ? make_details(cause, NULL) : NULL;
    if (details) {
        free(known->details);
        known->details = details;
    }
    pthread_mutex_unlock(&lock);
}

// text: the title line without its kind; a listing of several lines may follow. NULL: there is no room.
static struct finding *add(enum sim_finding_kind kind, int32_t instruction, int32_t other, uint64_t hash, char *text,
                           const char *where) {
    char *listing = strchr(text, '\n');
    if (unprinted == MAX_FINDINGS)
        return NULL;
    if (listing) // printed last
        *listing++ = 0;
    const char *code = cut_code(text, kind);
    struct finding *new = &findings[unprinted++];
    *new = (struct finding){
        .kind = kind, .instruction = instruction, .other = other, .count = 1, .hash = hash_of(kinds[kind].title, hash)};
    snprintf(new->code, sizeof new->code, "%s", code);
    if (asprintf(&new->title, "%s: %s%s", kinds[kind].title, text, where) < 0)
        new->title = NULL;
    new->details = make_details(finding_cause(kind, instruction == other && instruction >= 0, text), listing);
    warnings += is_warning(kind);
    return new;
}

void sim_report(enum sim_finding_kind kind, const struct ptx_kernel *kernel, int32_t instruction,
                int32_t other_instruction, struct sim_dim block, struct sim_dim thread, const char *detail, ...) {
    char here[256], there[256] = "", words[2560], text[3072], where[128];
    pthread_mutex_lock(&lock);
    struct finding *known = find(kind, instruction, other_instruction);
    if (known) {
        known->count++;
    } else {
        va_list arguments;
        va_start(arguments, detail);
        vsnprintf(words, sizeof words, detail, arguments);
        va_end(arguments);
        sim_report_location(kernel, instruction, here, sizeof here);
        if (other_instruction >= 0)
            sim_report_location(kernel, other_instruction, there, sizeof there);
        insert_locations(words, here, there, text, sizeof text);
        snprintf(where, sizeof where, "; block (%u,%u,%u), thread (%u,%u,%u)", block.x, block.y, block.z, thread.x,
                 thread.y, thread.z);
        if (add(kind, instruction, other_instruction, hash_of(here, hash_of(there, 1)), text, where) && listener &&
            !is_warning(kind))
            listener->found(kind, kernel, instruction, other_instruction, block, thread);
    }
    pthread_mutex_unlock(&lock);
}

void sim_report_call(enum sim_finding_kind kind, const char *detail, ...) {
    char text[3072];
    pthread_mutex_lock(&lock);
    va_list arguments;
    va_start(arguments, detail);
    vsnprintf(text, sizeof text, detail, arguments);
    va_end(arguments);
    uint64_t hash = hash_of(text, 1);
    struct finding *known = NULL;
    for (unsigned i = 0; i < unprinted; i++)
        if (findings[i].hash == hash_of(kinds[kind].title, hash))
            known = &findings[i];
    if (known)
        known->count++;
    else
        add(kind, NO_INSTRUCTION, NO_INSTRUCTION, hash, text, "");
    pthread_mutex_unlock(&lock);
}

// A finding that only follows from another one is omitted: the same two lines in the opposite order, a race within a
// warp on lines that also race between warps, and an uninitialized read that precedes the write which it races with.
static bool is_consequence(const struct finding *one) {
    for (unsigned i = 0; i < unprinted; i++) {
        const struct finding *race = &findings[i];
        bool same = one->instruction == race->instruction && one->other == race->other;
        bool swapped = one != race && one->instruction == race->other && one->other == race->instruction;
        bool reads = one->instruction == race->instruction || one->instruction == race->other;
        if (one->kind == race->kind && swapped && one->other >= 0 &&
            (one->count < race->count || (one->count == race->count && one > race)))
            return true;
        bool races = race->kind == SIM_FINDING_RACE_BLOCK || race->kind == SIM_FINDING_RACE_ASYNC;
        if (races && one->kind == SIM_FINDING_PROXY_FENCE && same)
            return true;
        bool follows = is_uninitialized(one->kind) || one->kind == SIM_FINDING_MISSING_PHASE_WAIT ||
                       one->kind == SIM_FINDING_RACE_ASYNC;
        if (race->kind == SIM_FINDING_WGMMA_OPERAND && follows && reads)
            return true;
        if (race->kind == SIM_FINDING_RACE_BLOCK &&
            ((one->kind == SIM_FINDING_RACE_WARP && (same || swapped)) || (is_uninitialized(one->kind) && reads)))
            return true;
    }
    return false;
}

void simulator_print_findings_once(void) {
    print_once |= control_is_open();
}

// Returns whether the finding was printed before; from now on it counts as printed.
static bool was_printed(const struct finding *one) {
    for (unsigned i = 0; (print_once || is_warning(one->kind)) && i < printed_hashes; i++)
        if (printed_hash[i] == one->hash)
            return true;
    if (printed_hashes < MAX_PRINTED_HASHES)
        printed_hash[printed_hashes++] = one->hash;
    return false;
}

// The order of printing: an index or a descriptor out of bounds may be the cause of a race, and a race or a divergent
// barrier the cause of all other findings.
static int rank(const struct finding *one) {
    switch (one->kind) {
    case SIM_FINDING_OUT_OF_BOUNDS:
    case SIM_FINDING_SHARED_OUT_OF_BOUNDS:
    case SIM_FINDING_LOCAL_OUT_OF_BOUNDS:
    case SIM_FINDING_WGMMA_OPERAND:
        return 0;
    case SIM_FINDING_RACE_BLOCK:
    case SIM_FINDING_RACE_WARP:
    case SIM_FINDING_DIVERGENT_BARRIER:
        return 1;
    default:
        return is_warning(one->kind) ? 3 : 2;
    }
}

static int by_rank(const void *a, const void *b) {
    const struct finding *x = *(const struct finding *const *)a, *y = *(const struct finding *const *)b;
    return rank(x) != rank(y) ? rank(x) - rank(y) : (x > y) - (x < y);
}

// Prints words, broken at the terminal's width, if stderr is one. The cursor is behind `column` characters. A listing,
// which a line feed begins, is printed as it is.
static void print_words(const char *text, int column) {
    struct winsize size = {.ws_col = 0};
    int width = isatty(STDERR_FILENO) && ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
    while (*text) {
        int length = (int)strcspn(text, " \n");
        if (width > 40 && column + 1 + length > width) {
            fputs("\n ", stderr);
            column = 1;
        }
        fprintf(stderr, " %.*s", length, text);
        column += 1 + length;
        text += length;
        if (*text == '\n') {
            fputs(text, stderr);
            break;
        }
        text += *text == ' ';
    }
}

static void print_finding(const struct finding *one) {
    const char *severity = is_warning(one->kind) ? "simulator: warning:" : "simulator: error:";
    char times[48] = "";
    if (one->count > 1)
        snprintf(times, sizeof times, " (%llu times)", (unsigned long long)one->count);
    fputs(severity, stderr);
    print_words(one->title ? one->title : kinds[one->kind].title, (int)strlen(severity));
    fprintf(stderr, "%s [%s]\n", times, one->code);
    if (one->details && !*one->details)
        return;
    fputc(' ', stderr);
    print_words(one->details ? one->details : kinds[one->kind].usual_cause, 1);
    fputc('\n', stderr);
}

static void notify_listener(const struct finding *one) {
    char *text;
    if (asprintf(&text, "%s [%s]. %s", one->title ? one->title : kinds[one->kind].title, one->code,
                 one->details ? one->details : kinds[one->kind].usual_cause) < 0)
        return;
    listener->printed(one->kind, one->instruction, one->other, text, one->count);
    free(text);
}

unsigned sim_report_flush(void) {
    unsigned distinct = 0;
    pthread_mutex_lock(&lock);
    fflush(stdout);
    const struct finding *sorted[MAX_FINDINGS];
    for (unsigned i = 0; i < unprinted; i++)
        sorted[i] = &findings[i];
    qsort(sorted, unprinted, sizeof *sorted, by_rank);
    unsigned printed = 0, omitted = 0;
    for (unsigned i = 0; i < unprinted; i++) {
        const struct finding *one = sorted[i];
        if (is_consequence(one) || (is_printed_once(one->kind) && kind_was_printed[one->kind]))
            continue;
        kind_was_printed[one->kind] = true;
        if (listener && !is_warning(one->kind) && one->instruction != NO_INSTRUCTION)
            notify_listener(one);
        if (!is_warning(one->kind) && !total && !distinct)
            first_kind = one->kind;
        distinct += !is_warning(one->kind);
        if (was_printed(one))
            continue;
        if (++printed > MAX_PRINTED)
            omitted++;
        else
            print_finding(one);
    }
    if (omitted)
        fprintf(stderr, "simulator: %u more findings of this launch are not shown\n", omitted);
    for (unsigned i = 0; i < unprinted; i++) {
        free(findings[i].title);
        free(findings[i].details);
    }
    total += distinct;
    for (int kind = 0; !print_once && kind < SIM_FINDING_KINDS; kind++)
        kind_was_printed[kind] = false;
    unprinted = warnings = 0;
    pthread_mutex_unlock(&lock);
    return distinct;
}

unsigned sim_report_total(void) {
    pthread_mutex_lock(&lock);
    unsigned all = total + unprinted - warnings;
    pthread_mutex_unlock(&lock);
    return all;
}

void sim_report_count(enum sim_finding_kind kind) {
    pthread_mutex_lock(&lock);
    if (!total)
        first_kind = kind;
    total++;
    pthread_mutex_unlock(&lock);
}

int sim_report_first(void) {
    pthread_mutex_lock(&lock);
    int kind = total ? (int)first_kind : -1;
    pthread_mutex_unlock(&lock);
    return kind;
}
