// A heat stencil: tiles with a halo in shared memory, weights in constant memory, two alternating buffers, pitched
// rows.
#include "program.cuh"

#include <algorithm>
#include <cmath>
#include <utility>

constexpr int TILE = 16;
__constant__ float weight[3]; // centre, side, corner

__global__ void heat_step(const float *from, float *to, int width, int height, size_t pitch) {
    __shared__ float tile[TILE + 2][TILE + 2];
    const int left = blockIdx.x * TILE - 1, top = blockIdx.y * TILE - 1;
    for (int i = threadIdx.y * TILE + threadIdx.x; i < (TILE + 2) * (TILE + 2); i += TILE * TILE) {
        const int row = min(max(top + i / (TILE + 2), 0), height - 1);
        const int column = min(max(left + i % (TILE + 2), 0), width - 1);
        tile[i / (TILE + 2)][i % (TILE + 2)] = from[row * pitch + column];
    }
    __syncthreads();
    const int x = left + 1 + threadIdx.x, y = top + 1 + threadIdx.y;
    if (x >= width || y >= height)
        return;
    float sum = 0;
    for (int dy = 0; dy < 3; dy++)
        for (int dx = 0; dx < 3; dx++)
            sum += weight[abs(dy - 1) + abs(dx - 1)] * tile[threadIdx.y + dy][threadIdx.x + dx];
    to[y * pitch + x] = sum;
}

int main() {
    const int width = 50, height = 37, steps = 4;
    const float weights[3] = {0.25f, 0.125f, 0.0625f};
    std::vector<float> plate = whole_numbers(width * height, 1000), next(width * height);
    float *one, *two;
    size_t pitch;
    OK(cudaMallocPitch(&one, &pitch, width * sizeof(float), height));
    OK(cudaMallocPitch(&two, &pitch, width * sizeof(float), height));
    OK(cudaMemcpy2D(one, pitch, plate.data(), width * sizeof(float), width * sizeof(float), height,
                    cudaMemcpyHostToDevice));
    OK(cudaMemcpyToSymbol(weight, weights, sizeof weights));
    const dim3 grid((width + TILE - 1) / TILE, (height + TILE - 1) / TILE), block(TILE, TILE);
    for (int step = 0; step < steps; step++) {
        heat_step<<<grid, block>>>(one, two, width, height, pitch / sizeof(float));
        std::swap(one, two);
        for (int y = 0; y < height; y++) {
            for (int x = 0; x < width; x++) {
                double sum = 0;
                for (int dy = -1; dy <= 1; dy++)
                    for (int dx = -1; dx <= 1; dx++)
                        sum += weights[abs(dy) + abs(dx)] * plate[std::min(std::max(y + dy, 0), height - 1) * width +
                                                                  std::min(std::max(x + dx, 0), width - 1)];
                next[y * width + x] = (float)sum;
            }
        }
        std::swap(plate, next);
    }
    std::vector<float> result(width * height);
    OK(cudaMemcpy2D(result.data(), width * sizeof(float), one, pitch, width * sizeof(float), height,
                    cudaMemcpyDeviceToHost));
    for (int i = 0; i < width * height; i++)
        EXPECT(std::fabs(result[i] - plate[i]) < 1e-2f);
    return 0;
}
