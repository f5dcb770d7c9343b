// The counts as CSV and JSON.
#include "trace.h"
#include "../machine/kernel_name.h"
#include "../simulator.h"
#include "counts.h"
#include "overlap.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum trace_mode mode;

static bool write_work_file(void);

static void write_at_exit(void) {
    const char *csv = getenv("SIMULATOR_TRACE_CSV"), *json = getenv("SIMULATOR_TRACE_JSON");
    if (((csv || json) && simulator_write_trace(csv, json) != 0) || !write_work_file() || !overlap_write()) {
        fprintf(stderr, "simulator: the trace could not be written: %s: check SIMULATOR_TRACE_CSV and _JSON\n",
                strerror(errno));
    }
}

bool trace_counts_work(void) {
    return getenv("SIMULATOR_WORK_CSV");
}

static void read_environment(void) {
    const char *trace = getenv("SIMULATOR_TRACE");
    if (trace && *trace != '\0' && strcmp(trace, "0") != 0) {
        mode = strcmp(trace, "launches") == 0 ? TRACE_LAUNCHES : TRACE_KERNELS;
        atexit(write_at_exit);
    }
}

enum trace_mode trace_mode(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_environment);
    return mode;
}

static const char *space_name(enum ptx_space space) {
    return space == PTX_GLOBAL ? "global" : space == PTX_SHARED ? "shared" : "local";
}

// Explains a difference between the machine code and this PTX instruction.
static const char *note(const struct traffic_access_total *access) {
    if (access->merged_leader)
        return "neighbours merged into one access by ptxas";
    if (access->is_loop)
        return "a loop in machine code, which takes more wavefronts than are counted here";
    if (access->space == PTX_LOCAL)
        return "ptxas decides anew what lives in local memory";
    return "";
}

static void write_plain_name(FILE *file, const char *mangled) {
    size_t length;
    const char *name = kernel_plain_name(mangled, &length);
    fprintf(file, "%.*s", (int)length, name);
}

// A CSV field in quotes; a JSON string if json is set. PTX text and paths contain no control characters except tabs.
static void write_string(FILE *file, const char *text, bool json) {
    fputc('"', file);
    for (; *text != '\0'; text++) {
        if (*text == '"' || (json && *text == '\\'))
            fputc(json ? '\\' : '"', file);
        fputc((unsigned char)*text < ' ' ? ' ' : *text, file);
    }
    fputc('"', file);
}

static void write_csv(FILE *file) {
    fprintf(
        file,
        "group,kernel,mangled,launches,grid,block,shared_bytes,file,line,outer_file,outer_line,own_line,instruction,"
        "space,access,"
        "bytes_a_lane,requests,lanes,bytes,sectors,ideal_sectors,wavefronts,ideal_wavefronts,ptx,note\n");
    int group = 0;
    for (const struct traffic_kernel_total *k = traffic_totals(); k; k = k->next, group++) {
        for (int i = 0; i < k->accesses; i++) {
            const struct traffic_access_total *a = &k->access[i];
            const struct traffic_counts *c = &a->counts;
            fprintf(file, "%d,", group);
            write_plain_name(file, k->name);
            fprintf(file, ",%s,%llu,%ux%ux%u,%ux%ux%u,%zu,", k->name, (unsigned long long)k->launches, k->grid.x,
                    k->grid.y, k->grid.z, k->block.x, k->block.y, k->block.z, k->shared_bytes);
            write_string(file, a->file, false);
            fprintf(file, ",%d,", a->line);
            write_string(file, a->outer_file, false);
            fprintf(file, ",%d,%d,%d,%s,%s,%u,%llu,%llu,%llu,%llu,%llu,%llu,%llu,", a->outer_line, a->own_line,
                    a->instruction, space_name(a->space), access_kind_name(a->kind), a->bytes,
                    (unsigned long long)c->requests, (unsigned long long)c->lanes, (unsigned long long)c->bytes,
                    (unsigned long long)c->sectors, (unsigned long long)c->ideal_sectors,
                    (unsigned long long)c->wavefronts, (unsigned long long)c->ideal_wavefronts);
            write_string(file, a->ptx, false);
            fputc(',', file);
            write_string(file, note(a), false);
            fputc('\n', file);
        }
    }
}

