// What the programs of this folder share: they stop with status 1 where a call fails or a result is wrong.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

#define OK(call)                                                                                                       \
    do {                                                                                                               \
        const cudaError_t error_ = (call);                                                                             \
        if (error_ != cudaSuccess) {                                                                                   \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorName(error_));                   \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

#define EXPECT(condition)                                                                                              \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                                    \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

template <typename T>
T *to_device(const std::vector<T> &host) {
    T *device;
    OK(cudaMalloc(&device, host.size() * sizeof(T)));
    OK(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

template <typename T>
T *zeros(size_t count) {
    T *device;
    OK(cudaMalloc(&device, count * sizeof(T)));
    OK(cudaMemset(device, 0, count * sizeof(T)));
    return device;
}

template <typename T>
std::vector<T> to_host(const T *device, size_t count) {
    std::vector<T> host(count);
    OK(cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
    return host;
}

// The same numbers in each run: small whole ones, so that sums in float are exact in any order.
inline std::vector<float> whole_numbers(size_t count, unsigned limit) {
    std::vector<float> numbers(count);
    unsigned state = 1;
    for (float &number : numbers) {
        state = state * 1664525u + 1013904223u;
        number = (float)(state >> 8) / (1 << 24) * limit;
        number = (float)(int)number;
    }
    return numbers;
}
