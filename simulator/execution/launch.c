// A launch: distributes the blocks to the host's threads; resident.c runs them.
#include "launch.h"

#include "order.h"
#include "other_orders.h"
#include "resident.h"

#include "../analyses/partial.h"
#include "../analyses/race_global.h"
#include "../machine/cluster.h"
#include "../machine/control.h"
#include "../memory/tensor_map.h"
#include "../simulator.h"

#include "../recording/recording.h"
#include "../traffic/traffic.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// 2 to 15 seconds of one host thread, and hundreds of times the instructions of a block in any lesson. Warp
// instructions are counted, because a loop that one lane executes takes as long as one that all 32 execute, and per
// block, so that a launch with more blocks does not reach the limit earlier.
#define DEFAULT_INSTRUCTION_LIMIT 200000000ull

static struct sim_options options;

static void read_environment(void) {
    const char *analyses = getenv("SIMULATOR_ANALYSES"), *limit = getenv("SIMULATOR_INSTRUCTION_LIMIT"),
               *sample = getenv("SIMULATOR_SAMPLE");
    const char *order = getenv("SIMULATOR_ORDER");
    bool on = !analyses || strcmp(analyses, "off") != 0;
    options.races = options.uninitialized = on;
    options.traffic = traffic_enabled();
    options.order = order ? strtoull(order, NULL, 10) : 0;
    if (options.order)
        options.host_threads = 1; // so that a run repeats itself exactly
    options.sample = sample ? strtoull(sample, NULL, 10) : 0;
    options.instruction_limit = limit ? strtoull(limit, NULL, 10) : DEFAULT_INSTRUCTION_LIMIT;
}

struct sim_options *sim_options(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_environment);
    return &options;
}

void simulator_set_budget(uint64_t warp_instructions) {
    if (!control_is_open())
        return;
    partial_begin_call(warp_instructions);
    sim_options()->budget = warp_instructions;
}

struct host_thread {
    pthread_t thread;
    struct run *run;
    unsigned number;
};

static void *run_blocks(void *argument) {
    const struct host_thread *host = argument;
    sim_memory_set_device(host->run->launch->ordinal); // memory that a kernel allocates is its device's
    resident_run(host->run, host->number);
    return NULL;
}

static unsigned host_threads(const struct run *run) {
    long wanted = run->options.host_threads > 0 ? run->options.host_threads : sysconf(_SC_NPROCESSORS_ONLN);
    wanted = wanted < 1 ? 1 : wanted > MAX_HOST_THREADS ? MAX_HOST_THREADS : wanted;
    uint64_t most = run->units_to_run, resident = run->launch->resident_blocks / sim_dim_size(run->launch->cluster);
    if (run->launch->resident_blocks && resident < most)
        most = resident ? resident : 1;
    return (uint64_t)wanted > most ? (unsigned)most : (unsigned)wanted;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static bool is_whole(struct sim_dim grid, struct sim_dim cluster) {
    return cluster.x && cluster.y && cluster.z && sim_dim_size(cluster) <= MAX_CLUSTER_BLOCKS &&
           grid.x % cluster.x == 0 && grid.y % cluster.y == 0 && grid.z % cluster.z == 0;
}

static enum sim_status run_launch_once(const struct sim_launch *requested, struct sim_counts *counts) {
    struct sim_launch adjusted = *requested;
    const struct sim_launch *launch = &adjusted;
    const struct ptx_kernel *ptx = launch->kernel->ptx;
    if (!is_whole(adjusted.grid, adjusted.cluster))
        adjusted.cluster = (struct sim_dim){1, 1, 1};
    struct run run = {
        .launch = launch,
        .kernel = launch->kernel,
        .lanes = launch->kernel->lanes,
        .options = *sim_options(),
        .blocks = sim_dim_size(launch->grid),
        .units = sim_dim_size(launch->grid) / sim_dim_size(launch->cluster),
        .own_shared = ptx->static_shared_bytes + launch->dynamic_shared_bytes,
    };
    struct host_thread host[MAX_HOST_THREADS];
    unsigned started = 1;
    run.shared_bytes = run.own_shared;
    if (launch->kernel->special[PTX_RESERVED_SMEM] >= 0)
        run.shared_bytes = run_reserved_shared(&run) + launch->device->reserved_shared;
    run.maps_before = tensor_map_last_change();
    order_begin(&run);
    if (!partial_begin_launch(&run))
        return SIM_OK;
    run.recording = recording_begin(&run);
    run.threads = run.recording ? 1 : host_threads(&run);
    double begin = now();
    sim_memory_note_written();
    if (!race_global_begin(&run)) {
        recording_end(run.recording, false);
        return SIM_OUT_OF_HOST_MEMORY;
    }
    run.traffic = run.options.traffic
                      ? traffic_launch_begin(ptx, launch->grid, launch->block, launch->dynamic_shared_bytes)
                      : NULL;
    traffic_launch_work(run.traffic, run.units_to_run * sim_dim_size(launch->cluster), launch->resident_blocks,
                        (unsigned)launch->device->sms);
    for (unsigned i = 0; i < run.threads; i++)
        host[i] = (struct host_thread){.run = &run, .number = i};
    while (started < run.threads && pthread_create(&host[started].thread, NULL, run_blocks, &host[started]) == 0)
        started++;
    for (unsigned i = started; i < run.threads; i++)
        resident_finish_thread(&run, i);
    run_blocks(&host[0]);
    for (unsigned i = 1; i < started; i++)
        pthread_join(host[i].thread, NULL);
    traffic_launch_end(run.traffic);
    race_global_end(&run);
    partial_end_launch(&run);
    sim_memory_collect();
    if (counts) {
        counts->lane_instructions += atomic_load(&run.lane_instructions);
        counts->warp_instructions += atomic_load(&run.warp_instructions);
        counts->seconds += now() - begin;
    }
    unsigned findings = sim_report_flush();
    recording_end(run.recording, atomic_load(&run.status) == SIM_OK);
    enum sim_status status = (enum sim_status)atomic_load(&run.status);
    return status == SIM_OK && findings ? SIM_LAUNCH_FAILURE : status;
}

enum sim_status sim_launch_run(const struct sim_launch *launch, struct sim_counts *counts) {
    struct other_orders others = other_orders_begin(launch, run_launch_once);
    enum sim_status status = run_launch_once(launch, counts), other = other_orders_end(&others, status);
    return status == SIM_OK ? other : status;
}
