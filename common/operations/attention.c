#include "operations/attention_operation.h"
#include "operations/coverage.h"

#include "attention.h"
#include "host/parallel.h"
#include "host/tolerance.h"
#include "operations/attention_explain.h"
#include "operations/attention_reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Warm inputs are timed up to here; beyond it they would not stay in any GPU's L2 cache.
enum { MOST_WARM_KEYS = 4096, MOST_WARM_BYTES = 1 << 27 };

// ---- The contract, attention.h -----------------------------------------------------------------------------------

static unsigned dtypes(const void *contract) {
    return ((const struct attention_lesson *)contract)->dtypes;
}

static const char *lacking(const void *contract) {
    const struct attention_lesson *lesson = contract;
    return lesson->unavailable ? lesson->unavailable() : NULL;
}

static bool writes_lse(const void *contract) {
    return ((const struct attention_lesson *)contract)->lse;
}

static bool repeats(const void *contract) {
    return ((const struct attention_lesson *)contract)->deterministic;
}

static struct attention_strides strides(const struct host_tensor *tensor) {
    const int64_t *s = tensor->layout.stride;
    return (struct attention_strides){s[0], s[1], s[2]};
}

static void describe(const struct host_problem *host, void *const *data, void *workspace, void *call) {
    const struct attention_shape *s = &host->which.attention;
    *(struct attention_problem *)call = (struct attention_problem){
        .q = data[Q],
        .k = data[K],
        .v = data[V],
        .o = data[O],
        .lse = data[LSE],
        .workspace = workspace,
        .q_stride = strides(&host->tensor[Q]),
        .k_stride = strides(&host->tensor[K]),
        .v_stride = strides(&host->tensor[V]),
        .o_stride = strides(&host->tensor[O]),
        .batch = s->batch,
        .heads = s->heads,
        .kv_heads = s->kv_heads,
        .nq = s->nq,
        .nk = s->nk,
        .head_dim = s->head_dim,
        .causal = s->causal,
        .softmax_scale = host->softmax_scale,
        .dtype = host->which.dtype,
    };
}
_Static_assert(sizeof(struct attention_problem) <= CONTRACT_BYTES, "CONTRACT_BYTES is too small");

static cudaError_t launch(void *forward, const void *call, cudaStream_t stream) {
    cudaError_t (*attention_forward)(const struct attention_problem *, cudaStream_t);
    *(void **)&attention_forward = forward;
    return attention_forward(call, stream);
}

// The problem without its tensors, for what depends on its sizes.
static struct attention_problem sizes(const struct problem_case *which) {
    struct host_problem host;
    struct attention_problem problem;
    void *data[MAX_TENSORS] = {NULL};
    attention_make(which, 0, false, &host);
    describe(&host, data, NULL, &problem);
    host_problem_free(&host);
    return problem;
}

static size_t workspace_bytes(const void *contract, const struct problem_case *which) {
    const struct attention_lesson *lesson = contract;
    struct attention_problem problem = sizes(which);
    return lesson->workspace_bytes ? lesson->workspace_bytes(&problem) : 0;
}

static bool rows_are_multiples(const struct attention_problem *p, int multiple, const char *name,
                               struct message *reason) {
    const struct attention_strides strides[] = {p->q_stride, p->k_stride, p->v_stride, p->o_stride};
    if (p->head_dim % multiple)
        return message_set(reason, "%s takes head dimensions that are multiples of %d, not %d", name, multiple,
                           p->head_dim);
    for (int i = 0; i < 4; i++)
        if (strides[i].batch % multiple || strides[i].head % multiple || strides[i].row % multiple)
            return message_set(reason, "%s takes strides that are multiples of %d, and %c has %lld,%lld,%lld", name,
                               multiple, "qkvo"[i], (long long)strides[i].batch, (long long)strides[i].head,
                               (long long)strides[i].row);
    return true;
}

