// The part of NCCL's interface that the lessons use, declared as NCCL's documentation has it, so that they compile
// where NCCL is not installed. libnccl.so.2 is NVIDIA's on GPUs (./setup --nccl) and simulator/nccl's on the simulator.
#ifndef NCCL_H
#define NCCL_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ncclComm *ncclComm_t; // one rank's part of a communicator

typedef enum {
    ncclSuccess = 0,
    ncclUnhandledCudaError = 1,
    ncclSystemError = 2,
    ncclInternalError = 3,
    ncclInvalidArgument = 4,
    ncclInvalidUsage = 5,
    ncclRemoteError = 6,
    ncclInProgress = 7
} ncclResult_t;

typedef enum {
    ncclInt8 = 0,
    ncclUint8 = 1,
    ncclInt32 = 2,
    ncclUint32 = 3,
    ncclInt64 = 4,
    ncclUint64 = 5,
    ncclFloat16 = 6,
    ncclFloat32 = 7,
    ncclFloat64 = 8,
    ncclBfloat16 = 9
} ncclDataType_t;

const char *ncclGetErrorString(ncclResult_t result);

// One rank for each of the devices, in one process; devices NULL: 0 .. ranks - 1.
ncclResult_t ncclCommInitAll(ncclComm_t *comm, int ranks, const int *devices);
ncclResult_t ncclCommDestroy(ncclComm_t comm);
// Ends what the communicator still has to do, and destroys it.
ncclResult_t ncclCommAbort(ncclComm_t comm);
// What has gone wrong since the calls returned.
ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *result);

// The calls between the two are issued together, and run at the same time.
ncclResult_t ncclGroupStart(void);
ncclResult_t ncclGroupEnd(void);

// All three return before the work is done, which is ordered by the stream. The peer has to receive as many elements.
ncclResult_t ncclSend(const void *buffer, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream);
ncclResult_t ncclRecv(void *buffer, size_t count, ncclDataType_t type, int peer, ncclComm_t comm, cudaStream_t stream);
// from: [count]; to: [ranks][count], in the order of the ranks. In place if from is to + rank * count.
ncclResult_t ncclAllGather(const void *from, void *to, size_t count, ncclDataType_t type, ncclComm_t comm,
                           cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
