// Streams and events. A GPU works through each stream in order and through different streams at the same time; here
// all work is done, in the order of the calls, when the call that asks for it returns. That is one of the orders that
// CUDA allows, so a program that orders its streams rightly cannot tell.
#ifndef SIMULATOR_RUNTIME_STREAM_H
#define SIMULATOR_RUNTIME_STREAM_H

#include "api.h"

// cudaErrorInvalidResourceHandle where stream is neither a default stream nor one that was created and still exists.
cudaError_t stream_check(cudaStream_t stream);

// A call that puts work into a stream, which must exist.
#define STREAM_CALL(stream, body)                                                                                      \
    DEVICE_CALL(stream_check(stream) == cudaSuccess ? (body) : cudaErrorInvalidResourceHandle)

unsigned long long stream_id(cudaStream_t stream);

// Whether it waits for the legacy default stream and that for it.
bool stream_blocks(cudaStream_t stream);

// Whether work in the stream comes after what was given to simulator_inputs_on(); and that it does from now on, or that
// all streams do, since the host has waited.
bool stream_is_after(cudaStream_t stream);
void stream_comes_after(cudaStream_t stream);
void stream_all_come_after(void);

// cudaDeviceReset: destroys all streams and events.
void stream_destroy_all(void);
void event_destroy_all(void);

// cudaErrorInvalidResourceHandle where there is no such event; what is recorded and waited for now.
cudaError_t event_check(cudaEvent_t event);
cudaError_t event_record(cudaEvent_t event, cudaStream_t stream);
cudaError_t event_wait(cudaStream_t stream, cudaEvent_t event);
// The same as a node of the graph that the stream is captured to (graph_event.c).
cudaError_t capture_event(cudaStream_t stream, cudaEvent_t event, enum cudaGraphNodeType type);

#endif
