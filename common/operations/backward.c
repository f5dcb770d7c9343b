#include "operations/backward_operation.h"
#include "operations/coverage.h"

#include "attention_backward.h"
#include "host/parallel.h"
#include "host/tolerance.h"
#include "operations/backward_reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- The contract, attention_backward.h --------------------------------------------------------------------------

static unsigned dtypes(const void *contract) {
    return ((const struct attention_backward_lesson *)contract)->dtypes;
}

static bool repeats(const void *contract) {
    return ((const struct attention_backward_lesson *)contract)->deterministic;
}

static struct attention_strides strides(const struct host_tensor *tensor) {
    const int64_t *s = tensor->layout.stride;
    return (struct attention_strides){s[0], s[1], s[2]};
}

static void describe(const struct host_problem *host, void *const *data, void *workspace, void *call) {
    const struct host_tensor *dq = problem_output(host, OUTPUT_DQ), *dk = problem_output(host, OUTPUT_DK),
                             *dv = problem_output(host, OUTPUT_DV);
    struct attention_backward_problem *p = call;
    *p = (struct attention_backward_problem){.d_o = data[D_O],
                                             .dq = data[host->inputs + OUTPUT_DQ],
                                             .dk = data[host->inputs + OUTPUT_DK],
                                             .dv = data[host->inputs + OUTPUT_DV],
                                             .workspace = workspace,
                                             .d_o_stride = strides(&host->tensor[D_O]),
                                             .dq_stride = strides(dq),
                                             .dk_stride = strides(dk),
                                             .dv_stride = strides(dv)};
    // The first tensors and all sizes are those of attention.
    attention_operation.describe(host, data, NULL, &p->forward);
}
_Static_assert(sizeof(struct attention_backward_problem) <= CONTRACT_BYTES, "CONTRACT_BYTES is too small");

static cudaError_t launch(void *function, const void *call, cudaStream_t stream) {
    cudaError_t (*attention_backward)(const struct attention_backward_problem *, cudaStream_t);
    *(void **)&attention_backward = function;
    return attention_backward(call, stream);
}

// The problem without its tensors, for what depends on its sizes.
static struct attention_backward_problem sizes(const struct problem_case *which) {
    struct host_problem host;
    struct attention_backward_problem problem;
    void *data[MAX_TENSORS] = {NULL};
    backward_make(which, 0, false, &host);
    describe(&host, data, NULL, &problem);
    host_problem_free(&host);
    return problem;
}

static size_t workspace_bytes(const void *contract, const struct problem_case *which) {
    const struct attention_backward_lesson *lesson = contract;
    struct attention_backward_problem problem = sizes(which);
    return lesson->workspace_bytes ? lesson->workspace_bytes(&problem) : 0;
}

static bool rows_are_multiples(const struct attention_backward_problem *p, int multiple) {
    const struct attention_strides strides[] = {p->forward.q_stride, p->forward.k_stride, p->forward.v_stride,
                                                p->forward.o_stride, p->d_o_stride,       p->dq_stride,
                                                p->dk_stride,        p->dv_stride};
    bool multiples = p->forward.head_dim % multiple == 0;
    for (size_t i = 0; i < sizeof strides / sizeof *strides; i++)
        multiples =
            multiples && !(strides[i].batch % multiple || strides[i].head % multiple || strides[i].row % multiple);
    return multiples;
}

static bool covers(const void *contract, const char *name, const struct problem_case *which,
                   const struct device_limits *limits, struct obstacle *obstacle) {
    const struct attention_backward_lesson *lesson = contract;
    struct message *reason = &obstacle->reason;
    const struct attention_coverage covered = {.strided = lesson->strided,
                                               .grouped_heads = lesson->grouped_heads,
                                               .causal = lesson->causal,
                                               .max_head_dim = lesson->max_head_dim};
    *obstacle->part = 0;
    if (!is_dtype_covered(lesson->dtypes, name, which, obstacle) ||
        !is_attention_covered(&covered, name, which, obstacle))
        return false;
    struct attention_backward_problem problem = sizes(which);
    if (lesson->alignment && !rows_are_multiples(&problem, lesson->alignment)) {
        message_set(reason, "%s takes head dimensions and strides that are multiples of %d", name, lesson->alignment);
        snprintf(obstacle->part, sizeof obstacle->part, "head dimensions that are no multiples of %d",
                 lesson->alignment);
        return false;
    }
    return is_new_enough(limits, lesson->min_compute_capability, name, reason) &&
           has_shared_memory(limits, lesson->shared_bytes ? lesson->shared_bytes(&problem) : 0, name, reason);
}

// ---- Judging ----------------------------------------------------------------------------------------------------