static bool covers(const void *contract, const char *name, const struct problem_case *which,
                   const struct device_limits *limits, struct obstacle *obstacle) {
    const struct attention_lesson *lesson = contract;
    struct message *reason = &obstacle->reason;
    const struct attention_coverage covered = {.strided = lesson->strided,
                                               .grouped_heads = lesson->grouped_heads,
                                               .causal = lesson->causal,
                                               .positive_scale = lesson->positive_scale,
                                               .max_head_dim = lesson->max_head_dim};
    *obstacle->part = 0;
    if (!is_dtype_covered(lesson->dtypes, name, which, obstacle) ||
        !is_attention_covered(&covered, name, which, obstacle))
        return false;
    struct attention_problem problem = sizes(which);
    if (lesson->alignment && !rows_are_multiples(&problem, lesson->alignment, name, reason)) {
        snprintf(obstacle->part, sizeof obstacle->part, "head dimensions that are no multiples of %d",
                 lesson->alignment);
        return false;
    }
    return is_new_enough(limits, lesson->min_compute_capability, name, reason) &&
           has_shared_memory(limits, lesson->shared_bytes ? lesson->shared_bytes(&problem) : 0, name, reason);
}

// ---- Judging ----------------------------------------------------------------------------------------------------

static double row_cost(const struct problem_case *which) {
    return 2.0 * which->attention.nk * which->attention.head_dim;
}

static void *refer(const struct host_problem *problem, const struct row_sample *sample) {
    struct attention_reference *reference = host_allocate(1, sizeof *reference);
    *reference = attention_refer(problem, sample);
    return reference;
}

static void release(void *reference) {
    attention_reference_free(reference);
    free(reference);
}

static void expect(const struct host_problem *problem, const void *opaque, int output, int64_t index,
                   struct expected_row *row) {
    const struct attention_reference *r = opaque;
    int d = r->head_dim;
    if (output == OUTPUT_LSE) {
        row->value[0] = r->lse[index];
        row->bound[0] =
            tolerance_lse(problem->which.dtype, r->lse[index], r->score_scale[index], problem->softmax_scale, d) +
            r->summation[index].worst;
        row->size[0] = NAN;
        return;
    }
    for (int c = 0; c < d; c++) {
        double value = r->o[index * d + c], a = r->a[index * d + c];
        row->value[c] = value;
        row->bound[c] =
            tolerance_attention(problem->which.dtype, value, a, r->score_scale[index], problem->softmax_scale, d) +
            tolerance_sums(&r->summation[index], value, a);
        row->size[c] = attention_size(r, index, c);
    }
}

static double rms_limit(const struct host_problem *problem, const void *opaque, int output, int64_t rows) {
    const struct attention_reference *r = opaque;
    if (output != OUTPUT_O)
        return INFINITY;
    return tolerance_rms(problem->which.dtype, r->walk, problem->softmax_scale, r->head_dim,
                         problem->which.attention.nk, r->sum_walk, rows) +
           r->sum_drift;
}

static void describe_element(const struct problem_case *which, int output, int64_t row, int column, char *text,
                             size_t size) {
    const struct attention_shape *s = &which->attention;
    long long head = row / s->nq % s->heads, batch = row / s->nq / s->heads, query = row % s->nq;
    if (output == OUTPUT_LSE)
        snprintf(text, size, "[%lld][%lld][%lld] (batch, head, query)", batch, head, query);
    else
        snprintf(text, size, "[%lld][%lld][%lld][%d] (batch, head, query, element)", batch, head, query, column);
}

static int64_t group(const struct problem_case *which) {
    return which->attention.nq;
}

static void group_text(const struct problem_case *which, int64_t head, char *text, size_t size) {
    snprintf(text, size, "batch %lld head %lld", (long long)(head / which->attention.heads),
             (long long)(head % which->attention.heads));
}

// ---- Timing -----------------------------------------------------------------------------------------------------

