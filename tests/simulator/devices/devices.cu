// devices CASE [broken]: work on several devices. Broken, one synchronization or call is left out.
#include <nccl.h>

#include <cstdio>
#include <cstring>
#include <thread>

enum { COUNT = 4096, THREADS = 256, BYTES = COUNT * sizeof(float) };

__device__ int calls;
__global__ void fill(float *to, float value) {
    to[blockIdx.x * THREADS + threadIdx.x] = value;
    if (blockIdx.x == 0 && threadIdx.x == 0)
        calls++;
}
__global__ void copy(float *to, const float *from) {
    const int i = blockIdx.x * THREADS + threadIdx.x;
    to[i] = from[i];
}
__global__ void big(float *to) {
    extern __shared__ float shared[];
    shared[threadIdx.x] = 1;
    to[threadIdx.x] = shared[threadIdx.x];
}
__global__ void fault(float *to) {
    to[1 << 28] = 0;
}

struct Rank {
    float *a, *b;
    cudaStream_t compute, exchange;
    cudaEvent_t event;
    ncclComm_t comm;
} rank[4];

static int ranks;
static bool broken;

static void open(int count) {
    ncclComm_t comm[4];
    ranks = count;
    if (ncclCommInitAll(comm, count, NULL) != ncclSuccess)
        exit(3);
    for (int r = 0; r < count; r++) {
        cudaSetDevice(r);
        cudaMalloc(&rank[r].a, BYTES);
        cudaMalloc(&rank[r].b, BYTES * count);
        cudaStreamCreateWithFlags(&rank[r].compute, cudaStreamNonBlocking);
        cudaStreamCreateWithFlags(&rank[r].exchange, cudaStreamNonBlocking);
        cudaEventCreateWithFlags(&rank[r].event, cudaEventDisableTiming);
        rank[r].comm = comm[r];
    }
}

static void fill_all() {
    for (int r = 0; r < ranks; r++) {
        cudaSetDevice(r);
        fill<<<COUNT / THREADS, THREADS, 0, rank[r].compute>>>(rank[r].a, 1.0f + r);
    }
}

// The other stream of each rank waits for what is in the one.
static void follow(bool exchange) {
    for (int r = 0; r < ranks; r++) {
        cudaSetDevice(r);
        cudaEventRecord(rank[r].event, exchange ? rank[r].compute : rank[r].exchange);
        cudaStreamWaitEvent(exchange ? rank[r].exchange : rank[r].compute, rank[r].event);
    }
}

static ncclResult_t pass_round(int received, bool received_first_only) {
    ncclGroupStart();
    for (int r = 0; r < ranks; r++) {
        if (!(received_first_only && r == 1))
            ncclSend(rank[r].a, COUNT, ncclFloat32, (r + 1) % ranks, rank[r].comm, rank[r].exchange);
        ncclRecv(rank[r].b, received, ncclFloat32, (r + ranks - 1) % ranks, rank[r].comm, rank[r].exchange);
    }
    return ncclGroupEnd();
}

static void read_all() {
    for (int r = 0; r < ranks; r++) {
        cudaSetDevice(r);
        copy<<<COUNT / THREADS, THREADS, 0, rank[r].compute>>>(rank[r].a, rank[r].b);
    }
}

// Whether the first element of rank r is what it should be.
static int expect(const float *device, int r, float value) {
    float got = 0;
    cudaSetDevice(r);
    cudaDeviceSynchronize();
    cudaMemcpy(&got, device, sizeof got, cudaMemcpyDefault);
    if (got != value)
        printf("rank %d: %g instead of %g\n", r, got, value);
    return got != value;
}

static int peer() { // a kernel reads a peer's memory
    open(2);
    fill_all();
    cudaSetDevice(0);
    cudaDeviceSynchronize();
    cudaSetDevice(1);
    cudaDeviceSynchronize();
    if (!broken)
        cudaDeviceEnablePeerAccess(0, 0);
    copy<<<COUNT / THREADS, THREADS, 0, rank[1].compute>>>(rank[1].b, rank[0].a);
    return cudaDeviceSynchronize() != cudaSuccess || expect(rank[1].b, 1, 1);
}

static int peer_copy() { // an event of another device
    open(2);
    fill_all();
    cudaSetDevice(0);
    cudaEventRecord(rank[0].event, rank[0].compute);
    cudaSetDevice(1);
    if (!broken)
        cudaStreamWaitEvent(rank[1].compute, rank[0].event);
    cudaMemcpyPeerAsync(rank[1].b, 1, rank[0].a, 0, BYTES, rank[1].compute);
    return expect(rank[1].b, 1, 1);
}

static int attributes() { // an attribute of a kernel belongs to a device, as a variable does
    open(2);
    int value[2];
    for (int r = 0; r < 2; r++) {
        cudaSetDevice(r);
        if (!(broken && r == 1))
            cudaFuncSetAttribute(big, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000);
        big<<<1, 32, 100000, rank[r].compute>>>(rank[r].a);
        fill<<<COUNT / THREADS, THREADS, 0, rank[r].compute>>>(rank[r].b, 1);
        cudaDeviceSynchronize();
        cudaMemcpyFromSymbol(&value[r], calls, sizeof value[r]);
    }
    return cudaGetLastError() != cudaSuccess || value[0] != 1 || value[1] != 1;
}

static int stream() { // a stream belongs to a device
    open(2);
    cudaSetDevice(broken ? 0 : 1);
    fill<<<COUNT / THREADS, THREADS, 0, rank[1].compute>>>(rank[1].a, 1);
    return cudaGetLastError() != cudaSuccess;
}

