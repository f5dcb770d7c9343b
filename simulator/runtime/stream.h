// Streams and events. A GPU executes each stream in order and different streams concurrently; the simulator completes
// all work, in the order of the calls, before the call returns. CUDA allows that order, so a correctly synchronized
// program cannot distinguish it; what a program does not synchronize is found by machine/timeline.h.
#ifndef SIMULATOR_RUNTIME_STREAM_H
#define SIMULATOR_RUNTIME_STREAM_H

#include "api.h"

// cudaErrorInvalidResourceHandle if stream is neither a default stream nor a created and undestroyed one.
cudaError_t stream_check(cudaStream_t stream);

// A call that enqueues work in a stream, which must exist.
#define STREAM_CALL(stream, body)                                                                                      \
    DEVICE_CALL(stream_check(stream) == cudaSuccess ? (body) : cudaErrorInvalidResourceHandle)

unsigned long long stream_id(cudaStream_t stream);

// The device of a stream; of a default stream, that of the calling thread.
int stream_device(cudaStream_t stream);

// cudaErrorInvalidResourceHandle if the stream is another device's than the calling thread's: kernels cannot be
// launched in it.
cudaError_t stream_check_device(cudaStream_t stream);

// Whether the stream synchronizes with the legacy default stream.
bool stream_is_blocking(cudaStream_t stream);

// The order of the stream's work: see machine/timeline.h.
unsigned stream_timeline(cudaStream_t stream);

// A stream of the simulator's own, for nodes of a graph that nothing orders with those of other streams. NULL: out of
// host memory.
cudaStream_t stream_open_branch(void);
void stream_close_branch(cudaStream_t stream);

// Whether work in the stream is ordered after the inputs of simulator_set_input_stream().
bool stream_is_after_inputs(cudaStream_t stream);

// cudaDeviceReset: destroys all streams and events.
void stream_destroy_all(void);
void event_destroy_all(void);

// event_check: cudaErrorInvalidResourceHandle if the event is invalid; event_record, event_wait: take effect at once.
cudaError_t event_check(cudaEvent_t event);
cudaError_t event_record(cudaEvent_t event, cudaStream_t stream);
cudaError_t event_wait(cudaStream_t stream, cudaEvent_t event);
// The same as a node of the graph that the stream is captured into (graph_event.c).
cudaError_t capture_event_node(cudaStream_t stream, cudaEvent_t event, enum cudaGraphNodeType type);

#endif