int attention_plan(const struct arguments *a, enum attention_dtype dtype, struct problem_case *cases) {
    static const int head_dims[] = {64, 128}, sizes_fp32[] = {256, 512, 1024, 2048, 4096, 8192},
                     sizes_16[] = {512, 1024, 2048, 4096, 8192, 16384}, quick[] = {1024};
    enum { TOKENS = 16384, WIDTH = 2048, HEADS = 16 }; // of the grid that the FlashAttention papers use: B N, and H D
    bool is_fp32 = dtype == ATTENTION_FP32;
    const int *size = a->sizes ? a->size : a->quick ? quick : is_fp32 ? sizes_fp32 : sizes_16;
    int sizes = a->sizes ? a->sizes : a->quick ? 1 : 6, count = 0;
    if (a->has_shape) {
        cases[0] = (struct problem_case){.attention = a->shape.attention, .dtype = dtype};
        return 1;
    }
    // In 16 bits with and without a mask, which halves the work there.
    for (int causal = a->causal; causal <= (is_fp32 ? a->causal : 1); causal++)
        for (int d = 0; d < 2; d++)
            for (int i = 0; i < sizes; i++) {
                int n = size[i], batch = is_fp32 || n > TOKENS ? 1 : TOKENS / n;
                int heads = is_fp32 ? HEADS : WIDTH / head_dims[d];
                cases[count++] = (struct problem_case){
                    .attention = {batch, heads, heads, n, n, head_dims[d], causal, a->layout.layout}, .dtype = dtype};
            }
    return count;
}

static double flops(const struct problem_case *which) {
    return shape_flops(&which->attention);
}

static double bytes(const struct problem_case *which) {
    return shape_bytes(&which->attention, dtype_of(which->dtype)->size);
}

static bool warm(const struct problem_case *which) {
    return which->attention.nk <= MOST_WARM_KEYS && bytes(which) <= MOST_WARM_BYTES;
}

static bool column(const struct problem_case *which, const char *name, char *text, size_t size) {
    const struct attention_shape *s = &which->attention;
    const struct {
        const char *name;
        int value;
    } numbers[] = {{"B", s->batch}, {"H", s->heads},    {"Hkv", s->kv_heads}, {"Nq", s->nq},
                   {"Nk", s->nk},   {"D", s->head_dim}, {"causal", s->causal}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!strcmp(name, numbers[i].name)) {
            snprintf(text, size, "%d", numbers[i].value);
            return true;
        }
    if (strcmp(name, "layout"))
        return false;
    char strides[LAYOUT_TEXT];
    layout_text(s, strides);
    for (char *comma = strides; (comma = strchr(comma, ','));)
        *comma = ':'; // in a CSV file
    snprintf(text, size, "%s", *strides ? strides : "bhnd");
    return true;
}

const struct operation attention_operation = {
    .name = "attention",
    .forward = "attention_forward",
    .contract = "attention_lesson",
    .header = "common/attention.h",
    .trace_shape = "1,1,256,64",
    .profile_shape = "1,16,1024,64",
    .work_shape = "1,16,4096,64",
    .explore_shape = "1,1,128,64",
    .dtypes = dtypes,
    .lacking = lacking,
    .covers = covers,
    .writes_optional = writes_lse,
    .workspace_bytes = workspace_bytes,
    .repeats = repeats,
    .gpu_adds = "tensors of more than 2^31 elements, up to 8192 queries and keys, each of 64 positions of the causal "
                "limit in a tile",
    .cases = attention_cases,
    .make = attention_make,
    .load = attention_load,
    .describe = describe,
    .launch = launch,
    .row_cost = row_cost,
    .refer = refer,
    .expect = expect,
    .rms_limit = rms_limit,
    .release = release,
    .error = ERROR_RELATIVE_RMS,
    .describe_element = describe_element,
    .group = group,
    .group_text = group_text,
    .row_name = "query",
    .rows_name = "queries",
    .groups_name = "heads",
    .explain = attention_explain,
    .plan = attention_plan,
    .seconds = 2.0,
    .warm = warm,
    .table = "median min p95 warm tflops of_limit before first rms",
    .flops = flops,
    .bytes = bytes,
    .file = "attention.csv",
    .columns = "run,lesson,device,sm_count,driver,cuda,dtype,B,H,Hkv,Nq,Nk,D,causal,median_us,min_us,p95_us,repeats,"
               "sm_clock_before_mhz,sm_clock_after_mhz,tflops,bytes,gb_per_s,rel_rms_error,peak_tflops,peak_gb_per_s,"
               "date,commit,cache,noise,layout=bhnd,lse=0",
    .column = column,
};
