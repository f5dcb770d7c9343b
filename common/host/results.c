#include "host/results.h"

#include "host/results_csv.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char *const file_name[] = {"attention.csv", "softmax.csv", "ceilings.csv"};
static const char *const header[] = {
    "run,lesson,device,sm_count,driver,cuda,dtype,B,H,Hkv,Nq,Nk,D,causal,median_us,min_us,p95_us,repeats,"
    "sm_clock_before_mhz,sm_clock_after_mhz,tflops,bytes,gb_per_s,rel_rms_error,peak_tflops,peak_gb_per_s,date,"
    "commit,cache,noise\n",
    "run,lesson,device,sm_count,driver,cuda,dtype,rows,columns,median_us,min_us,p95_us,repeats,"
    "sm_clock_before_mhz,sm_clock_after_mhz,gb_per_s,bytes,max_rel_error,copy_gb_per_s,date,commit,noise\n",
    "run,device,sm_count,driver,cuda,what,unit,median,min,max,repeats,sm_clock_before_mhz,sm_clock_after_mhz,date,"
    "commit\n"};

void results_start(struct results_run *run) {
    struct timespec now;
    struct tm utc;
    char stamp[20];
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    strftime(run->date, sizeof run->date, "%Y-%m-%dT%H:%M:%SZ", &utc);
    strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%S", &utc);
    snprintf(run->run, sizeof run->run, "%s-%ld-%d", stamp, now.tv_nsec / 1000, (int)getpid());
}

void results_slug(const char *device, char *slug, size_t size) {
    size_t i = 0;
    for (; device[i] && i + 1 < size; i++)
        slug[i] = (char)(isalnum((unsigned char)device[i]) ? tolower((unsigned char)device[i]) : '-');
    slug[i] = 0;
}

// A name with the characters that CSV gives a meaning replaced.
static const char *field(const char *text, char copy[128]) {
    snprintf(copy, 128, "%s", text);
    for (char *c = copy; *c; c++)
        if (*c == ',' || *c == '"' || iscntrl((unsigned char)*c))
            *c = '-';
    return copy;
}

__attribute__((format(printf, 2, 3))) static void add(struct results_rows *rows, const char *format, ...) {
    enum { LONGEST_ROW = 1024 };
    va_list arguments;
    if (rows->room < rows->length + LONGEST_ROW) {
        rows->room = 2 * rows->room + LONGEST_ROW;
        rows->text = realloc(rows->text, rows->room);
        if (!rows->text)
            message_exit(EXIT_CHECK_FAILED, "out of memory");
    }
    va_start(arguments, format);
    rows->length += (size_t)vsnprintf(rows->text + rows->length, LONGEST_ROW, format, arguments);
    va_end(arguments);
}

static const char *noise(const struct results_timing *timing) {
    return timing->noisy ? "noisy" : "steady";
}

void results_add_attention(struct results_rows *rows, const struct results_run *run, const char *lesson,
                           const struct attention_shape *shape, const struct results_timing *timing,
                           double relative_rms, double peak_tflops, double peak_gb_per_s) {
    char name[128], device[128];
    double seconds = timing->median_us * 1e-6, bytes = shape_bytes(shape);
    add(rows,
        "%s,%s,%s,%d,%s,%s,fp32,%d,%d,%d,%d,%d,%d,%d,%.3f,%.3f,%.3f,%d,%u,%u,%.4f,%.0f,%.2f,%.3e,%.2f,%.1f,%s,%s,"
        "%s,%s\n",
        run->run, field(lesson, name), field(run->device, device), run->sm_count, run->driver, run->cuda, shape->batch,
        shape->heads, shape->kv_heads, shape->nq, shape->nk, shape->head_dim, shape->causal, timing->median_us,
        timing->min_us, timing->p95_us, timing->repeats, timing->sm_clock_before_mhz, timing->sm_clock_after_mhz,
        shape_flops(shape) / seconds * 1e-12, bytes, bytes / seconds * 1e-9, relative_rms, peak_tflops, peak_gb_per_s,
        run->date, run->commit, timing->warm ? "warm" : "cold", noise(timing));
}

