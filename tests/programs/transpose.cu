// A matrix transpose through tiles with one padding column.
#include "program.cuh"

template <typename T>
__global__ void transpose(const T *from, T *to, int rows, int columns) {
    __shared__ T tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x;
    for (int y = blockIdx.y * 32 + threadIdx.y; y < min(rows, (int)blockIdx.y * 32 + 32); y += blockDim.y)
        if (x < columns)
            tile[y % 32][threadIdx.x] = from[y * columns + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    for (int y = blockIdx.x * 32 + threadIdx.y; y < min(columns, (int)blockIdx.x * 32 + 32); y += blockDim.y)
        if (x < rows)
            to[y * rows + x] = tile[threadIdx.x][y % 32];
}

template <typename T>
static void transposes(int rows, int columns) {
    std::vector<T> matrix(rows * columns);
    for (int i = 0; i < rows * columns; i++)
        matrix[i] = (T)(i * 3 + 1);
    const T *from = to_device(matrix);
    T *to = zeros<T>(rows * columns);
    transpose<<<dim3((columns + 31) / 32, (rows + 31) / 32), dim3(32, 8)>>>(from, to, rows, columns);
    const std::vector<T> result = to_host(to, rows * columns);
    for (int row = 0; row < rows; row++)
        for (int column = 0; column < columns; column++)
            EXPECT(result[column * rows + row] == matrix[row * columns + column]);
}

int main() {
    transposes<float>(64, 96);
    transposes<double>(45, 70);
    transposes<unsigned char>(33, 31);
    return 0;
}
