// What the simulator does not know, each where the macro of that name is defined: an error that names this file and the
// line.
#include <mma.h>

#ifdef special_register
__global__ void reads_register(unsigned *x) {
    asm volatile("mov.u32 %0, %%aggr_smem_size;" : "=r"(x[0])); // unknown: special_register
}
#endif

#ifdef several_gpus
__global__ void adds_on_all(unsigned *x) {
    asm volatile("multimem.red.add.u32 [%0], %1;" ::"l"(x), "r"(1)); // unknown: several_gpus
}
#endif

#ifdef half_bytes
__global__ void loads_half_bytes(const void *a, int *c) {
    using namespace nvcuda::wmma;
    fragment<matrix_a, 8, 8, 32, experimental::precision::u4, row_major> left;
    load_matrix_sync(left, a, 32); // unknown: half_bytes
    c[threadIdx.x] = left.x[0];
}
#endif
