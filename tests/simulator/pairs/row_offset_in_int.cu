// The offset of a row has 64 bits; the matrix has more than 2^31 bytes.
#include <cstdio>

__global__ void mark_rows(unsigned char *matrix, int pitch, int first_row, int rows) {
    const int row = first_row + blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows)
        matrix[(size_t)row * pitch] = row % 251;
}

int main() {
    const int rows = 65600, pitch = 33000, marked = 1024;
    unsigned char *matrix, last = 0;
    if (cudaMalloc(&matrix, (size_t)rows * pitch) != cudaSuccess)
        return 2;
    mark_rows<<<marked / 256, 256>>>(matrix, pitch, rows - marked, rows);
    const cudaError_t error = cudaMemcpy(&last, matrix + (size_t)(rows - 1) * pitch, 1, cudaMemcpyDeviceToHost);
    printf("%s, last mark %d, expected %d\n", cudaGetErrorName(error), last, (rows - 1) % 251);
    return error != cudaSuccess || last != (rows - 1) % 251;
}
