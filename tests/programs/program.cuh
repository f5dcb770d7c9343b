// What the programs of this folder share.
#pragma once

#include "../checked.cuh"

#include <cstring>
#include <vector>

// Whether this is the simulator. What CUDA leaves open, a GPU may do in another way.
inline bool simulated() {
    cudaDeviceProp properties;
    OK(cudaGetDeviceProperties(&properties, 0));
    return strstr(properties.name, "simulated");
}

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
