// Blocks that store equal values to the same elements concurrently, so the order has no effect; and blocks that add to
// elements which an earlier launch initialized.
#include "program.cuh"

constexpr int PLACES = 20000;

// One lane of a warp at a time, so that the stores of two blocks overlap.
__global__ void store_equal(int *out, int value) {
    if (threadIdx.x % 32 == 0)
        for (int i = threadIdx.x / 32; i < PLACES; i += blockDim.x / 32)
            out[i] = value + i;
}

constexpr int EACH = 10; // elements that two neighbouring blocks share

__global__ void set(int *out, int value) {
    if (threadIdx.x < EACH)
        out[blockIdx.x * EACH + threadIdx.x] = value;
}

__global__ void add(int *out) {
    if (threadIdx.x < EACH)
        atomicAdd(&out[blockIdx.x / 2 * EACH + threadIdx.x], (int)threadIdx.x);
}

int main() {
    int *out = zeros<int>(PLACES);
    for (int value = 1; value <= 12; value++) {
        store_equal<<<2, 64>>>(out, value);
        std::vector<int> expected(PLACES);
        for (int i = 0; i < PLACES; i++)
            expected[i] = value + i;
        EXPECT(to_host(out, PLACES) == expected);
    }
    for (int value = 1; value <= 12; value++) {
        set<<<PLACES / EACH, 32>>>(out, value);
        add<<<2 * PLACES / EACH, 32>>>(out);
        std::vector<int> expected(PLACES);
        for (int i = 0; i < PLACES; i++)
            expected[i] = value + 2 * (i % EACH);
        EXPECT(to_host(out, PLACES) == expected);
    }
    return 0;
}
