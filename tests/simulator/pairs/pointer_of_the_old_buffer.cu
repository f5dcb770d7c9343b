// The host enlarges a buffer, frees the old one and updates the table of addresses in device memory.
#include <cstdio>

__global__ void append(int *const *columns, const int *used, int column, int value) {
    columns[column][used[column] + threadIdx.x] = value + threadIdx.x;
}

int main() {
    const int columns = 3, small = 64, large = 256;
    int *buffers[columns], **table, *used, host[large], sizes[columns] = {0, 64, 0};
    cudaMalloc(&table, sizeof buffers);
    cudaMalloc(&used, sizeof sizes);
    for (int c = 0; c < columns; c++) {
        cudaMalloc(&buffers[c], small * sizeof(int));
        cudaMemset(buffers[c], 0, small * sizeof(int));
    }
    cudaMemcpy(table, buffers, sizeof buffers, cudaMemcpyHostToDevice);
    cudaMemcpy(used, sizes, sizeof sizes, cudaMemcpyHostToDevice);

    int *larger;
    cudaMalloc(&larger, large * sizeof(int));
    cudaMemset(larger, 0, large * sizeof(int));
    cudaMemcpy(larger, buffers[1], small * sizeof(int), cudaMemcpyDeviceToDevice);
    cudaFree(buffers[1]);
    buffers[1] = larger;
    cudaMemcpy(table, buffers, sizeof buffers, cudaMemcpyHostToDevice);

    sizes[1] = 32;
    cudaMemcpy(used, sizes, sizeof sizes, cudaMemcpyHostToDevice);
    append<<<1, 32>>>(table, used, 1, 100);
    const cudaError_t error = cudaMemcpy(host, buffers[1], large * sizeof(int), cudaMemcpyDeviceToHost);
    printf("%s, element 40 is %d, expected 108\n", cudaGetErrorName(error), host[40]);
    return error != cudaSuccess || host[40] != 108;
}
