// A lesson's kernel from C: 128 queries and keys of one head in bf16. All values are 3, and so must be the output.
// README.md has the commands that build and run it, on a GPU and on the simulator.
#include "attention.h"

#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 128, HEAD_DIM = 64, ELEMENTS = ROWS * HEAD_DIM };
static const uint16_t ONE = 0x3f80, THREE = 0x4040; // bf16 is the upper half of a float

static void require(cudaError_t error) {
    if (error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver)
        fprintf(stderr, "error: no GPU answers; on the simulator: LD_LIBRARY_PATH=build/simulator ... [no-gpu]\n");
    else if (error != cudaSuccess)
        fprintf(stderr, "error: %s [cuda-error]\n", cudaGetErrorString(error));
    if (error != cudaSuccess)
        exit(1);
}

int main(void) {
    static uint16_t host[ELEMENTS];
    void *device[4]; // q, k, v, o
    for (int t = 0; t < 4; t++) {
        for (int i = 0; i < ELEMENTS; i++)
            host[i] = t == 2 ? THREE : ONE + i % 61;
        require(cudaMalloc(&device[t], sizeof host));
        require(cudaMemcpy(device[t], host, sizeof host, cudaMemcpyHostToDevice));
    }
    struct attention_problem p = {.nq = ROWS, .nk = ROWS, .head_dim = HEAD_DIM, .softmax_scale = 0.125f};
    p.q = device[0], p.k = device[1], p.v = device[2], p.o = device[3], p.dtype = ATTENTION_BF16;
    p.batch = p.heads = p.kv_heads = 1;
    p.q_stride = p.k_stride = p.v_stride = p.o_stride = (struct attention_strides){ELEMENTS, ELEMENTS, HEAD_DIM};
    require(attention_forward(&p, NULL));
    require(cudaMemcpy(host, device[3], sizeof host, cudaMemcpyDeviceToHost));
    int wrong = 0;
    for (int i = 0; i < ELEMENTS; i++)
        wrong += host[i] != THREE;
    printf("%d of %d elements wrong\n", wrong, ELEMENTS);
    return wrong != 0;
}