static double row_cost(const struct problem_case *which) {
    const struct attention_shape *s = &which->attention;
    double queries = (double)s->nq * s->heads / s->kv_heads;
    return 6.0 * (queries > s->nk ? queries : s->nk) * s->head_dim;
}

static void *refer(const struct host_problem *problem, const struct row_sample *sample) {
    struct backward_reference *reference = host_allocate(1, sizeof *reference);
    *reference = backward_refer(problem, sample);
    return reference;
}

static void release(void *reference) {
    backward_reference_free(reference);
    free(reference);
}

static void expect(const struct host_problem *problem, const void *opaque, int output, int64_t index,
                   struct expected_row *row) {
    const struct gradient_row *from = &((const struct backward_reference *)opaque)->row[output][index];
    size_t bytes = (size_t)problem->which.attention.head_dim * sizeof(double);
    memcpy(row->value, from->value, bytes);
    memcpy(row->bound, from->bound, bytes);
    memcpy(row->size, from->size, bytes);
}

static double rms_limit(const struct host_problem *problem, const void *opaque, int output, int64_t rows) {
    const struct backward_reference *r = opaque;
    const struct attention_shape *s = &problem->which.attention;
    return tolerance_gradient_rms(problem->which.dtype, r->walk[output], r->lse[output], problem->softmax_scale,
                                  s->head_dim, output == OUTPUT_DQ ? s->nk : s->nq * (s->heads / s->kv_heads), rows);
}

static struct output_rows output_rows(const struct problem_case *which, int output) {
    const struct attention_shape *s = &which->attention;
    return output == OUTPUT_DQ ? (struct output_rows){s->nq, "query", "queries"}
                               : (struct output_rows){s->nk, "key", "keys"};
}

static void describe_element(const struct problem_case *which, int output, int64_t row, int column, char *text,
                             size_t size) {
    const struct attention_shape *s = &which->attention;
    struct output_rows rows = output_rows(which, output);
    int heads = output == OUTPUT_DQ ? s->heads : s->kv_heads;
    snprintf(text, size, "[%lld][%lld][%lld][%d] (batch, head, %s, element)", (long long)(row / rows.group / heads),
             (long long)(row / rows.group % heads), (long long)(row % rows.group), column, rows.row_name);
}

static int64_t group(const struct problem_case *which) {
    return which->attention.nq;
}

static void group_text(const struct problem_case *which, int64_t head, char *text, size_t size) {
    // The number is one of a query head or of a key head; with grouped heads it says which only without the batch.
    if (which->attention.heads == which->attention.kv_heads)
        attention_operation.group_text(which, head, text, size);
    else
        snprintf(text, size, "head %lld of all", (long long)head);
}

// ---- Timing -----------------------------------------------------------------------------------------------------

// Five products instead of two.
static double flops(const struct problem_case *which) {
    return 2.5 * shape_flops(&which->attention);
}

// q, k, v, o and d_o are read once, dq, dk and dv are written once.
static double bytes(const struct problem_case *which) {
    const struct attention_shape *s = &which->attention;
    return (double)dtype_of(which->dtype)->size *
               (4.0 * (double)shape_q_elements(s) + 4.0 * (double)shape_k_elements(s)) +
           4.0 * (double)shape_q_elements(s) / s->head_dim;
}

static bool warm(const struct problem_case *which) {
    return attention_operation.warm(which);
}

static bool column(const struct problem_case *which, const char *name, char *text, size_t size) {
    return attention_operation.column(which, name, text, size);
}

const struct operation backward_operation = {
    .name = "attention backward",
    .forward = "attention_backward",
    .contract = "attention_backward_lesson",
    .header = "common/attention_backward.h",
    .trace_shape = "1,1,256,64",
    .profile_shape = "1,16,1024,64",
    .explore_shape = "1,1,128,64",
    .no_data = "q, k, v and o",
    .dtypes = dtypes,
    .covers = covers,
    .workspace_bytes = workspace_bytes,
    .repeats = repeats,
    .gpu_adds = "tensors of more than 2^31 elements, up to 8192 queries and keys",
    .is_entangled = true,
    .cases = backward_cases,
    .make = backward_make,
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
    .output_rows = output_rows,
    .explain = backward_explain,
    .plan = attention_plan,
    .seconds = 2.0,
    .warm = warm,
    .table = "median min p95 warm tflops of_limit before first rms",
    .flops = flops,
    .bytes = bytes,
    .file = "attention_backward.csv",
    .columns = "run,lesson,device,sm_count,driver,cuda,dtype,B,H,Hkv,Nq,Nk,D,causal,median_us,min_us,p95_us,repeats,"
               "sm_clock_before_mhz,sm_clock_after_mhz,tflops,bytes,gb_per_s,rel_rms_error,peak_tflops,peak_gb_per_s,"
               "date,commit,cache,noise,layout=bhnd",
    .column = column,
};
