// The GPUs of a process as ranks of a ring: a communicator, two streams per rank, and their order. The caller's current
// device is 0, and is 0 again after each function.
#pragma once

#include "nccl.h"
#include "ring_attention.h"

#include <cstdio>

// compute: the kernels; exchange: what NCCL does beside them.
struct Rank {
    ncclComm_t comm;
    cudaStream_t compute, exchange;
    cudaEvent_t computed, exchanged;
};

struct Ring {
    int devices; // 0: not opened yet
    Rank rank[RING_MAX_DEVICES];
    cudaEvent_t begun;
};

static inline cudaError_t nccl_error(ncclResult_t result) {
    if (result == ncclSuccess)
        return cudaSuccess;
    fprintf(stderr, "NCCL: %s\n", ncclGetErrorString(result));
    return cudaErrorUnknown;
}

static inline cudaError_t open_rank(Rank *rank, int device) {
    cudaError_t error = cudaSetDevice(device);
    if (error == cudaSuccess)
        error = cudaStreamCreateWithFlags(&rank->compute, cudaStreamNonBlocking);
    if (error == cudaSuccess)
        error = cudaStreamCreateWithFlags(&rank->exchange, cudaStreamNonBlocking);
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&rank->computed, cudaEventDisableTiming);
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&rank->exchanged, cudaEventDisableTiming);
    return error;
}

// A ring of so many devices, which is kept for later calls.
static inline cudaError_t open_ring(int devices, Ring **opened) {
    static Ring rings[RING_MAX_DEVICES + 1];
    Ring *ring = &rings[devices];
    int present = 0;
    *opened = ring;
    if (ring->devices)
        return cudaSuccess;
    cudaError_t error = cudaGetDeviceCount(&present);
    if (error == cudaSuccess && present < devices)
        error = cudaErrorInvalidDevice;
    for (int r = 0; r < devices && error == cudaSuccess; r++)
        error = open_rank(&ring->rank[r], r);
    cudaSetDevice(0);
    ncclComm_t comm[RING_MAX_DEVICES];
    if (error == cudaSuccess)
        error = nccl_error(ncclCommInitAll(comm, devices, NULL));
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&ring->begun, cudaEventDisableTiming);
    if (error != cudaSuccess)
        return error;
    for (int r = 0; r < devices; r++)
        ring->rank[r].comm = comm[r];
    ring->devices = devices;
    return cudaSuccess;
}

// Calls body(r) for each rank, with its device as the current one, up to the first error.
template <class Body>
static cudaError_t for_each_rank(int devices, Body body) {
    cudaError_t error = cudaSuccess;
    for (int r = 0; r < devices && error == cudaSuccess; r++) {
        error = cudaSetDevice(r);
        if (error == cudaSuccess)
            error = body(r);
    }
    cudaSetDevice(0);
    return error;
}

// What follows in `later` waits for what is in `earlier`. event: of the device of `earlier`, which is the current one.
static inline cudaError_t order(cudaStream_t earlier, cudaEvent_t event, cudaStream_t later) {
    const cudaError_t error = cudaEventRecord(event, earlier);
    return error == cudaSuccess ? cudaStreamWaitEvent(later, event) : error;
}

// Both streams of all ranks begin after what is in stream, which is one of device 0.
static inline cudaError_t begin_ring(Ring *ring, cudaStream_t stream) {
    cudaError_t error = cudaEventRecord(ring->begun, stream);
    for (int r = 0; r < ring->devices && error == cudaSuccess; r++) {
        error = cudaStreamWaitEvent(ring->rank[r].compute, ring->begun);
        if (error == cudaSuccess)
            error = cudaStreamWaitEvent(ring->rank[r].exchange, ring->begun);
    }
    return error;
}

// What follows in stream waits for both streams of all ranks.
static inline cudaError_t end_ring(Ring *ring, cudaStream_t stream) {
    return for_each_rank(ring->devices, [&](int r) {
        const Rank &rank = ring->rank[r];
        ncclResult_t result;
        cudaError_t error = order(rank.compute, rank.computed, stream);
        if (error == cudaSuccess)
            error = order(rank.exchange, rank.exchanged, stream);
        if (error == cudaSuccess)
            error = nccl_error(ncclCommGetAsyncError(rank.comm, &result));
        return error == cudaSuccess ? nccl_error(result) : error;
    });
}
