// Runs the copy of ceilings.so on a CUDA runtime, here the simulator, at sizes that end anywhere, and compares. Prints
// too how many operations a thread of the multiply-adds says that it does.
#include "runner/ceilings.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

unsigned simulator_findings(void);

static int compare(cudaError_t (*copy)(const void *, void *, size_t, cudaStream_t), size_t bytes) {
    unsigned char *in = malloc(bytes), *out = malloc(bytes);
    void *from, *to;
    int same;
    for (size_t i = 0; i < bytes; i++)
        in[i] = (unsigned char)(i * 2654435761u >> 13);
    if (cudaMalloc(&from, bytes) || cudaMalloc(&to, bytes) || cudaMemcpy(from, in, bytes, cudaMemcpyHostToDevice) ||
        copy(from, to, bytes, NULL) || cudaDeviceSynchronize() || cudaMemcpy(out, to, bytes, cudaMemcpyDeviceToHost))
        return 0;
    same = !memcmp(in, out, bytes);
    printf("%zu bytes: %s\n", bytes, same ? "same" : "other");
    cudaFree(from);
    cudaFree(to);
    free(in);
    free(out);
    return same;
}

int main(int argc, char **argv) {
    static const size_t sizes[] = {16, 512 * 16, 513 * 16, 4 * 512 * 16 + 16, 12345 * 16, 1 << 22, (1 << 22) + 48};
    void *library = argc == 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
    cudaError_t (*copy)(const void *, void *, size_t, cudaStream_t);
    size_t (*threads)(void);
    double (*flops)(void);
    int good = library != NULL;
    if (library) {
        *(void **)&copy = dlsym(library, "ceiling_copy");
        *(void **)&threads = dlsym(library, "ceiling_fma_threads");
        *(void **)&flops = dlsym(library, "ceiling_fma_flops");
        printf("%.0f operations a thread\n", flops() / (double)threads());
    }
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && good; i++)
        good = compare(copy, sizes[i]);
    return good && !simulator_findings() ? 0 : 1;
}
