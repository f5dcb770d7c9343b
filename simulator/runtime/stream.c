// Streams: see stream.h.
#include "stream.h"
#include "graph.h"

#include "../analyses/from_host.h"
#include "../machine/control.h"
#include "../simulator.h"

#include <stdlib.h>

struct CUstream_st {
    unsigned flags;
    int priority;
    unsigned long long id;
    unsigned after; // round, where its work comes after the inputs
    struct CUstream_st *next;
};

static struct CUstream_st *streams;

// Rounds are counted by simulator_inputs_on(); in round 0, or once the host has waited, all streams come after it.
static unsigned round_of_inputs, legacy_after;
static bool waited = true;

static bool is_default(cudaStream_t stream) {
    return !stream || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
}

static struct CUstream_st **find(cudaStream_t stream) {
    struct CUstream_st **link = &streams;
    while (*link && *link != stream)
        link = &(*link)->next;
    return link;
}

bool stream_blocks(cudaStream_t stream) {
    return stream != cudaStreamPerThread && !(stream->flags & cudaStreamNonBlocking);
}

cudaError_t stream_check(cudaStream_t stream) {
    if (!stream || stream == cudaStreamLegacy)
        return capture_forbids_legacy();
    if (is_default(stream) || *find(stream))
        return cudaSuccess;
    return api_error(cudaErrorInvalidResourceHandle, "the stream does not exist, or was destroyed");
}

// A default stream and those that block with it do not wait for a stream that was created not to.
bool stream_is_after(cudaStream_t stream) {
    return waited || (is_default(stream) ? legacy_after : stream->after) == round_of_inputs;
}

void stream_comes_after(cudaStream_t stream) {
    *(is_default(stream) ? &legacy_after : &stream->after) = round_of_inputs;
}

void stream_all_come_after(void) {
    waited = true;
}

void simulator_inputs_on(cudaStream_t stream) {
    if (!control_is_open())
        return;
    from_host_begin();
    api_lock();
    round_of_inputs++;
    waited = false;
    if (stream_check(stream) == cudaSuccess)
        stream_comes_after(stream);
    api_unlock();
}

void stream_destroy_all(void) {
    while (streams) {
        struct CUstream_st *stream = streams;
        streams = stream->next;
        free(stream);
    }
}

static cudaError_t create(cudaStream_t *stream, unsigned flags, int priority) {
    static unsigned long long last_id = 2; // 1 and 2 are those of the default streams
    if (!stream || (flags & ~(unsigned)cudaStreamNonBlocking) != 0)
        return api_error(cudaErrorInvalidValue, "the flags are unknown or the pointer to the result is NULL");
    struct CUstream_st *made = calloc(1, sizeof *made);
    if (!made)
        return api_error(cudaErrorMemoryAllocation, "the host has no memory left");
    made->flags = flags;
    made->priority = priority > 0 ? 0 : priority < -5 ? -5 : priority;
    made->id = ++last_id;
    made->next = streams;
    streams = made;
    *stream = made;
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
    cudaError_t error =
        is_default(stream) ? api_error(cudaErrorInvalidResourceHandle, "a default stream stays") : stream_check(stream);
    if (error == cudaSuccess) {
        struct CUstream_st **link = find(stream);
        capture_forget(stream);
        *link = stream->next;
        free(stream);
    }
    return error;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    return DEVICE_CALL(destroy(stream));
}

// The host waits for the stream: what it launches from then on comes after all that is in it.
static cudaError_t synchronize(cudaStream_t stream) {
    cudaError_t error = stream_check(stream);
    if (error == cudaSuccess)
        error = capture_forbids(stream, "waits for it");
    if (error == cudaSuccess && stream_is_after(stream))
        stream_all_come_after();
    return error;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    return WAITING_CALL(synchronize(stream));
}

static cudaError_t query(cudaStream_t stream) {
    cudaError_t error = stream_check(stream);
    return error == cudaSuccess ? capture_forbids(stream, "asks whether it is done") : error;
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
    return WAITING_CALL(query(stream));
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
    *captured = error == cudaSuccess && capture_is_on(stream);
    if (!*captured)
        return error;
    struct work *work = work_new(sizeof *work, cudaGraphNodeTypeHost, NULL);
    if (work) {
        work->function = function;
        work->argument = argument;
    }
    return capture_add(stream, work);
}

// The program's functions are called without the lock, so that they may use the runtime themselves.
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *argument) {
    bool captured = false;
    cudaError_t error = DEVICE_CALL(host_function(stream, function, argument, &captured));
    if (error == cudaSuccess && !captured)
        function(argument);
    return error;
}

static cudaError_t may_call_back(cudaStream_t stream) {
    cudaError_t error = stream_check(stream);
    return error == cudaSuccess ? capture_forbids(stream, "has to be cudaLaunchHostFunc instead") : error;
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void *argument,
                                  unsigned int flags) {
    cudaError_t error =
        DEVICE_CALL(!callback || flags != 0 ? api_error(cudaErrorInvalidValue, "the callback is NULL or flags is not 0")
                                            : may_call_back(stream));
    if (error == cudaSuccess)
        callback(stream, cudaSuccess, argument);
    return error;
}
