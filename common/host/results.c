#include "host/results.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char attention_header[] =
    "run,lesson,device,sm_count,driver,cuda,dtype,B,H,Hkv,Nq,Nk,D,causal,median_us,min_us,p95_us,repeats,"
    "sm_clock_before_mhz,sm_clock_after_mhz,tflops,bytes,gb_per_s,rel_rms_error,peak_tflops,peak_gb_per_s,date,"
    "commit,cache,noise\n";
static const char softmax_header[] =
    "run,lesson,device,sm_count,driver,cuda,dtype,rows,columns,median_us,min_us,p95_us,repeats,"
    "sm_clock_before_mhz,sm_clock_after_mhz,gb_per_s,bytes,max_rel_error,copy_gb_per_s,date,commit,noise\n";

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
static const char *field(const char *text, char *copy, size_t size) {
    snprintf(copy, size, "%s", text);
    for (char *c = copy; *c; c++)
        if (*c == ',' || *c == '"' || iscntrl((unsigned char)*c))
            *c = '-';
    return copy;
}

// Compares what is at the start of the file with the header, and writes it where the file is empty.
static bool settle_header(int file, const char *path, const char *header, struct message *error) {
    char start[1024];
    size_t length = strlen(header);
    struct stat status;
    if (fstat(file, &status))
        return message_set(error, "%s cannot be read: %s", path, strerror(errno));
    if (status.st_size == 0) {
        if (write(file, header, length) != (ssize_t)length)
            return message_set(error, "%s cannot be written: %s", path, strerror(errno));
        return true;
    }
    if (length > sizeof start || pread(file, start, length, 0) != (ssize_t)length || memcmp(start, header, length))
        return message_set(error, "%s has other columns than this version writes: move it away first", path);
    return true;
}

// One write() under a lock, so that two runs at once cannot mix their rows or both write the header.
static bool append_row(const struct results_run *run, const char *name, const char *header, const char *row,
                       struct message *error) {
    char path[PATH_MAX], slug[128];
    results_slug(run->device, slug, sizeof slug);
    if (mkdir(run->folder, 0777) && errno != EEXIST)
        return message_set(error, "%s cannot be made: %s", run->folder, strerror(errno));
    snprintf(path, sizeof path, "%s/%s", run->folder, slug);
    if (mkdir(path, 0777) && errno != EEXIST)
        return message_set(error, "%s cannot be made: %s", path, strerror(errno));
    snprintf(path, sizeof path, "%s/%s/%s", run->folder, slug, name);
    int file = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file < 0)
        return message_set(error, "%s cannot be opened: %s", path, strerror(errno));
    bool good = flock(file, LOCK_EX) == 0 || message_set(error, "%s cannot be locked: %s", path, strerror(errno));
    good = good && settle_header(file, path, header, error);
    if (good && write(file, row, strlen(row)) != (ssize_t)strlen(row))
        good = message_set(error, "%s cannot be written: %s", path, strerror(errno));
    close(file);
    return good;
}

static const char *noise(const struct results_timing *timing) {
    return timing->noisy ? "noisy" : "steady";
}

bool results_add_attention(const struct results_run *run, const char *lesson, const struct attention_shape *shape,
                           const struct results_timing *timing, double relative_rms, double peak_tflops,
                           double peak_gb_per_s, struct message *error) {
    char row[1024], name[128], device[128];
    double seconds = timing->median_us * 1e-6, bytes = shape_bytes(shape);
    if (!run->folder)
        return true;
    snprintf(row, sizeof row,
             "%s,%s,%s,%d,%s,%s,fp32,%d,%d,%d,%d,%d,%d,%d,%.3f,%.3f,%.3f,%d,%u,%u,%.4f,%.0f,%.2f,%.3e,%.2f,%.1f,%s,%s,%"
             "s,%s\n",
             run->run, field(lesson, name, sizeof name), field(run->device, device, sizeof device), run->sm_count,
             run->driver, run->cuda, shape->batch, shape->heads, shape->kv_heads, shape->nq, shape->nk, shape->head_dim,
             shape->causal, timing->median_us, timing->min_us, timing->p95_us, timing->repeats,
             timing->sm_clock_before_mhz, timing->sm_clock_after_mhz, shape_flops(shape) / seconds * 1e-12, bytes,
             bytes / seconds * 1e-9, relative_rms, peak_tflops, peak_gb_per_s, run->date, run->commit,
             timing->warm ? "warm" : "cold", noise(timing));
    return append_row(run, "attention.csv", attention_header, row, error);
}

bool results_add_softmax(const struct results_run *run, const char *lesson, const struct softmax_shape *shape,
                         const struct results_timing *timing, double max_relative_error, double copy_gb_per_s,
                         struct message *error) {
    char row[1024], name[128], device[128];
    double seconds = timing->median_us * 1e-6, bytes = 8.0 * (double)shape->rows * shape->columns;
    if (!run->folder)
        return true;
    snprintf(row, sizeof row, "%s,%s,%s,%d,%s,%s,fp32,%lld,%d,%.3f,%.3f,%.3f,%d,%u,%u,%.2f,%.0f,%.3e,%.1f,%s,%s,%s\n",
             run->run, field(lesson, name, sizeof name), field(run->device, device, sizeof device), run->sm_count,
             run->driver, run->cuda, (long long)shape->rows, shape->columns, timing->median_us, timing->min_us,
             timing->p95_us, timing->repeats, timing->sm_clock_before_mhz, timing->sm_clock_after_mhz,
             bytes / seconds * 1e-9, bytes, max_relative_error, copy_gb_per_s, run->date, run->commit, noise(timing));
    return append_row(run, "softmax.csv", softmax_header, row, error);
}
