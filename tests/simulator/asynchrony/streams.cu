// Work in streams, copies and accesses by the host: each case as it should be, or with one synchronization left out.
// Arguments: the case, and "broken" for the latter.
#include "../../checked.cuh"

#include <cstring>

const int n = 4096;

__global__ void fill(int *x, int value) {
    x[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

__global__ void copy(const int *from, int *to) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = from[i];
}

__global__ void signal(volatile int *flag, int *x) {
    x[threadIdx.x] = 5;
    __threadfence_system();
    __syncthreads();
    if (threadIdx.x == 0)
        *flag = 1;
}

__global__ void first(int *x) {
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
    x[blockIdx.x * blockDim.x + threadIdx.x] = 3;
}

// One thread waits, and the barrier tells the others. x is the work of the kernel before, ready is older.
__global__ void second(const int *ready, const int *x, int *y, bool waits) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, before = ready[i];
    if (waits && threadIdx.x == 0)
        asm volatile("griddepcontrol.wait;" ::: "memory");
    __syncthreads();
    y[i] = x[i] + before;
}

// Of several blocks, which run at the same time, any may be the first to be reported.
const int blocks = 1;

static int *device, *other, *pinned, *managed;
static cudaStream_t a, b;
static cudaEvent_t event;

static void launch_second(const int *ready, const int *x, int *y, bool waits) {
    cudaLaunchConfig_t configuration = {};
    cudaLaunchAttribute attribute[1];
    configuration.gridDim = blocks;
    configuration.blockDim = 256;
    configuration.stream = a;
    configuration.attrs = attribute;
    configuration.numAttrs = 1;
    attribute[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute[0].val.programmaticStreamSerializationAllowed = 1;
    OK(cudaLaunchKernelEx(&configuration, second, ready, x, y, waits));
}

static void order_b_after_a() {
    OK(cudaEventRecord(event, a));
    OK(cudaStreamWaitEvent(b, event, 0));
}

static bool is(const char *name, const char *wanted) {
    return !strcmp(name, wanted);
}

int main(int count, char **argument) {
    const char *name = argument[1];
    const bool right = count < 3;
    const size_t bytes = n * sizeof(int);
    int sum = 0;
    OK(cudaMalloc(&device, 2 * bytes));
    OK(cudaMalloc(&other, bytes));
    OK(cudaMallocHost(&pinned, bytes));
    OK(cudaMallocManaged(&managed, bytes));
    OK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&b, is(name, "legacy") ? cudaStreamDefault : cudaStreamNonBlocking));
    OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    memset(pinned, 1, bytes);
    memset(managed, 0, bytes);
    OK(cudaMemset(device, 0, 2 * bytes));
    OK(cudaMemset(other, 0, bytes));
    OK(cudaDeviceSynchronize());
    if (is(name, "event")) {
        fill<<<blocks, 256, 0, a>>>(device, 1);
        if (right)
            order_b_after_a();
        copy<<<blocks, 256, 0, b>>>(device, other);
    } else if (is(name, "overwritten")) { // a read that is not waited for
        copy<<<blocks, 256, 0, a>>>(device, other);
        if (right)
            order_b_after_a();
        fill<<<blocks, 256, 0, b>>>(device, 1);
    } else if (is(name, "event-too-early")) {
        if (!right)
            OK(cudaEventRecord(event, a));
        fill<<<blocks, 256, 0, a>>>(device, 1);
        if (right)
            OK(cudaEventRecord(event, a));
        OK(cudaStreamWaitEvent(b, event, 0));
        copy<<<blocks, 256, 0, b>>>(device, other);
    } else if (is(name, "legacy")) { // b waits for the default stream, a does not
        fill<<<blocks, 256>>>(device, 1);
        copy<<<blocks, 256, 0, right ? b : a>>>(device, other);
    } else if (is(name, "memset")) {
        if (right)
            OK(cudaMemsetAsync(device, 1, bytes, a));
        else
            OK(cudaMemset(device, 1, bytes));
        copy<<<blocks, 256, 0, a>>>(device, other);
    } else if (is(name, "copies")) { // columns of one matrix in two streams, which overlap by one in the broken case
        for (int half = 0; half < 2; half++)
            OK(cudaMemcpy2DAsync(device + 32 * half, 256, pinned + 32 * half, 256, 128 + 4 * (!half && !right), 16,
                                 cudaMemcpyHostToDevice, half ? b : a));
    } else if (is(name, "copy-of-result")) {
        fill<<<blocks, 256, 0, a>>>(device, 1);
        OK(cudaMemcpyAsync(pinned, device, bytes, cudaMemcpyDeviceToHost, right ? a : b));
    } else if (is(name, "pinned")) {
        OK(cudaMemcpyAsync(pinned, device, bytes, cudaMemcpyDeviceToHost, a));
        if (right)
            OK(cudaStreamSynchronize(a));
        sum += pinned[n - 1];
    } else if (is(name, "refilled")) {
        OK(cudaMemcpyAsync(device, pinned, bytes, cudaMemcpyHostToDevice, a));
        if (right) {
            OK(cudaEventRecord(event, a));
            OK(cudaEventSynchronize(event));
        }
        pinned[7] = 1;
    } else if (is(name, "managed")) {
        fill<<<n / 256, 256>>>(managed, 1);
        if (right)
            while (cudaStreamQuery(0) != cudaSuccess)
                ;
        sum += managed[n / 2];
    } else if (is(name, "half")) { // the other half of a page is not the kernel's
        fill<<<1, 256>>>(managed, 1);
        sum += managed[right ? 512 : 255];
    } else if (is(name, "signal")) { // the host polls
        signal<<<1, 32, 0, a>>>(managed, managed + 64);
        if (right)
            while (!*(volatile int *)managed)
                ;
        sum += managed[64];
    } else if (is(name, "spin")) { // the host polls what the kernel stores as any other value
        fill<<<1, 256, 0, a>>>(managed, 1);
        if (right)
            OK(cudaStreamSynchronize(a));
        while (!*(volatile int *)managed)
            ;
    } else if (is(name, "dependent")) {
        first<<<blocks, 256, 0, a>>>(device);
        launch_second(device + n, device, other, right);
    } else if (is(name, "chain")) { // the third launch relies on the second one's having waited for the first
        first<<<blocks, 256, 0, a>>>(device);
        launch_second(device + n, right ? device : device + n, other, right);
        launch_second(device, other, device + n, true);
    } else {
        return 2;
    }
    OK(cudaDeviceSynchronize());
    if (!right)
        printf("the host has read %d\n", sum);
    return sum < 0;
}
