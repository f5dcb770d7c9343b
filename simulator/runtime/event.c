// Events. Recording an event stores the host's time: all earlier work is complete by then, and no later work has
// started. So the elapsed time between two events is the simulation's time on this host, and says nothing about a GPU.
#include "device.h"
#include "graph.h"
#include "stream.h"

#include "../machine/timeline.h"

#include <stdlib.h>
#include <time.h>

struct CUevent_st {
    unsigned flags;
    int device;
    bool recorded;
    struct timeline_clock point; // at which it was recorded
    struct timespec time;
    struct CUevent_st *next;
};

static struct CUevent_st *events;

static struct CUevent_st **find(cudaEvent_t event) {
    struct CUevent_st **link = &events;
    while (*link && *link != event)
        link = &(*link)->next;
    return link;
}

cudaError_t event_check(cudaEvent_t event) {
    if (event && *find(event))
        return cudaSuccess;
    return api_error(cudaErrorInvalidResourceHandle, "invalid event handle: never created, or already destroyed");
}

void event_destroy_all(void) {
    while (events) {
        struct CUevent_st *event = events;
        events = event->next;
        free(event);
    }
}

static cudaError_t create(cudaEvent_t *event, unsigned flags) {
    unsigned known = cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
    if (!event || (flags & ~known) != 0)
        return api_error(cudaErrorInvalidValue, "the flags are unknown or the pointer to the result is NULL");
    if ((flags & cudaEventInterprocess) != 0)
        return api_error(cudaErrorNotSupported, "interprocess events are not supported");
    struct CUevent_st *created = calloc(1, sizeof *created);
    if (!created)
        return api_error(cudaErrorMemoryAllocation, "out of host memory");
    created->flags = flags;
    created->device = device_ordinal();
    created->next = events;
    events = created;
    *event = created;
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event) {
    return DEVICE_CALL(create(event, cudaEventDefault));
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags) {
    return DEVICE_CALL(create(event, flags));
}

static cudaError_t destroy(cudaEvent_t event) {
    cudaError_t error = event_check(event);
    if (error == cudaSuccess) {
        struct CUevent_st **link = find(event);
        capture_remove(event);
        *link = event->next;
        free(event);
    }
    return error;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
    return DEVICE_CALL(destroy(event));
}

cudaError_t event_record(cudaEvent_t event, cudaStream_t stream) {
    cudaError_t error = event_check(event);
    if (error == cudaSuccess)
        error = stream_check(stream);
    if (error == cudaSuccess && event->device != stream_device(stream))
        error = api_error(cudaErrorInvalidResourceHandle, "the event belongs to device %d, and the stream to device %d",
                          event->device, stream_device(stream));
    if (error == cudaSuccess && !capture_record_event(event, stream)) {
        event->recorded = true;
        timeline_record(stream_timeline(stream), &event->point);
        clock_gettime(CLOCK_MONOTONIC, &event->time);
    }
    return error;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    return DEVICE_CALL(event_record(event, stream));
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags) {
    return DEVICE_CALL(flags & cudaEventRecordExternal && capture_is_active(stream)
                           ? capture_event_node(stream, event, cudaGraphNodeTypeEventRecord)
                           : event_record(event, stream));
}

static cudaError_t check_done(cudaEvent_t event) {
    cudaError_t error = event_check(event);
    if (error == cudaSuccess && capture_has_event(event))
        error = api_error(cudaErrorCapturedEvent, "the event was recorded in a stream that is being captured");
    return error;
}

static cudaError_t synchronize(cudaEvent_t event) {
    cudaError_t error = check_done(event);
    if (error == cudaSuccess)
        timeline_host_wait(&event->point);
    return error;
}

// As in CUDA, an event that was never recorded counts as complete.
cudaError_t cudaEventQuery(cudaEvent_t event) {
    return SYNCHRONIZING_CALL(synchronize(event));
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    return SYNCHRONIZING_CALL(synchronize(event));
}

cudaError_t event_wait(cudaStream_t stream, cudaEvent_t event) {
    cudaError_t error = event_check(event);
    if (error == cudaSuccess)
        error = stream_check(stream);
    if (error != cudaSuccess || capture_wait_event(stream, event))
        return error;
    if (event->recorded && capture_is_active(stream))
        return api_error(cudaErrorStreamCaptureIsolation,
                         "the event was recorded outside the capture; record it in a captured stream");
    timeline_wait(stream_timeline(stream), &event->point);
    return error;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
    return DEVICE_CALL(flags & cudaEventWaitExternal && capture_is_active(stream)
                           ? capture_event_node(stream, event, cudaGraphNodeTypeWaitEvent)
                           : event_wait(stream, event));
}

static cudaError_t elapsed(float *milliseconds, cudaEvent_t start, cudaEvent_t end) {
    if (!milliseconds)
        return api_error(cudaErrorInvalidValue, "the pointer to the result is NULL");
    cudaError_t error = event_check(start);
    if (error == cudaSuccess)
        error = event_check(end);
    if (error != cudaSuccess)
        return error;
    if (!start->recorded || !end->recorded)
        return api_error(cudaErrorInvalidResourceHandle, "an event was never recorded");
    if (start->device != end->device)
        return api_error(cudaErrorInvalidResourceHandle, "the events belong to devices %d and %d", start->device,
                         end->device);
    if (((start->flags | end->flags) & cudaEventDisableTiming) != 0)
        return api_error(cudaErrorInvalidResourceHandle, "an event was created with cudaEventDisableTiming");
    timeline_host_wait(&end->point);
    *milliseconds = (float)((double)(end->time.tv_sec - start->time.tv_sec) * 1e3 +
                            (double)(end->time.tv_nsec - start->time.tv_nsec) * 1e-6);
    return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end) {
    return SYNCHRONIZING_CALL(elapsed(milliseconds, start, end));
}
