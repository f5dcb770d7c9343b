// The other file of main.cu.
#include "linked.cuh"
#include "program.cuh"

static __device__ int same_name(int x) {
    return 2 * x;
}

__device__ int counter = 40;
__constant__ int limits[2] = {6, 7};

__device__ int of_other_file(int x) {
    return same_name(x) * larger(0, of_main - 4);
}

__global__ void count(int *result) {
    *result = ++counter;
    printf("%d %s\n", *result, "is counted");
}

int count_in_other_file() {
    int *result = zeros<int>(1);
    count<<<1, 1>>>(result);
    return to_host(result, 1)[0];
}
