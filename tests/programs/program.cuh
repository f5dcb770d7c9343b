// Common code of the programs of this folder.
#pragma once

#include "../checked.cuh"

#include <cstring>
#include <vector>

// Whether this is the simulator. A GPU may differ where CUDA leaves the behaviour undefined.
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
    OK(cudaDeviceSynchronize()); // cudaMemset does not wait, and a non-blocking stream does not wait for it
    return device;
}

template <typename T>
std::vector<T> to_host(const T *device, size_t count) {
    std::vector<T> host(count);
    OK(cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
    return host;
}

// The same pseudo-random small integers in each run, so that sums in float are exact in any order.
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
