// C++ on the device: virtual functions of objects from new, function pointers, recursion, variadic templates, function
// objects, printf, assert, and delete.
#include "program.cuh"

#include <cassert>

struct shape {
    __device__ virtual ~shape() {
    }
    __device__ virtual float area() const = 0;
};
struct square_shape : shape {
    float side;
    __device__ explicit square_shape(float s) : side(s) {
    }
    __device__ float area() const override {
        return side * side;
    }
};
struct box : shape {
    float width, height;
    __device__ box(float w, float h) : width(w), height(h) {
    }
    __device__ float area() const override {
        return width * height;
    }
};

__global__ void areas(float *sum, int n) {
    const int i = threadIdx.x;
    if (i >= n)
        return;
    shape *mine = i % 2 ? (shape *)new box((float)i, 2) : (shape *)new square_shape((float)i);
    assert(mine != nullptr);
    atomicAdd(sum, mine->area());
    delete mine;
}

__device__ int increment(int x) {
    return x + 1;
}
__device__ int twice(int x) {
    return 2 * x;
}
__device__ int (*const functions[])(int) = {increment, twice};

__device__ __noinline__ int fibonacci(int n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

template <typename... T>
__device__ int sum_all(T... each) {
    return (0 + ... + each);
}

struct shifted {
    int by;
    __device__ int operator()(int i) const {
        return i + by;
    }
};

template <typename F>
__global__ void for_each(int *x, int n, F f) {
    if (threadIdx.x < n)
        x[threadIdx.x] = f(threadIdx.x);
}

__global__ void calls(int *x, const int *which) {
    x[threadIdx.x] = functions[which[threadIdx.x]](threadIdx.x) + sum_all(1, 2, 3) + fibonacci(threadIdx.x % 8);
    if (threadIdx.x == 3)
        printf("thread %d: %d %s\n", threadIdx.x, x[3], "of the device");
}

int main() {
    const int n = 40;
    float *sum = zeros<float>(1), expected = 0;
    areas<<<1, 64>>>(sum, n);
    std::vector<int> which(n);
    for (int i = 0; i < n; i++) {
        expected += i % 2 ? 2.0f * i : (float)i * i;
        which[i] = i % 3 == 0;
    }
    EXPECT(to_host(sum, 1)[0] == expected);
    int *x = zeros<int>(n);
    calls<<<1, n>>>(x, to_device(which));
    const int fibonaccis[] = {0, 1, 1, 2, 3, 5, 8, 13};
    std::vector<int> result = to_host(x, n);
    for (int i = 0; i < n; i++)
        EXPECT(result[i] == (which[i] ? 2 * i : i + 1) + 6 + fibonaccis[i % 8]);
    const int shift = 100;
    for_each<<<1, 64>>>(x, n, shifted{shift});
    result = to_host(x, n);
    for (int i = 0; i < n; i++)
        EXPECT(result[i] == i + shift);
    return 0;
}
