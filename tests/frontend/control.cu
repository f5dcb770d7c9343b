// Branches in every form, calls with and without results, recursion, function pointers, virtual functions, printf,
// assert.
#include <cassert>
#include <cstdio>
#include <cstdlib>

struct big {
    float values[9];
    int count;
};

__noinline__ __device__ big scaled(big b, float by, double offset) {
    for (int i = 0; i < b.count; i++)
        b.values[i] = b.values[i] * by + (float)offset;
    b.count++;
    return b;
}

__noinline__ __device__ int fibonacci(int n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__device__ bool odd(int n);
__noinline__ __device__ bool even(int n) {
    return n == 0 || odd(n - 1);
}
__noinline__ __device__ bool odd(int n) {
    return n != 0 && even(n - 1);
}

__noinline__ __device__ void swap(int *a, int *b) {
    int t = *a;
    *a = *b;
    *b = t;
}

__device__ float twice(float x) {
    return 2 * x;
}
__device__ float squared(float x) {
    return x * x;
}
typedef float (*function)(float);
__device__ function functions[2] = {twice, squared};

struct shape {
    __device__ virtual float area() const = 0;
    __device__ virtual ~shape() {
    }
};
struct square : shape {
    float side;
    __device__ explicit square(float s) : side(s) {
    }
    __device__ float area() const override {
        return side * side;
    }
};
struct circle : shape {
    float radius;
    __device__ explicit circle(float r) : radius(r) {
    }
    __device__ float area() const override {
        return 3.14159f * radius * radius;
    }
};

__global__ void calls(float *f, int *i, big b) {
    big c = scaled(b, f[0], 2.5);
    f[1] = c.values[i[0] % 9] + c.count;
    i[1] = fibonacci(i[2]) + even(i[3]);
    int x = i[4], y = i[5];
    swap(&x, &y);
    i[6] = x - y;
    f[2] = functions[i[7] & 1](f[3]);
    shape *s = i[8] ? (shape *)new square(f[4]) : (shape *)new circle(f[5]);
    f[6] = s->area();
    delete s;
    float *p = (float *)malloc(i[9] * sizeof(float));
    assert(p != nullptr && "out of memory");
    p[0] = f[7];
    printf("%d %f %s %llu %c\n", i[0], p[0], "text", (unsigned long long)i[1], 'x');
    free(p);
}

__global__ void branches(int *x, float *f, int n) {
    switch (n) {
    case 0:
        x[0] = 5;
        break;
    case 1:
        x[1] = x[2] * 3;
        break;
    case 2:
        f[0] = sqrtf(f[1]);
        break;
    case 3:
        x[3]--; // fall through
    case 4:
        x[4] ^= 77;
        break;
    case 5:
        f[2] = f[3] / f[4];
        break;
    case 7:
        x[5] = __popc(x[6]);
        break;
    case 8:
        f[5] = __expf(f[6]);
        break;
    case 9:
        return;
    case 10:
        __trap();
    default:
        x[7] = 0;
    }
    for (int i = 0; i < n; i++) {
        if (x[i] < 0)
            continue;
        if (x[i] == 12345)
            break;
        int j = i;
        do {
            x[j] += i;
            j -= 3;
        } while (j > 0 && x[j] != 9);
        for (;;) {
            if ((x[j & 7] *= 3) > 1000)
                goto out;
            if (x[j & 7] & 1)
                break;
        }
    }
out:
    x[8] = n > 4 ? x[9] : n < -4 ? x[10] : 3;
    if (n == 77)
        __brkpt();
    long long start = clock64();
    unsigned low = clock();
    x[11] = (int)(clock64() - start) + low;
}
