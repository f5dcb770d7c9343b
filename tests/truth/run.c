// Runs every form of the truth suite on the device that the CUDA runtime finds, and writes what it computed.
//
//   truth-run DIRECTORY [NAME...]     all forms, or those named
//
// DIRECTORY/results.csv has a row a form: how it is compared, a hash of all its result's bytes, and where its sample
// lies in DIRECTORY/results.bin: the first EXACT_SAMPLE elements of a form that is compared bit for bit (enough to see
// what is wrong where the hash differs), all elements of the others.
#include "truth.h"

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXACT_SAMPLE = 64 };

static const struct truth_form *const tables[] = {truth_integer, truth_real,        truth_half,
                                                  truth_convert, truth_approximate, truth_warp,
                                                  truth_memory,  truth_atomic,      truth_matrix};
static const char *const comparison_names[] = {"exact", "relative", "absolute", "ulp", "logarithm", "near"};

static uint64_t fnv1a(const uint8_t *bytes, size_t count) {
    uint64_t hash = 0xcbf29ce484222325;
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3;
    return hash;
}

#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        const cudaError_t status = call;                                                                               \
        if (status != cudaSuccess)                                                                                     \
            return status;                                                                                             \
    } while (0)

static cudaError_t run_form(const struct truth_form *form, void *result_host) {
    static uint64_t values[TRUTH_ELEMENTS]; // large enough for every type
    static void *result, *input[3];
    const size_t most = TRUTH_ELEMENTS * sizeof(uint64_t), bytes = TRUTH_ELEMENTS * truth_type_bytes(form->result);
    if (!result) {
        TRY(cudaMalloc(&result, most));
        for (int k = 0; k < 3; k++)
            TRY(cudaMalloc(&input[k], most));
    }
    TRY(cudaMemset(result, 0, most));
    for (int k = 0; k < 3; k++) {
        truth_fill(form->input[k], k, values);
        TRY(cudaMemcpy(input[k], values, most, cudaMemcpyHostToDevice));
    }
    void *arguments[] = {&result, &input[0], &input[1], &input[2]};
    const dim3 grid = {TRUTH_ELEMENTS / TRUTH_BLOCK, 1, 1}, block = {TRUTH_BLOCK, 1, 1};
    TRY(cudaLaunchKernel(form->kernel, grid, block, arguments, 0, NULL));
    TRY(cudaDeviceSynchronize());
    return cudaMemcpy(result_host, result, bytes, cudaMemcpyDeviceToHost);
}

static bool is_wanted(const char *name, int names, char **wanted) {
    for (int i = 0; i < names; i++)
        if (strcmp(name, wanted[i]) == 0)
            return true;
    return names == 0;
}

static FILE *create(const char *directory, const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "wb");
    if (!file) {
        perror(path);
        exit(2);
    }
    return file;
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: %s DIRECTORY [FORM...]\n", argv[0]);
        return 2;
    }
    int devices = 0;
    const cudaError_t found = cudaGetDeviceCount(&devices);
    if (found != cudaSuccess || devices == 0) {
        fprintf(stderr, "%s: no device: %s\n", argv[0], cudaGetErrorString(found));
        return 2;
    }
    FILE *table = create(argv[1], "results.csv"), *samples = create(argv[1], "results.bin");
    fprintf(table, "form,compared,bound,type,a,b,c,elements,hash,offset\n");
    int forms = 0, failed = 0;
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
        for (const struct truth_form *form = tables[t]; form->name; form++) {
            if (!is_wanted(form->name, argc - 2, argv + 2))
                continue;
            static uint8_t result[TRUTH_ELEMENTS * sizeof(uint64_t)];
            const cudaError_t status = run_form(form, result);
            forms++;
            if (status != cudaSuccess) {
                fprintf(stderr, "%s: %s\n", form->name, cudaGetErrorString(status));
                fprintf(table, "%s,error,0,0,0,0,0,0,0,0\n", form->name);
                cudaGetLastError();
                failed++;
                continue;
            }
            const size_t size = truth_type_bytes(form->result);
            const size_t kept = form->comparison == TRUTH_EXACT ? EXACT_SAMPLE : TRUTH_ELEMENTS;
            fprintf(table, "%s,%s,%a,%d,%d,%d,%d,%zu,%016llx,%ld\n", form->name, comparison_names[form->comparison],
                    form->bound, form->result, form->input[0], form->input[1], form->input[2], kept,
                    (unsigned long long)fnv1a(result, TRUTH_ELEMENTS * size), ftell(samples));
            fwrite(result, size, kept, samples);
        }
    }
    if (fclose(table) != 0 || fclose(samples) != 0) {
        perror(argv[1]);
        return 2;
    }
    printf("%d forms run, %d failed\n", forms, failed);
    return failed == 0 ? 0 : 1;
}
