// setmaxnreg within the registers that ptxas allocates by launch bounds: pool NAME. The last warpgroup releases
// registers, and the others request more.
#include "hopper.cuh"

#define KERNEL(name, bounds, fewer, more)                                                                              \
    __global__ void bounds name(int *out) {                                                                            \
        if (threadIdx.x / 128 == blockDim.x / 128 - 1)                                                                 \
            setmaxnreg_dec<fewer>();                                                                                   \
        else                                                                                                           \
            setmaxnreg_inc<more>();                                                                                    \
        out[threadIdx.x] = 1;                                                                                          \
    }

KERNEL(all_of_256, __launch_bounds__(256, 1), 40, 232)
KERNEL(few_of_256, __launch_bounds__(256, 1), 40, 160)
KERNEL(most_of_384, __launch_bounds__(384, 1), 24, 240)
KERNEL(maxnreg, __maxnreg__(128), 24, 232)
KERNEL(without_blocks, __launch_bounds__(256), 40, 232)
KERNEL(too_many, __launch_bounds__(384, 1), 40, 240)

int main(int argc, char **argv) {
    const struct {
        const char *name;
        void (*kernel)(int *);
        int threads;
    } kernels[] = {{"all_of_256", all_of_256, 256},   {"few_of_256", few_of_256, 256},
                   {"most_of_384", most_of_384, 384}, {"most_of_384", most_of_384, 256},
                   {"maxnreg", maxnreg, 256},         {"without_blocks", without_blocks, 256},
                   {"too_many", too_many, 384}};
    int *out;
    CHECK(cudaMalloc(&out, 384 * sizeof *out));
    for (const auto &one : kernels) {
        if (argc < 2 || strcmp(argv[1], one.name) != 0)
            continue;
        one.kernel<<<1, one.threads>>>(out);
        CHECK(cudaDeviceSynchronize());
    }
    return 0;
}
