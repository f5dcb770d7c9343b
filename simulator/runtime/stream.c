// Streams: see stream.h.
#include "stream.h"
#include "device.h"
#include "graph.h"

#include "../analyses/from_host.h"
#include "../machine/control.h"
#include "../machine/timeline.h"
#include "../simulator.h"

#include <stdlib.h>

struct CUstream_st {
    unsigned flags;
    int priority, device;
    unsigned long long id;
    unsigned timeline;
    struct CUstream_st *next;
};

static struct CUstream_st *streams;

// The inputs of simulator_set_input_stream(), as the latest work of its timeline; serial 0: there are none.
static struct work inputs;

static bool is_default(cudaStream_t stream) {
    return !stream || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
}

static struct CUstream_st **find(cudaStream_t stream) {
    struct CUstream_st **link = &streams;
    while (*link && *link != stream)
        link = &(*link)->next;
    return link;
}

bool stream_is_blocking(cudaStream_t stream) {
    return stream != cudaStreamPerThread && !(stream->flags & cudaStreamNonBlocking);
}

cudaError_t stream_check(cudaStream_t stream) {
    if (!stream || stream == cudaStreamLegacy)
        return capture_reject_legacy();
    if (is_default(stream) || *find(stream))
        return cudaSuccess;
    return api_error(cudaErrorInvalidResourceHandle, "invalid stream handle: never created, or already destroyed");
}

unsigned stream_timeline(cudaStream_t stream) {
    unsigned defaults = (unsigned)device_ordinal() * TIMELINE_DEFAULTS;
    return stream == cudaStreamPerThread ? defaults + TIMELINE_PER_THREAD
           : is_default(stream)          ? defaults + TIMELINE_LEGACY
                                         : stream->timeline;
}

int stream_device(cudaStream_t stream) {
    return is_default(stream) ? device_ordinal() : stream->device;
}

cudaError_t stream_check_device(cudaStream_t stream) {
    if (stream_device(stream) == device_ordinal())
        return cudaSuccess;
    return api_error(cudaErrorInvalidResourceHandle,
                     "the stream belongs to device %d, and the calling thread's current device is %d: call "
                     "cudaSetDevice(%d) before the launch",
                     stream_device(stream), device_ordinal(), stream_device(stream));
}

bool stream_is_after_inputs(cudaStream_t stream) {
    struct timeline_clock now;
    timeline_latest(stream_timeline(stream), &now);
    return inputs.serial <= now.latest[inputs.timeline];
}

void simulator_set_input_stream(cudaStream_t stream) {
    if (!control_is_open())
        return;
    from_host_begin();
    api_lock();
    if (stream_check(stream) == cudaSuccess) {
        inputs = (struct work){.timeline = stream_timeline(stream)};
        timeline_add(&inputs, false);
    }
    api_unlock();
}

void stream_destroy_all(void) {
    while (streams) {
        struct CUstream_st *stream = streams;
        streams = stream->next;
        timeline_close(stream->timeline);
        free(stream);
    }
}

cudaStream_t stream_open_branch(void) {
    struct CUstream_st *created = calloc(1, sizeof *created);
    if (!created)
        return NULL;
    *created = (struct CUstream_st){.flags = cudaStreamNonBlocking,
                                    .device = device_ordinal(),
                                    .timeline = timeline_open_branch(device_ordinal()),
                                    .next = streams};
    return streams = created;
}

void stream_close_branch(cudaStream_t stream) {
    struct CUstream_st **link = find(stream);
    *link = stream->next;
    timeline_close(stream->timeline);
    free(stream);
}

static cudaError_t create(cudaStream_t *stream, unsigned flags, int priority) {
    static unsigned long long last_id = 2; // 1 and 2 are the IDs of the default streams
    if (!stream || (flags & ~(unsigned)cudaStreamNonBlocking) != 0)
        return api_error(cudaErrorInvalidValue, "the flags are unknown or the pointer to the result is NULL");
    struct CUstream_st *created = calloc(1, sizeof *created);
    if (!created)
        return api_error(cudaErrorMemoryAllocation, "out of host memory");
    created->flags = flags;
    created->priority = priority > 0 ? 0 : priority < -5 ? -5 : priority;
    created->id = ++last_id;
    created->device = device_ordinal();
    created->timeline = timeline_open(!(flags & cudaStreamNonBlocking), created->device);
    created->next = streams;
    streams = created;
    *stream = created;
    return cudaSuccess;
}

