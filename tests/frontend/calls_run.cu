// Calls of every kind, run on the simulator and compared with the same functions on the host: structures by value,
// recursion to a lane-dependent depth, pointers to a caller's local variables, function pointers, virtual functions,
// addresses in initializers.
#include <cstdio>
#include <cstdlib>

#define BOTH __host__ __device__ __noinline__

struct big {
    float values[9];
    int count;
};

BOTH big scaled(big b, float by, double offset) {
    for (int i = 0; i < b.count; i++)
        b.values[i] = b.values[i] * by + (float)offset;
    b.count--;
    return b;
}

BOTH int fibonacci(int n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

// Each activation has its own array and passes its address to its callee.
BOTH int sum_of_levels(int n, const int *above) {
    int mine[4];
    for (int i = 0; i < 4; i++)
        mine[i] = n * 10 + i + above[0];
    int below = n > 0 ? sum_of_levels(n - 1, mine) : 0;
    return below + mine[n & 3] + above[n & 1];
}

BOTH float twice(float x) {
    return 2 * x;
}
BOTH float squared(float x) {
    return x * x;
}
typedef float (*function)(float);
__device__ function device_functions[2] = {twice, squared};
static const function host_functions[2] = {twice, squared};

struct shape {
    BOTH virtual float area() const = 0;
};
struct square : shape {
    float side;
    BOTH float area() const override {
        return side * side;
    }
};
struct box : square {
    float height;
    BOTH float area() const override {
        return side * height;
    }
};

#pragma pack(push, 1)
struct packed {
    char c;
    const int *p;
    short s;
};
#pragma pack(pop)
__device__ const int numbers[4] = {10, 20, 30, 40};
__device__ packed odd = {7, &numbers[2], -3};
__device__ const char *const words[] = {"one", "two", "three"};

enum { RESULTS = 9, THREADS = 64 };

BOTH void compute(int thread, const function *functions, int *result) {
    big b;
    b.count = 9;
    for (int i = 0; i < b.count; i++)
        b.values[i] = (float)(i * thread);
    big c = scaled(b, 0.5f, 3.25);
    const int top[2] = {thread, 3};
    square s;
    box t;
    s.side = (float)thread;
    t.side = 3;
    t.height = 5;
    const shape *either = thread & 1 ? (const shape *)&s : (const shape *)&t;
    result[0] = (int)(c.values[thread % 9] * 4) + c.count;
    result[1] = fibonacci(thread % 13);
    result[2] = sum_of_levels(thread % 7, top);
    result[3] = (int)functions[thread / 3 & 1]((float)thread);
    result[4] = (int)either->area();
}

__global__ void kernel(int *results) {
    int *mine = results + threadIdx.x * RESULTS;
    compute(threadIdx.x, device_functions, mine);
    mine[5] = *odd.p;
    mine[6] = odd.c;
    mine[7] = odd.s;
    mine[8] = words[threadIdx.x % 3][threadIdx.x % 3];
}

int main() {
    static int got[THREADS][RESULTS];
    int *results;
    if (cudaMalloc(&results, sizeof got) != cudaSuccess)
        return 2;
    kernel<<<1, THREADS>>>(results);
    if (cudaMemcpy(got, results, sizeof got, cudaMemcpyDeviceToHost) != cudaSuccess)
        return 2;
    int wrong = 0;
    for (int thread = 0; thread < THREADS; thread++) {
        static const char letters[] = {'o', 'w', 'r'};
        int expected[RESULTS] = {0, 0, 0, 0, 0, 30, 7, -3, letters[thread % 3]};
        compute(thread, host_functions, expected);
        for (int i = 0; i < RESULTS; i++) {
            if (got[thread][i] != expected[i]) {
                printf("thread %d, result %d: %d, expected %d\n", thread, i, got[thread][i], expected[i]);
                wrong++;
            }
        }
    }
    return wrong > 0;
}
