// Declarations shared by the files of the program.
#pragma once

extern __device__ int counter;
extern __constant__ int limits[2];
extern __device__ int of_main;
__device__ int of_other_file(int x);
int count_in_other_file();
void conditions(); // conditions.cu

// Defined in two files; the linker keeps one definition.
template <typename T>
__device__ __noinline__ T larger(T x, T y) {
    return x > y ? x : y;
}