static int threads() { // the current device is the thread's own
    open(2);
    cudaSetDevice(1);
    int seen = -1;
    std::thread([&] { cudaGetDevice(&seen); }).join();
    return seen != (broken ? 1 : 0);
}

static int ring() { // an exchange between two kernels
    open(3);
    fill_all();
    follow(true);
    pass_round(COUNT, false);
    follow(false);
    read_all();
    return expect(rank[0].a, 0, 3) + expect(rank[1].a, 1, 1) + expect(rank[2].a, 2, 2);
}

static int sent_early() { // the buffer is sent while a kernel writes it
    open(2);
    fill_all();
    if (!broken)
        follow(true);
    return pass_round(COUNT, false) != ncclSuccess;
}

static int read_early() { // what is received is read before it is there
    open(2);
    fill_all();
    follow(true);
    pass_round(COUNT, false);
    if (!broken)
        follow(false);
    read_all();
    return 0;
}

static int refilled() { // a buffer is written again while it is sent
    open(2);
    fill_all();
    follow(true);
    pass_round(COUNT, false);
    if (!broken)
        follow(false);
    fill_all();
    return 0;
}

static int size() {
    open(2);
    fill_all();
    follow(true);
    return pass_round(broken ? COUNT / 2 : COUNT, false) != ncclSuccess;
}

static int unanswered() {
    open(2);
    fill_all();
    follow(true);
    return pass_round(COUNT, broken) != ncclSuccess;
}

static int ungrouped() { // without a group, the first call waits for the second one
    open(2);
    fill_all();
    follow(true);
    if (!broken)
        ncclGroupStart();
    ncclResult_t result = ncclSend(rank[0].a, COUNT, ncclFloat32, 1, rank[0].comm, rank[0].exchange);
    if (result == ncclSuccess)
        result = ncclRecv(rank[1].b, COUNT, ncclFloat32, 0, rank[1].comm, rank[1].exchange);
    if (!broken)
        result = ncclGroupEnd();
    return result != ncclSuccess;
}

static int overlap() { // what is sent is overwritten by what arrives at the same time
    open(2);
    fill_all();
    follow(true);
    ncclGroupStart();
    for (int r = 0; r < 2; r++) {
        ncclSend(rank[r].a, COUNT, ncclFloat32, 1 - r, rank[r].comm, rank[r].exchange);
        ncclRecv(broken ? rank[r].a : rank[r].b, COUNT, ncclFloat32, 1 - r, rank[r].comm, rank[r].exchange);
    }
    return ncclGroupEnd() != ncclSuccess;
}

static int wrong_device() { // a buffer of another rank
    open(2);
    fill_all();
    for (int r = 0; r < 2; r++) {
        cudaSetDevice(r);
        cudaDeviceSynchronize();
    }
    ncclGroupStart();
    ncclSend(rank[0].a, COUNT, ncclFloat32, 1, rank[0].comm, rank[0].exchange);
    ncclRecv(rank[broken ? 0 : 1].b, COUNT, ncclFloat32, 0, rank[1].comm, rank[1].exchange);
    return ncclGroupEnd() != ncclSuccess;
}

static int gather() {
    open(4);
    fill_all();
    follow(true);
    ncclGroupStart();
    for (int r = 0; r < ranks; r++)
        if (!(broken && r == 2))
            ncclAllGather(rank[r].a, rank[r].b, COUNT, ncclFloat32, rank[r].comm, rank[r].exchange);
    if (ncclGroupEnd() != ncclSuccess)
        return 1;
    return expect(rank[1].b + 2 * COUNT, 1, 3) + expect(rank[3].b, 3, 1);
}

static int in_threads() { // a thread for each rank; broken: one of them does not take part
    open(2);
    fill_all();
    follow(true);
    ncclResult_t result[2] = {ncclSuccess, ncclSuccess};
    auto take_part = [&](int r) {
        cudaSetDevice(r);
        result[r] = ncclAllGather(rank[r].a, rank[r].b, COUNT, ncclFloat32, rank[r].comm, rank[r].exchange);
    };
    for (int round = 0; round < 2; round++) {
        std::thread one([&] { take_part(0); });
        if (!(broken && round))
            take_part(1);
        one.join();
    }
    return result[0] != ncclSuccess || result[1] != ncclSuccess || expect(rank[0].b + COUNT, 0, 2);
}

static int peer_fails() { // a kernel of one rank fails: the exchange ends with an error, and does not hang
    open(2);
    fill_all();
    cudaSetDevice(1);
    if (broken)
        fault<<<1, 1, 0, rank[1].compute>>>(rank[1].a);
    follow(true);
    return pass_round(COUNT, false) != ncclSuccess;
}

int main(int count, char **argument) {
    const struct {
        const char *name;
        int (*run)();
    } cases[] = {{"peer", peer},
                 {"peer-copy", peer_copy},
                 {"attributes", attributes},
                 {"stream", stream},
                 {"threads", threads},
                 {"ring", ring},
                 {"sent-early", sent_early},
                 {"read-early", read_early},
                 {"refilled", refilled},
                 {"size", size},
                 {"unanswered", unanswered},
                 {"ungrouped", ungrouped},
                 {"overlap", overlap},
                 {"wrong-device", wrong_device},
                 {"gather", gather},
                 {"in-threads", in_threads},
                 {"peer-fails", peer_fails}};
    broken = count > 2;
    for (const auto &one : cases)
        if (count > 1 && strcmp(one.name, argument[1]) == 0)
            return one.run();
    return 2;
}
