// Findings: see report.h.
#include "report.h"
#include "report_words.h"

#include "../simulator.h"
#include "control.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define MAX_FINDINGS 256 // remembered of one launch
#define MAX_PRINTED 10

struct finding {
    uint64_t lines; // a hash of what it is and the lines of the source, which kernels of one template share
    enum sim_finding_kind kind;
    int32_t instruction, other;
    _Atomic uint64_t count;
    char *text;
};

// A remark of which one is enough.
static bool is_said_once(enum sim_finding_kind kind) {
    return kind == SIM_FINDING_REMARK_FENCE || kind == SIM_FINDING_REMARK_SET_UP ||
           kind == SIM_FINDING_REMARK_REGISTERS || kind == SIM_FINDING_REMARK_STALE;
}

static bool is_uninitialised(enum sim_finding_kind kind) {
    return kind == SIM_FINDING_UNINITIALISED_SHARED || kind == SIM_FINDING_UNINITIALISED_GLOBAL;
}

// What fails nothing and is not counted.
static bool is_remark(enum sim_finding_kind kind) {
    return kind == SIM_FINDING_MIXED || is_said_once(kind);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct finding found[MAX_FINDINGS];
static unsigned unprinted, remarks, total; // remarks: of those unprinted
static enum sim_finding_kind first_kind;   // where total is not 0
static const struct sim_report_watcher *watcher;

// What was printed, where each finding is to be printed once.
#define MAX_TOLD 256
static bool once;
static unsigned told;
static bool said[SIM_FINDING_KINDS]; // once
static uint64_t already[MAX_TOLD];

const char *sim_report_kind(enum sim_finding_kind kind) {
    return report_kind_name[kind];
}

void sim_report_watch(const struct sim_report_watcher *new) {
    watcher = new;
}

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

// Code inlined from a header of CUDA's, such as __shfl_sync, is named by the line of the program that called it.
void sim_report_place(const struct ptx_kernel *kernel, int32_t instruction, char *text, size_t size) {
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

// {here} and {there} in a detail become the places of the two instructions.
static void insert_places(const char *detail, const char *here, const char *there, char *text, size_t size) {
    size_t length = 0;
    bool placed = strstr(detail, "{here}");
    if (!placed)
        length = (size_t)snprintf(text, size, "%s: ", here);
    while (*detail && length + 1 < size) {
        const char *place = strncmp(detail, "{here}", 6) == 0    ? here
                            : strncmp(detail, "{there}", 7) == 0 ? there
                                                                 : NULL;
        if (place) {
            length += (size_t)snprintf(text + length, size - length, "%s", place);
            length = length < size ? length : size - 1;
            detail += place == here ? 6 : 7;
        } else {
            text[length++] = *detail++;
        }
    }
    text[length < size ? length : size - 1] = 0;
}

static struct finding *find(enum sim_finding_kind kind, int32_t instruction, int32_t other) {
    for (unsigned i = 0; i < unprinted; i++)
        if (found[i].kind == kind && found[i].instruction == instruction && found[i].other == other)
            return &found[i];
    return NULL;
}

_Atomic uint64_t *sim_report_known(enum sim_finding_kind kind, int32_t instruction, int32_t other_instruction) {
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

// Two threads that write one element by one instruction have the same index.
static const char *cause_of(enum sim_finding_kind kind, bool same, const char *words) {
    bool races = kind == SIM_FINDING_RACE_SHARED || kind == SIM_FINDING_RACE_WARP;
    return races && same && strstr(words, " writes ") && strstr(words, " wrote ")
               ? "the index is the same for two threads: a barrier would not help."
               : report_usual_cause[kind];
}

void sim_report_cause(enum sim_finding_kind kind, int32_t instruction, const char *cause) {
    static const char before[] = "Usual cause: ";
    pthread_mutex_lock(&lock);
    struct finding *known = find(kind, instruction, -1);
    char *at = known && known->text ? strstr(known->text, before) : NULL, *text;
    if (at && asprintf(&text, "%.*s%s", (int)(at + strlen(before) - known->text), known->text, cause) >= 0) {
        free(known->text);
        known->text = text;
    }
    pthread_mutex_unlock(&lock);
}

void sim_report(enum sim_finding_kind kind, const struct ptx_kernel *kernel, int32_t instruction,
                int32_t other_instruction, struct sim_dim block, struct sim_dim thread, const char *detail, ...) {
    char here[256], there[256] = "", words[2560], placed[3072];
    pthread_mutex_lock(&lock);
    struct finding *known = find(kind, instruction, other_instruction);
    if (known) {
        known->count++;
    } else if (unprinted < MAX_FINDINGS) {
        va_list arguments;
        va_start(arguments, detail);
        vsnprintf(words, sizeof words, detail, arguments);
        va_end(arguments);
        sim_report_place(kernel, instruction, here, sizeof here);
        if (other_instruction >= 0)
            sim_report_place(kernel, other_instruction, there, sizeof there);
        insert_places(words, here, there, placed, sizeof placed);
        // A listing of several lines goes to the end.
        char *listing = strchr(placed, '\n');
        if (listing)
            *listing++ = 0;
        struct finding *new = &found[unprinted];
        new->lines = hash_of(report_kind_name[kind], hash_of(here, hash_of(there, 1)));
        new->kind = kind;
        new->instruction = instruction;
        new->other = other_instruction;
        new->count = 1;
        if (asprintf(&new->text, "%s: %s; block (%u,%u,%u), thread (%u,%u,%u). Usual cause: %s%s%s",
                     report_kind_name[kind], placed, block.x, block.y, block.z, thread.x, thread.y, thread.z,
                     cause_of(kind, instruction == other_instruction, placed), listing ? "\n" : "",
                     listing ? listing : "") < 0)
            new->text = NULL;
        unprinted++;
        remarks += is_remark(kind);
        if (watcher && !is_remark(kind))
            watcher->found(kind, kernel, instruction, other_instruction, block, thread);
    }
    pthread_mutex_unlock(&lock);
}

// What only follows from another finding is left out: the same two lines the other way round, threads of one warp that
// race where threads of different warps race, too, and a read that comes before the write which it races with.
static bool follows(const struct finding *one) {
    for (unsigned i = 0; i < unprinted; i++) {
        const struct finding *race = &found[i];
        bool same = one->instruction == race->instruction && one->other == race->other;
        bool swapped = one != race && one->instruction == race->other && one->other == race->instruction;
        bool reads = one->instruction == race->instruction || one->instruction == race->other;
        if (one->kind == race->kind && swapped && one->other >= 0 &&
            (one->count < race->count || (one->count == race->count && one > race)))
            return true;
        bool races = race->kind == SIM_FINDING_RACE_SHARED || race->kind == SIM_FINDING_RACE_ASYNC;
        if (races && one->kind == SIM_FINDING_PROXY_FENCE && same)
            return true;
        if (race->kind == SIM_FINDING_RACE_SHARED &&
            ((one->kind == SIM_FINDING_RACE_WARP && (same || swapped)) || (is_uninitialised(one->kind) && reads)))
            return true;
    }
    return false;
}

void simulator_print_once(void) {
    once |= control_is_open();
}

// Whether it was printed before; from now on it was.
static bool was_told(const struct finding *one) {
    for (unsigned i = 0; (once || is_remark(one->kind)) && i < told; i++)
        if (already[i] == one->lines)
            return true;
    if (told < MAX_TOLD)
        already[told++] = one->lines;
    return false;
}

// An index past an array's end may be why threads meet there, and a race, or a barrier that not all reach, why the rest
// was found.
static int rank(const struct finding *one) {
    switch (one->kind) {
    case SIM_FINDING_OUT_OF_BOUNDS:
    case SIM_FINDING_SHARED_OUT_OF_BOUNDS:
    case SIM_FINDING_LOCAL_OUT_OF_BOUNDS:
        return 0;
    case SIM_FINDING_RACE_SHARED:
    case SIM_FINDING_RACE_WARP:
    case SIM_FINDING_DIVERGENT_BARRIER:
        return 1;
    default:
        return is_remark(one->kind) ? 3 : 2;
    }
}

static int by_rank(const void *a, const void *b) {
    const struct finding *x = *(const struct finding *const *)a, *y = *(const struct finding *const *)b;
    return rank(x) != rank(y) ? rank(x) - rank(y) : (x > y) - (x < y);
}

// As wide as the terminal, where it is one.
static void print_words(const char *text) {
    struct winsize size = {.ws_col = 0};
    int width = isatty(STDERR_FILENO) && ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
    int column = (int)strlen("simulator:");
    fputs("simulator:", stderr);
    while (*text) {
        int length = (int)strcspn(text, " \n");
        if (width > 40 && column + 1 + length > width) {
            fputs("\n ", stderr);
            column = 1;
        }
        fprintf(stderr, " %.*s", length, text);
        column += 1 + length;
        text += length;
        if (*text == '\n') { // a listing, in lines of its own
            fputs(text, stderr);
            break;
        }
        text += *text == ' ';
    }
}

unsigned sim_report_flush(void) {
    unsigned distinct = 0;
    pthread_mutex_lock(&lock);
    fflush(stdout);
    const struct finding *sorted[MAX_FINDINGS];
    for (unsigned i = 0; i < unprinted; i++)
        sorted[i] = &found[i];
    qsort(sorted, unprinted, sizeof *sorted, by_rank);
    unsigned printed = 0, left = 0;
    for (unsigned i = 0; i < unprinted; i++) {
        const struct finding *one = sorted[i];
        if (follows(one))
            continue;
        if (is_said_once(one->kind) && said[one->kind])
            continue;
        said[one->kind] = true;
        if (watcher && !is_remark(one->kind))
            watcher->told(one->kind, one->instruction, one->other, one->text, one->count);
        if (!is_remark(one->kind) && !total && !distinct)
            first_kind = one->kind;
        distinct += !is_remark(one->kind);
        if (was_told(one))
            continue;
        if (++printed > MAX_PRINTED) {
            left++;
            continue;
        }
        print_words(one->text ? one->text : report_kind_name[one->kind]);
        if (one->count > 1)
            fprintf(stderr, " (%llu times)", (unsigned long long)one->count);
        fputc('\n', stderr);
    }
    if (left)
        fprintf(stderr, "simulator: and %u more findings of this launch\n", left);
    for (unsigned i = 0; i < unprinted; i++)
        free(found[i].text);
    total += distinct;
    for (int kind = 0; !once && kind < SIM_FINDING_KINDS; kind++)
        said[kind] = false;
    unprinted = remarks = 0;
    pthread_mutex_unlock(&lock);
    return distinct;
}

unsigned sim_report_total(void) {
    pthread_mutex_lock(&lock);
    unsigned all = total + unprinted - remarks;
    pthread_mutex_unlock(&lock);
    return all;
}

int sim_report_first(void) {
    pthread_mutex_lock(&lock);
    int kind = total ? (int)first_kind : -1;
    pthread_mutex_unlock(&lock);
    return kind;
}
