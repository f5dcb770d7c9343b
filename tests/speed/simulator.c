// The simulator's speed, compared with the required one: at N=1024, head_dim 64, 1.5 G lane instructions per second
// without analyses and 0.8 G with all of them, on two cores, for naive and for tiled attention; time proportional to
// the work from N=256 to N=2048; memory under 1 GiB.
//
//   build/tests/speed/simulator [PTX]     exit status 1 if a requirement is not met
//
// Times are processor times, so that other programs on the machine do not count; the speed of two cores is computed as
// twice the speed of one.
#include "../simulator/exec_driver.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define HEAD_DIM 64
#define THREADS 128
#define CORES 2

static double processor_seconds(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static uint64_t random_rows(int n) {
    size_t bytes = (size_t)n * HEAD_DIM * sizeof(float);
    float *rows = malloc(bytes);
    if (!rows) {
        perror("malloc");
        exit(2);
    }
    for (int i = 0; i < n * HEAD_DIM; i++)
        rows[i] = (float)rand() / (float)RAND_MAX * 2 - 1;
    uint64_t address = driver_upload(rows, bytes);
    free(rows);
    return address;
}

// Lane-instructions a second of one core; *nanoseconds: of one core, per pair of query and key.
static double measure(struct driver *driver, bool tiled, int n, bool analyses, double *nanoseconds) {
    sim_options()->races = sim_options()->uninitialized = analyses;
    float scale = 0.125f;
    uint32_t scale_bits;
    memcpy(&scale_bits, &scale, sizeof scale_bits);
    uint64_t out = driver_alloc((size_t)n * HEAD_DIM * sizeof(float));
    uint64_t parameter[6] = {random_rows(n), random_rows(n), random_rows(n), out, (uint64_t)n, scale_bits};
    unsigned grid = tiled ? (unsigned)(n + THREADS - 1) / THREADS : (unsigned)n;
    struct sim_counts counts = {0};
    double before = processor_seconds();
    enum sim_status status = driver_run(driver, tiled ? "tiled" : "naive", grid, THREADS,
                                        tiled ? 0 : (size_t)n * sizeof(float), 6, parameter, &counts);
    double seconds = processor_seconds() - before;
    if (status != SIM_OK) {
        fprintf(stderr, "status %d: %s", status, driver_findings());
        exit(1);
    }
    for (int i = 0; i < 4; i++)
        driver_free(parameter[i]);
    *nanoseconds = 1e9 * seconds / n / n;
    return (double)counts.lane_instructions / seconds;
}

int main(int argc, char **argv) {
    struct driver *driver = driver_load(argc > 1 ? argv[1] : "build/tests/speed/attention.ptx");
    bool missed = false;
    printf("%-6s %5s %9s %22s %24s\n", "kernel", "N", "analyses", "G lane-instr/s/2 cores", "ns a core a query x key");
    for (int tiled = 0; tiled < 2; tiled++) {
        for (int analyses = 0; analyses < 2; analyses++) {
            double first = 0;
            for (int n = 256; n <= 2048; n *= 2) {
                double nanoseconds, rate = CORES * measure(driver, tiled, n, analyses, &nanoseconds);
                double needed = analyses ? 0.8e9 : 1.5e9;
                first = n == 256 ? nanoseconds : first;
                bool slow = n == 1024 && rate<needed, grows = nanoseconds> 1.3 * first;
                printf("%-6s %5d %9s %22.2f %24.1f%s%s\n", tiled ? "tiled" : "naive", n, analyses ? "on" : "off",
                       1e-9 * rate, nanoseconds, slow ? "  too slow" : "", grows ? "  more than its work" : "");
                missed |= slow || grows;
            }
        }
    }
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    bool large = usage.ru_maxrss > 1 << 20;
    printf("memory: %ld MiB%s\n", usage.ru_maxrss / 1024, large ? "  over 1 GiB" : "");
    return missed || large;
}