cudaError_t cudaStreamCreate(cudaStream_t *stream) {
    return DEVICE_CALL(create(stream, cudaStreamDefault, 0));
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags) {
    return DEVICE_CALL(create(stream, flags, 0));
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned int flags, int priority) {
    return DEVICE_CALL(create(stream, flags, priority));
}

static cudaError_t destroy(cudaStream_t stream) {
    cudaError_t error = is_default(stream)
                            ? api_error(cudaErrorInvalidResourceHandle, "a default stream cannot be destroyed")
                            : stream_check(stream);
    if (error == cudaSuccess) {
        struct CUstream_st **link = find(stream);
        capture_remove(stream);
        *link = stream->next;
        timeline_close(stream->timeline);
        free(stream);
    }
    return error;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    return DEVICE_CALL(destroy(stream));
}

static cudaError_t synchronize(cudaStream_t stream) {
    cudaError_t error = stream_check(stream);
    if (error == cudaSuccess)
        error = capture_reject(stream, "the call synchronizes with the stream");
    if (error == cudaSuccess)
        timeline_host_wait_for(stream_timeline(stream));
    return error;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    return SYNCHRONIZING_CALL(synchronize(stream));
}

static cudaError_t query(cudaStream_t stream) {
    cudaError_t error = stream_check(stream);
    if (error == cudaSuccess)
        error = capture_reject(stream, "the call queries the completion of the stream");
    if (error == cudaSuccess) // the answer is that all work is complete
        timeline_host_wait_for(stream_timeline(stream));
    return error;
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
    return SYNCHRONIZING_CALL(query(stream));
}

static cudaError_t get_flags(cudaStream_t stream, unsigned *flags) {
    cudaError_t error = stream_check(stream);
    if (error == cudaSuccess)
        *flags = is_default(stream) ? cudaStreamDefault : stream->flags;
    return error;
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int *flags) {
    return DEVICE_CALL(get_flags(stream, flags));
}

static cudaError_t get_priority(cudaStream_t stream, int *priority) {
    cudaError_t error = stream_check(stream);
    if (error == cudaSuccess)
        *priority = is_default(stream) ? 0 : stream->priority;
    return error;
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority) {
    return DEVICE_CALL(get_priority(stream, priority));
}

unsigned long long stream_id(cudaStream_t stream) {
    return stream == cudaStreamPerThread ? 2 : is_default(stream) ? 1 : stream->id;
}

static cudaError_t get_id(cudaStream_t stream, unsigned long long *id) {
    cudaError_t error = stream_check(stream);
    if (error == cudaSuccess)
        *id = stream_id(stream);
    return error;
}

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long *id) {
    return DEVICE_CALL(get_id(stream, id));
}

static cudaError_t host_function(cudaStream_t stream, cudaHostFn_t function, void *argument, bool *captured) {
    cudaError_t error = !function ? api_error(cudaErrorInvalidValue, "the function is NULL") : stream_check(stream);
    *captured = error == cudaSuccess && capture_is_active(stream);
    if (!*captured) {
        // The function runs behind the stream's work, and the host may learn from it that the work is complete.
        if (error == cudaSuccess)
            timeline_host_wait_for(stream_timeline(stream));
        return error;
    }
    struct operation *operation = operation_new(sizeof *operation, cudaGraphNodeTypeHost, NULL);
    if (operation) {
        operation->function = function;
        operation->argument = argument;
    }
    return capture_add(stream, operation);
}

// Calls the program's function without the lock, because the function may call the runtime.
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *argument) {
    bool captured = false;
    cudaError_t error = DEVICE_CALL(host_function(stream, function, argument, &captured));
    if (error == cudaSuccess && !captured)
        function(argument);
    return error;
}

static cudaError_t check_callback(cudaStream_t stream) {
    cudaError_t error = stream_check(stream);
    if (error == cudaSuccess)
        error = capture_reject(stream, "use cudaLaunchHostFunc instead");
    if (error == cudaSuccess)
        timeline_host_wait_for(stream_timeline(stream));
    return error;
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void *argument,
                                  unsigned int flags) {
    cudaError_t error =
        DEVICE_CALL(!callback || flags != 0 ? api_error(cudaErrorInvalidValue, "the callback is NULL or flags is not 0")
                                            : check_callback(stream));
    if (error == cudaSuccess)
        callback(stream, cudaSuccess, argument);
    return error;
}
