// Launches a lesson's kernel many times on the same inputs and compares output and log-sum-exp bit for bit.
//
//   repeats TIMES gpu|sim NAME KERNEL.so [FIRST.so]     sim: small shapes, which the simulator computes in moments
//
// FIRST.so: another kernel, whose first launch gives the bits that all launches of KERNEL.so have to give.
//
// Prints one line. Exit status: 0 all launches gave the same bits; 1 some did not; 2 it could not be tried.
#include "problem.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Whole tiles that fill a GPU several times, ragged ones, more queries than keys, few heads of many keys.
static const struct shape for_gpu[] = {
    {4, 16, 16, 1024, 1024, 64, 0}, {4, 16, 16, 1024, 1024, 128, 1}, {2, 8, 2, 777, 1333, 128, 1},
    {3, 5, 5, 333, 77, 96, 1},      {1, 1, 1, 512, 8192, 64, 0},     {1, 300, 300, 65, 129, 40, 0},
};
static const struct shape for_simulator[] = {{1, 2, 2, 70, 130, 64, 0}, {1, 2, 1, 33, 150, 40, 1}};

static bool covers(const struct attention_lesson *lesson, const struct shape *s, enum attention_dtype dtype) {
    return lesson->dtypes & 1u << dtype && s->head_dim <= lesson->max_head_dim && (!s->causal || lesson->causal) &&
           (s->heads == s->kv_heads || lesson->grouped_heads) &&
           (!lesson->alignment || s->head_dim % lesson->alignment == 0);
}

// How many launches differ from the first one, which is that of `before`.
static int count_differing(attention_function *before, attention_function *forward,
                           const struct attention_lesson *lesson, const struct shape *s, enum attention_dtype dtype,
                           int times) {
    size_t bytes;
    struct attention_problem p = make_problem(lesson, s, dtype, &bytes);
    unsigned char *first = malloc(bytes), *now = malloc(bytes);
    if (!first || !now)
        exit(2);
    int differing = 0;
    for (int i = 0; i < times; i++) {
        require(cudaMemset(p.o, 0xff, bytes), "cudaMemset");
        require((i ? forward : before)(&p, NULL), "attention_forward");
        require(cudaMemcpy(i ? now : first, p.o, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
        differing += i && memcmp(first, now, bytes) != 0;
    }
    free_problem(&p);
    free(first);
    free(now);
    return differing;
}

int main(int argc, char **argv) {
    int times = argc == 5 || argc == 6 ? atoi(argv[1]) : 0;
    if (times < 2) {
        fprintf(stderr, "usage: repeats TIMES gpu|sim NAME KERNEL.so [FIRST.so], two times or more\n");
        return 2;
    }
    void *library = dlopen(argv[4], RTLD_NOW | RTLD_LOCAL);
    attention_function *forward = library ? (attention_function *)dlsym(library, "attention_forward") : NULL;
    const struct attention_lesson *lesson = library ? dlsym(library, "attention_lesson") : NULL;
    void *first = argc == 6 ? dlopen(argv[5], RTLD_NOW | RTLD_LOCAL) : library;
    attention_function *before = first ? (attention_function *)dlsym(first, "attention_forward") : NULL;
    if (!forward || !lesson || !before) {
        fprintf(stderr, "repeats: %s\n", dlerror());
        return 2;
    }
    const char *why_not = obstacle(lesson);
    if (why_not) {
        printf("%-24s %s\n", argv[3], why_not);
        return 0;
    }
    bool sim = !strcmp(argv[2], "sim");
    const struct shape *shape = sim ? for_simulator : for_gpu;
    int shapes = (int)(sim ? sizeof for_simulator : sizeof for_gpu) / (int)sizeof *shape, tried = 0, differing = 0;
    for (int type = ATTENTION_FP32; type <= ATTENTION_BF16; type++)
        for (int i = 0; i < shapes; i++) {
            if (!covers(lesson, &shape[i], (enum attention_dtype)type))
                continue;
            tried++;
            differing += count_differing(before, forward, lesson, &shape[i], (enum attention_dtype)type, times) > 0;
        }
    if (differing)
        printf("%-24s other bits in some launch of %d, of %d of %d shapes and types\n", argv[3], times, differing,
               tried);
    else
        printf("%-24s the same bits in %d launches, of %d shapes and types\n", argv[3], times, tried);
    return differing || !tried;
}
