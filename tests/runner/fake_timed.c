// Attention as a C function that takes as long as US says, in microseconds of the fake GPU's clock, times (nq / 64)^2.
// Launches that are noise take twice as long: every NOISE-th of the first NOISE_LAUNCHES, or of all. PAUSE:
// milliseconds that each launch really takes. CRASH: the nq at which it crashes. With LACKING it cannot run here.
#include "attention.h"

#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

void fake_spend(double us);

static double number(const char *name, double otherwise) {
    const char *text = getenv(name);
    return text ? atof(text) : otherwise;
}

static void attend(const struct attention_problem *p, int head, int row) {
    int d = p->head_dim;
    const float *q = (const float *)p->q + head * p->q_stride.head + row * p->q_stride.row;
    const float *k = (const float *)p->k + head * p->k_stride.head, *v = (const float *)p->v + head * p->v_stride.head;
    float *o = (float *)p->o + head * p->o_stride.head + row * p->o_stride.row, weight[4096], maximum = -INFINITY;
    float sum = 0;
    for (int j = 0; j < p->nk; j++) {
        weight[j] = 0;
        for (int c = 0; c < d; c++)
            weight[j] += p->softmax_scale * q[c] * k[j * d + c];
        maximum = fmaxf(maximum, weight[j]);
    }
    for (int c = 0; c < d; c++)
        o[c] = 0;
    for (int j = 0; j < p->nk; j++) {
        weight[j] = expf(weight[j] - maximum);
        sum += weight[j];
        for (int c = 0; c < d; c++)
            o[c] += weight[j] * v[j * d + c];
    }
    for (int c = 0; c < d; c++)
        o[c] /= sum;
}

cudaError_t attention_forward(const struct attention_problem *p, cudaStream_t stream) {
    static unsigned launches, random;
    double us = number("US", 200) * p->nq * p->nk / 4096;
    (void)stream;
    if (p->nq == (int)number("CRASH", 0))
        raise(SIGSEGV);
    // An output is looked at where it was poisoned before: a NaN.
    if (isnan(*(const float *)p->o))
        for (int head = 0; head < p->heads; head++)
            for (int row = 0; row < p->nq; row++)
                attend(p, head, row);
    random = 1664525 * random + 1013904223;
    bool slow = random >> 16 < 655.36 * number("NOISE", 0) && launches++ < number("NOISE_LAUNCHES", 1e9);
    fake_spend(slow ? 2 * us : us);
    usleep((useconds_t)(1000 * number("PAUSE", 0)));
    return cudaSuccess;
}

#ifdef LACKING
static const char *unavailable(void) {
    return "a library is missing";
}
#endif

const struct attention_lesson attention_lesson = {
    .dtypes = 1u << ATTENTION_FP32,
    .max_head_dim = 512,
    .min_compute_capability = 75,
#ifdef LACKING
    .unavailable = unavailable,
#endif
};
