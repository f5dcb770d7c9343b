// Messages between devices for a stand-in of a communication library: see simulator.h.
#include "copy.h"
#include "device.h"
#include "device_memory.h"
#include "stream.h"

#include "../analyses/race_streams.h"
#include "../machine/report.h"
#include "../simulator.h"

#include <stdio.h>
#include <stdlib.h>

// One side of a message.
struct end {
    const char *name;
    const void *memory;
    size_t bytes;
    cudaStream_t stream;
    int device;
};

static struct end sender(const struct simulator_message *m) {
    return (struct end){m->sent, m->from, m->bytes, m->sender, m->from_device};
}

static struct end receiver(const struct simulator_message *m) {
    return (struct end){m->received, m->to, m->bytes, m->receiver, m->to_device};
}

static bool report(const char *line) {
    sim_report_call(SIM_FINDING_COMMUNICATION, "%s", line);
    sim_report_flush();
    return false;
}

static bool check_end(const struct end *end) {
    char line[320];
    const struct sim_allocation *allocation = sim_memory_find((uint64_t)(uintptr_t)end->memory, end->bytes);
    if (stream_check(end->stream) != cudaSuccess) // which has printed why
        return false;
    if (stream_device(end->stream) != end->device) {
        snprintf(line, sizeof line,
                 "%s is in a stream of device %d; its communicator belongs to device %d [wrong-device]", end->name,
                 stream_device(end->stream), end->device);
        return report(line);
    }
    if (!allocation)
        return device_memory_report_invalid(end->name, end->memory, end->bytes) == cudaSuccess;
    if (allocation->device == end->device || allocation->device == SIM_NO_DEVICE)
        return true;
    snprintf(line, sizeof line,
             "%s has a buffer in the memory of device %d; its communicator belongs to device %d "
             "[wrong-device]",
             end->name, allocation->device, end->device);
    return report(line);
}

// Adds one side to its stream's work.
static void order(const struct end *end, bool written) {
    struct work_rows rows = {(uint64_t)(uintptr_t)end->memory, end->bytes, end->bytes, 1, written};
    race_streams_copy(stream_timeline(end->stream), end->name, end->name, (struct work_rows[2]){rows, {0}});
}

static cudaError_t exchange(const struct simulator_message *message, size_t count) {
    int device = device_ordinal();
    struct timeline_clock *sent = calloc(count, sizeof *sent);
    cudaError_t error = sent ? cudaSuccess : api_error(cudaErrorMemoryAllocation, "out of host memory");
    // A default stream is one of the device of its side.
    for (size_t i = 0; i < count && error == cudaSuccess; i++) {
        struct end from = sender(&message[i]), to = receiver(&message[i]);
        sim_memory_set_device(from.device);
        bool good = check_end(&from);
        sim_memory_set_device(to.device);
        error = good && check_end(&to) ? cudaSuccess : cudaErrorInvalidValue;
    }
    for (size_t i = 0; i < count && error == cudaSuccess; i++) {
        struct end from = sender(&message[i]);
        sim_memory_set_device(from.device);
        order(&from, false);
        timeline_record(stream_timeline(from.stream), &sent[i]);
    }
    for (size_t i = 0; i < count && error == cudaSuccess; i++) {
        struct end to = receiver(&message[i]);
        sim_memory_set_device(to.device);
        timeline_wait(stream_timeline(to.stream), &sent[i]);
        order(&to, true);
        error = copy_bytes_unordered(message[i].to, message[i].from, message[i].bytes);
    }
    sim_memory_set_device(device);
    free(sent);
    return error;
}

bool simulator_exchange(const struct simulator_message *message, size_t count) {
    return DEVICE_CALL(exchange(message, count)) == cudaSuccess;
}

void simulator_report_communication(const char *line) {
    api_lock();
    report(line);
    api_unlock();
}
