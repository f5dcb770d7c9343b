// Two blocks take two locks in the same order.
#include <cstdio>

__device__ void lock(int *locks, int which) {
    while (atomicCAS(&locks[which], 0, 1) != 0)
        __nanosleep(100);
    __threadfence();
}

__device__ void unlock(int *locks, int which) {
    __threadfence();
    atomicExch(&locks[which], 0);
}

// Block 0 moves money from account 0 to account 1, block 1 moves it back.
__global__ void transfer(int *locks, volatile int *accounts, int times) {
    const int from = blockIdx.x, to = 1 - from;
    const int first = 0, second = 1;
    for (int i = 0; i < times; i++) {
        lock(locks, first);
        lock(locks, second);
        accounts[from] = accounts[from] - 1;
        accounts[to] = accounts[to] + 1;
        unlock(locks, second);
        unlock(locks, first);
    }
}

int main() {
    int *locks, *accounts, host[2] = {100, 100};
    cudaMalloc(&locks, sizeof host);
    cudaMalloc(&accounts, sizeof host);
    cudaMemset(locks, 0, sizeof host);
    cudaMemcpy(accounts, host, sizeof host, cudaMemcpyHostToDevice);
    transfer<<<2, 1>>>(locks, accounts, 5);
    const cudaError_t error = cudaMemcpy(host, accounts, sizeof host, cudaMemcpyDeviceToHost);
    printf("%s, accounts %d and %d, expected 100 and 100\n", cudaGetErrorName(error), host[0], host[1]);
    return error != cudaSuccess || host[0] != 100 || host[1] != 100;
}