void results_add_softmax(struct results_rows *rows, const struct results_run *run, const char *lesson,
                         const struct softmax_shape *shape, const struct results_timing *timing,
                         double max_relative_error, double copy_gb_per_s) {
    char name[128], device[128];
    double seconds = timing->median_us * 1e-6, bytes = 8.0 * (double)shape->rows * shape->columns;
    add(rows, "%s,%s,%s,%d,%s,%s,fp32,%lld,%d,%.3f,%.3f,%.3f,%d,%u,%u,%.2f,%.0f,%.3e,%.1f,%s,%s,%s\n", run->run,
        field(lesson, name), field(run->device, device), run->sm_count, run->driver, run->cuda, (long long)shape->rows,
        shape->columns, timing->median_us, timing->min_us, timing->p95_us, timing->repeats, timing->sm_clock_before_mhz,
        timing->sm_clock_after_mhz, bytes / seconds * 1e-9, bytes, max_relative_error, copy_gb_per_s, run->date,
        run->commit, noise(timing));
}

void results_add_ceiling(struct results_rows *rows, const struct results_run *run, const char *what, const char *unit,
                         double amount, const struct results_timing *timing) {
    char device[128];
    add(rows, "%s,%s,%d,%s,%s,%s,%s,%.3f,%.3f,%.3f,%d,%u,%u,%s,%s\n", run->run, field(run->device, device),
        run->sm_count, run->driver, run->cuda, what, unit, amount / timing->median_us, amount / timing->max_us,
        amount / timing->min_us, timing->repeats, timing->sm_clock_before_mhz, timing->sm_clock_after_mhz, run->date,
        run->commit);
}

void results_path(const struct results_run *run, enum results_file file, char *path, size_t size) {
    char slug[128];
    results_slug(run->device, slug, sizeof slug);
    snprintf(path, size, "%s/%s/%s", run->folder, slug, file_name[file]);
}

// Whether a file can be written, or made in the folder nearest to it that is there.
static bool writable(const char *path, struct message *error) {
    char folder[PATH_MAX];
    char *slash = folder + snprintf(folder, sizeof folder, "%s", path);
    while (access(*folder ? folder : "/", F_OK) && (slash = strrchr(folder, '/')))
        *slash = 0;
    const char *found = slash ? *folder ? folder : "/" : ".";
    return !access(found, W_OK) ||
           message_set(error, "%s cannot be written, as %s: %s; RESULTS=folder names another place", path, found,
                       strerror(errno));
}

bool results_ready(const struct results_run *run, enum results_file file, struct message *error) {
    char path[PATH_MAX], device[128], sm_count[16];
    if (!run->folder)
        return true;
    results_path(run, file, path, sizeof path);
    snprintf(sm_count, sizeof sm_count, "%d", run->sm_count);
    return results_csv_check(path, header[file], field(run->device, device), sm_count, error) && writable(path, error);
}

bool results_write(const struct results_run *run, enum results_file file, struct results_rows *rows,
                   struct message *error) {
    char path[PATH_MAX], device[128], sm_count[16];
    bool good = true;
    if (run->folder && rows->length) {
        results_path(run, file, path, sizeof path);
        snprintf(sm_count, sizeof sm_count, "%d", run->sm_count);
        char *slash = strrchr(path, '/');
        *slash = 0;
        if ((mkdir(run->folder, 0777) && errno != EEXIST) || (mkdir(path, 0777) && errno != EEXIST))
            good = message_set(error, "%s cannot be made: %s", path, strerror(errno));
        *slash = '/';
        good = good && results_csv_append(path, header[file], field(run->device, device), sm_count, rows->text, error);
    }
    free(rows->text);
    *rows = (struct results_rows){0};
    return good;
}

static int count(const struct results_run *run, enum results_file file, const char *part) {
    char path[PATH_MAX], start[sizeof run->run + 1];
    if (!run->folder)
        return 0;
    results_path(run, file, path, sizeof path);
    snprintf(start, sizeof start, "%s,", run->run);
    return results_csv_count(path, start, part);
}

int results_count_attention(const struct results_run *run, const struct attention_shape *s) {
    char part[128];
    snprintf(part, sizeof part, ",fp32,%d,%d,%d,%d,%d,%d,%d,", s->batch, s->heads, s->kv_heads, s->nq, s->nk,
             s->head_dim, s->causal);
    return count(run, RESULTS_ATTENTION, part);
}

int results_count_softmax(const struct results_run *run, const struct softmax_shape *shape) {
    char part[64];
    snprintf(part, sizeof part, ",fp32,%lld,%d,", (long long)shape->rows, shape->columns);
    return count(run, RESULTS_SOFTMAX, part);
}

int results_count_ceilings(const struct results_run *run, const char *what) {
    char part[64];
    snprintf(part, sizeof part, ",%s,", what);
    return count(run, RESULTS_CEILINGS, part);
}
