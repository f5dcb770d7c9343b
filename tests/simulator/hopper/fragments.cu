// Accesses to registers of a wgmma in flight: fragments NAME. In handwritten PTX, because nvcc allocates another
// register for a later write.
#include "hopper.cuh"

#define PRODUCT "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, {r, r, r, r}, %5, 1, 1, 1, 0;\n"
#define COMMIT "wgmma.commit_group.sync.aligned;\n"
#define WAIT "wgmma.wait_group.sync.aligned 0;\n"
#define FENCE "wgmma.fence.sync.aligned;\n"

#define KERNEL(name, before, between, after)                                                                           \
    __global__ void name(float *out) {                                                                                 \
        __shared__ __align__(128) uint32_t b[64];                                                                      \
        if (threadIdx.x < 64)                                                                                          \
            b[threadIdx.x] = 0x3f803f80; /* ones */                                                                    \
        fence_proxy_async();                                                                                           \
        __syncthreads();                                                                                               \
        float d[4] = {};                                                                                               \
        asm volatile("{.reg .b32 r, s;\n mov.b32 r, %4;\n mov.b32 s, 0;\n" before PRODUCT COMMIT between WAIT after    \
                     "}"                                                                                               \
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                                  \
                     : "r"(0x3f803f80), "l"(descriptor(smem(b), 128, 128, 0))                                          \
                     : "memory");                                                                                      \
        out[threadIdx.x] = d[0] + d[1] + d[2] + d[3];                                                                  \
    }

KERNEL(right, FENCE, "add.u32 s, r, 1;\n", "mov.b32 r, s;\n")
KERNEL(fragment_written, FENCE, "mov.b32 r, s;\n", "")
KERNEL(fragment_added_to, FENCE, "add.u32 r, r, 1;\n", "")
KERNEL(fragment_of_one_lane, FENCE,
       "{.reg .pred p; .reg .b32 t; mov.u32 t, %%tid.x; setp.ne.u32 p, t, 5; @!p mov.b32 r, s;}\n", "")
KERNEL(sum_written, FENCE, "mov.f32 %1, 0f00000000;\n", "")
KERNEL(sum_written_after, FENCE, "", "mov.f32 %1, %0;\n")
KERNEL(no_fence, "", "", "")

int main(int argc, char **argv) {
    const struct {
        const char *name;
        void (*kernel)(float *);
    } kernels[] = {{"right", right},
                   {"fragment_written", fragment_written},
                   {"fragment_added_to", fragment_added_to},
                   {"fragment_of_one_lane", fragment_of_one_lane},
                   {"sum_written", sum_written},
                   {"sum_written_after", sum_written_after},
                   {"no_fence", no_fence}};
    float *out, sum;
    CHECK(cudaMalloc(&out, 128 * sizeof *out));
    for (const auto &one : kernels) {
        if (argc < 2 || strcmp(argv[1], one.name) != 0)
            continue;
        one.kernel<<<1, 128>>>(out);
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaMemcpy(&sum, out, sizeof sum, cudaMemcpyDeviceToHost));
        return sum != 64;
    }
    return 2;
}