static void write_json_access(FILE *file, const struct traffic_access_total *a) {
    const struct traffic_counts *c = &a->counts;
    fprintf(file, "{\"file\": ");
    write_string(file, a->file, true);
    fprintf(file, ", \"line\": %d, \"outer_file\": ", a->line);
    write_string(file, a->outer_file, true);
    fprintf(file,
            ", \"outer_line\": %d, \"own_line\": %d, \"instruction\": %d, \"space\": \"%s\", \"access\": \"%s\", "
            "\"bytes_a_lane\": %u, "
            "\"requests\": %llu, \"lanes\": %llu, \"bytes\": %llu, \"sectors\": %llu, \"ideal_sectors\": %llu, "
            "\"wavefronts\": %llu, \"ideal_wavefronts\": %llu, \"ptx\": ",
            a->outer_line, a->own_line, a->instruction, space_name(a->space), access_kind_name(a->kind), a->bytes,
            (unsigned long long)c->requests, (unsigned long long)c->lanes, (unsigned long long)c->bytes,
            (unsigned long long)c->sectors, (unsigned long long)c->ideal_sectors, (unsigned long long)c->wavefronts,
            (unsigned long long)c->ideal_wavefronts);
    write_string(file, a->ptx, true);
    fprintf(file, ", \"note\": ");
    write_string(file, note(a), true);
    fputc('}', file);
}

static void write_json(FILE *file) {
    fprintf(file, "{\"kernels\": [");
    for (const struct traffic_kernel_total *k = traffic_totals(); k; k = k->next) {
        fprintf(file, "%s\n  {\"kernel\": \"", k == traffic_totals() ? "" : ",");
        write_plain_name(file, k->name);
        fprintf(file, "\", \"mangled\": ");
        write_string(file, k->name, true);
        fprintf(file,
                ", \"launches\": %llu, \"grid\": [%u, %u, %u], \"block\": [%u, %u, %u], \"shared_bytes\": %zu, "
                "\"accesses\": [",
                (unsigned long long)k->launches, k->grid.x, k->grid.y, k->grid.z, k->block.x, k->block.y, k->block.z,
                k->shared_bytes);
        for (int i = 0; i < k->accesses; i++) {
            fprintf(file, "%s\n    ", i == 0 ? "" : ",");
            write_json_access(file, &k->access[i]);
        }
        fprintf(file, "]}");
    }
    fprintf(file, "\n]}\n");
}

static void write_work(FILE *file) {
    fprintf(file, "kernel,mangled,launches,grid,block,shared_bytes,blocks,blocks_run,resident_blocks,issue,fma,alu,xu,"
                  "passes,mma,wgmma,wavefronts,sectors,missed_sectors,bytes,cycles,longest\n");
    for (const struct traffic_kernel_total *k = traffic_totals(); k; k = k->next) {
        uint64_t wavefronts = 0, sectors = 0, bytes = 0;
        for (int i = 0; i < k->accesses; i++) {
            wavefronts += k->access[i].counts.wavefronts;
            sectors += k->access[i].counts.sectors;
            bytes += k->access[i].space == PTX_SHARED ? 0 : k->access[i].counts.bytes;
        }
        write_plain_name(file, k->name);
        fprintf(file, ",%s,%" PRIu64 ",%ux%ux%u,%ux%ux%u,%zu,%" PRIu64 ",%" PRIu64 ",%" PRIu64, k->name, k->launches,
                k->grid.x, k->grid.y, k->grid.z, k->block.x, k->block.y, k->block.z, k->shared_bytes, k->blocks,
                k->blocks_run, k->resident_blocks);
        for (int w = 0; w < WORK_KINDS; w++)
            fprintf(file, ",%" PRIu64, k->work[w]);
        fprintf(file, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", wavefronts, sectors,
                k->missed_sectors, bytes, k->cycles, k->longest);
    }
}

static int write_file(const char *path, void (*write)(FILE *)) {
    FILE *file = fopen(path, "w");
    if (!file)
        return -1;
    write(file);
    const int failed = ferror(file);
    return fclose(file) != 0 || failed ? -1 : 0;
}

static bool write_work_file(void) {
    const char *path = getenv("SIMULATOR_WORK_CSV");
    return !path || write_file(path, write_work) == 0;
}

int simulator_write_trace(const char *csv_path, const char *json_path) {
    if (csv_path && write_file(csv_path, write_csv) != 0)
        return -1;
    return json_path ? write_file(json_path, write_json) : 0;
}
