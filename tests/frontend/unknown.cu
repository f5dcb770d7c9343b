// What the simulator does not know, each where the macro of that name is defined: an error that names this file and the
// line.
#include <mma.h>

#ifdef special_register
__global__ void reads_register(unsigned *x) {
    asm volatile("mov.u32 %0, %%aggr_smem_size;" : "=r"(x[0])); // unknown: special_register
}
#endif

#ifdef byte_differences
__global__ void sums_differences(unsigned *x) {
    x[0] = __vsadu4(x[1], x[2]); // unknown: byte_differences
}
#endif

#ifdef matrix_accumulate
__global__ void multiplies(const half *a, float *c) {
    using namespace nvcuda;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
    wmma::fill_fragment(sums, 0.0f);
    wmma::load_matrix_sync(left, a, 16); // unknown: matrix_accumulate
    wmma::mma_sync(sums, left, wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major>(), sums);
    wmma::store_matrix_sync(c, sums, 16, wmma::mem_row_major);
}
#endif
