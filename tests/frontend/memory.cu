// Every state space, vector accesses, cache operators, atomics, structures by value, tables of addresses.
#include <cstdint>

struct mixed {
    char c;
    float f;
    const float *p;
    short s[3];
    double d;
};
#pragma pack(push, 1)
struct packed {
    char c;
    const int *p;
    short s;
};
#pragma pack(pop)

__device__ int counters[4] = {1, 2, 3, 4};
__device__ int *second = &counters[1];
__device__ packed odd = {7, counters + 2, -3};
__device__ const char *words[] = {"one", "two", "three"};
__device__ float matrix[2][3] = {{1.5f, -2.0f, 0.0f}, {3.0f}};
__device__ double big = 1e300;
__constant__ mixed table[2] = {{'a', 1.0f, nullptr, {1, 2, 3}, 2.0}, {'b', 2.0f, nullptr, {4, 5, 6}, 4.0}};
__constant__ float weights[64];
__device__ volatile int flag;
__managed__ int shared_with_host = 5;
extern __shared__ float4 dynamic[];

__global__ void spaces(float *out, mixed by_value, int n) {
    __shared__ float tile[32][33];
    __shared__ mixed shared_struct;
    float local[40];
    for (int i = 0; i < n; i++)
        local[i % 40] = weights[i & 63] + table[i & 1].s[i % 3];
    tile[threadIdx.x][threadIdx.y] = local[n % 40] + matrix[n & 1][n % 3];
    dynamic[threadIdx.x] = make_float4(1, 2, 3, by_value.d);
    shared_struct = by_value;
    __syncthreads();
    out[0] = tile[threadIdx.y][threadIdx.x] + dynamic[threadIdx.y].z + shared_struct.s[n % 3] + *second + odd.s +
             *odd.p + words[n % 3][0] + big + by_value.s[n % 3];
    flag = 1;
    while (flag != 2)
        __nanosleep(20);
    shared_with_host++;
    *second = (int)(intptr_t)&tile[n][0];
}

__global__ void generic(int which, float *global) {
    __shared__ float shared[32];
    float local[8] = {};
    float *p = which == 0 ? global : which == 1 ? shared : local;
    p[which] = 3;
    __syncthreads();
    global[1] = shared[0] + local[which] + __isShared(p) + __isGlobal(p) + __isLocal(p) + __isConstant(p);
    global[2] = (float)__cvta_generic_to_shared(shared) + (float)__cvta_generic_to_global(global);
}

__global__ void vectors(float4 *a, double2 *b, int2 *c, uchar4 *d, short4 *e, longlong2 *f, char2 *g, uint3 *h) {
    a[0] = a[1];
    b[0] = b[1];
    c[0] = __ldg(&c[1]);
    d[0] = __ldcs(&d[1]);
    e[0] = __ldca(&e[1]);
    f[0] = __ldcg(&f[1]);
    g[0] = __ldcv(&g[1]);
    h[0] = h[1];
    __stcs(&a[2], a[3]);
    __stcg(&c[2], c[3]);
    __stwt(&b[2], b[3]);
    __stwb(&d[2], d[3]);
}

template <typename T>
__device__ void integer_atomics(T *x) {
    x[0] = atomicAdd(x, x[1]) + atomicMin(x, x[2]) + atomicMax(x, x[3]) + atomicAnd(x, x[4]) + atomicOr(x, x[5]) +
           atomicXor(x, x[6]) + atomicExch(x, x[7]) + atomicCAS(x, x[8], x[9]);
}

__global__ void atomics(unsigned *u, int *i, unsigned long long *m, float *f, double *d, unsigned short *s) {
    __shared__ unsigned shared;
    shared = 0;
    integer_atomics(u);
    integer_atomics(m);
    i[0] = atomicAdd(i, 3) + atomicSub(i, 2) + atomicMin(i, 4) + atomicMax(i, 5) + atomicCAS(i, 1, 2);
    u[10] = atomicInc(u, 12) + atomicDec(u, 13) + atomicAdd(&shared, 1u) + atomicCAS(&shared, 1u, 2u);
    f[0] = atomicAdd(f, 1.5f) + atomicExch(f, 2.0f);
    d[0] = atomicAdd(d, 1.5);
    s[0] = atomicCAS(s, 1, 2);
    atomicAdd(&f[1], 2.0f);
    atomicAdd(&u[3], 1u);
    atomicAdd_block(&u[4], 1u);
    atomicAdd_system(&u[5], 1u);
    __threadfence();
    __threadfence_block();
    __threadfence_system();
}
