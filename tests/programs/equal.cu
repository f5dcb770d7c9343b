// Blocks that store the same values to the same places, at the same time: nobody can tell who was last.
#include "program.cuh"

constexpr int PLACES = 20000;

// One lane of a warp at a time, so that the stores of two blocks meet.
__global__ void store_equal(int *out, int value) {
    if (threadIdx.x % 32 == 0)
        for (int i = threadIdx.x / 32; i < PLACES; i += blockDim.x / 32)
            out[i] = value + i;
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
    return 0;
}
