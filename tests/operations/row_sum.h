// The contract of a third operation, the sum over the rows of a matrix: it shows what one more costs.
#ifndef ROW_SUM_H
#define ROW_SUM_H

#include <cuda_runtime_api.h>
#include <stdint.h>

// out[r] = sum over c of in[r][c]. Device pointers, rows contiguous.
struct row_sum_problem {
    const float *in; // [rows][columns]
    float *out;      // [rows]
    int64_t rows;
    int columns;
};

#ifdef __cplusplus
extern "C" {
#endif

extern const int row_sum_version;
cudaError_t row_sum_forward(const struct row_sum_problem *problem, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
