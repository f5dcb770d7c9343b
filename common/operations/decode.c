#include "decode.h"

#include "host/inputs.h"
#include "host/parallel.h"
#include "host/tolerance.h"
#include "operations/coverage.h"
#include "operations/decode_operation.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OUTPUT_O, OUTPUT_LSE };

// ---- The contract, decode.h ---------------------------------------------------------------------------------------

static unsigned dtypes(const void *contract) {
    return ((const struct decode_lesson *)contract)->dtypes;
}

static bool always(const void *contract) {
    (void)contract;
    return true;
}

static void describe(const struct host_problem *host, void *const *data, void *workspace, void *call) {
    const struct problem_case *which = &host->which;
    const struct attention_shape *s = &which->attention;
    const struct decode_pages pages = decode_pages_of(which);
    int table = decode_table(which), scale = decode_scale(which);
    *(struct decode_problem *)call = (struct decode_problem){
        .q = data[DECODE_Q],
        .k = data[DECODE_K],
        .v = data[DECODE_V],
        .lens = data[DECODE_LENS],
        .block_table = table < 0 ? NULL : data[table],
        .kv_scale = scale < 0 ? NULL : data[scale],
        .o = data[host->inputs],
        .lse = data[host->inputs + 1],
        .workspace = workspace,
        .page_stride = pages.stride,
        .batch = s->batch,
        .heads = s->heads,
        .kv_heads = s->kv_heads,
        .nq = s->nq,
        .head_dim = s->head_dim,
        .pages = (int)pages.count,
        .page_size = pages.size,
        .pages_per_request = pages.per_request,
        .causal = s->causal,
        .softmax_scale = host->softmax_scale,
        .dtype = decode_dtype(which),
        .cache_dtype = which->dtype,
    };
}
_Static_assert(sizeof(struct decode_problem) <= CONTRACT_BYTES, "CONTRACT_BYTES is too small");

static cudaError_t launch(void *forward, const void *call, cudaStream_t stream) {
    cudaError_t (*decode_forward)(const struct decode_problem *, cudaStream_t);
    *(void **)&decode_forward = forward;
    return decode_forward(call, stream);
}

static size_t workspace_bytes(const void *contract, const struct problem_case *which) {
    const struct decode_lesson *lesson = contract;
    struct host_problem host;
    struct decode_problem problem;
    void *data[MAX_TENSORS] = {NULL};
    decode_make(which, 0, false, &host);
    describe(&host, data, NULL, &problem);
    host_problem_free(&host);
    if (decode_is_paged(which)) // no table yet, which would mean that there are no pages
        problem.block_table = (const int *)&problem;
    return lesson->workspace_bytes ? lesson->workspace_bytes(&problem) : 0;
}

static bool covers(const void *contract, const char *name, const struct problem_case *which,
                   const struct device_limits *limits, struct obstacle *obstacle) {
    const struct decode_lesson *lesson = contract;
    const struct attention_shape *s = &which->attention;
    struct message *reason = &obstacle->reason;
    char layout[LAYOUT_TEXT];
    *obstacle->part = 0;
    if (!is_dtype_covered(lesson->dtypes, name, which, obstacle))
        return false;
    if (s->nq > DECODE_MAX_NQ)
        return message_set(reason, "decoding has up to %d queries a request, not %d", DECODE_MAX_NQ, s->nq);
    if (s->head_dim > lesson->max_head_dim || s->head_dim % 16) {
        message_set(reason, "%s takes head dimensions that are multiples of 16 up to %d, not %d", name,
                    lesson->max_head_dim, s->head_dim);
        return not_covered(obstacle, "other head dimensions");
    }
    layout_text(s, layout);
    if (s->layout != LAYOUT_BHND && s->layout != LAYOUT_PAGES)
        return message_set(reason, "%s takes caches as a whole or in pages (LAYOUT=pages16), not LAYOUT=%s", name,
                           layout);
    if (decode_is_paged(which) && !lesson->paged) {
        message_set(reason, "%s takes no pages: leave LAYOUT out, or take a lesson that does", name);
        return not_covered(obstacle, "pages");
    }
    if (decode_is_paged(which) && s->stride[0] % DECODE_MIN_PAGE)
        return message_set(reason, "%s takes pages of a multiple of %d keys, not of %lld", name, DECODE_MIN_PAGE,
                           (long long)s->stride[0]);
    if ((which->family == INPUTS_NAN_KEY || which->family == INPUTS_NAN_VALUE) && which->dtype == ATTENTION_E4M3) {
        message_set(reason, "a cache of e4m3 has no NaN: choose other INPUTS");
        return not_covered(obstacle, "NaN in e4m3");
    }
    if (decode_pages_of(which).count > INT_MAX)
        return message_set(reason, "%s numbers pages with 31 bits: use larger ones", name);
    if (!is_new_enough(limits, lesson->min_compute_capability, name, reason))
        return false;
    return true;
}

// ---- Judging ------------------------------------------------------------------------------------------------------

// The keys of a row are gathered first, which takes longer than computing with them.
static double row_cost(const struct problem_case *which) {
    return 20.0 * which->attention.nk * which->attention.head_dim;
}

static void *refer(const struct host_problem *problem, const struct row_sample *sample) {
    struct decode_rows *rows = host_allocate(1, sizeof *rows);
    *rows = decode_compute(problem, sample, DECODE_RIGHT);
    return rows;
}

static void release(void *reference) {
    decode_rows_free(reference);
    free(reference);
}

static void expect(const struct host_problem *problem, const void *reference, int output, int64_t index,
                   struct expected_row *row) {
    const struct decode_rows *rows = reference;
    int d = problem->which.attention.head_dim;
    if (output == OUTPUT_LSE) {
        row->value[0] = rows->lse[index];
        row->bound[0] = rows->lse_bound[index];
        row->size[0] = NAN;
        return;
    }
    memcpy(row->value, rows->value + index * d, (size_t)d * sizeof(double));
    memcpy(row->bound, rows->bound + index * d, (size_t)d * sizeof(double));
    memcpy(row->size, rows->size + index * d, (size_t)d * sizeof(double));
}

static double rms_limit(const struct host_problem *problem, const void *reference, int output, int64_t count) {
    const struct decode_rows *rows = reference;
    if (output != OUTPUT_O)
        return INFINITY;
    return tolerance_rms(decode_dtype(&problem->which), rows->walk, problem->softmax_scale,
                         problem->which.attention.head_dim, rows->keys > 1 ? rows->keys : 1, rows->sum_walk, count) +
           rows->sum_drift;
}

static void describe_element(const struct problem_case *which, int output, int64_t row, int column, char *text,
                             size_t size) {
    const struct attention_shape *s = &which->attention;
    long long head = row / s->nq % s->heads, request = row / s->nq / s->heads, query = row % s->nq;
    if (output == OUTPUT_LSE)
        snprintf(text, size, "[%lld][%lld][%lld] (request, head, query)", request, head, query);
    else
        snprintf(text, size, "[%lld][%lld][%lld][%d] (request, head, query, element)", request, head, query, column);
}

static int64_t group(const struct problem_case *which) {
    return which->attention.nq;
}

static void group_text(const struct problem_case *which, int64_t head, char *text, size_t size) {
    snprintf(text, size, "request %lld head %lld", (long long)(head / which->attention.heads),
             (long long)(head % which->attention.heads));
}

// ---- Timing -------------------------------------------------------------------------------------------------------

// The grid: batch by keys by heads by head_dim, and three ragged batches. Of a cache in e4m3 what tells its rate.
static int plan(const struct arguments *a, enum attention_dtype dtype, struct problem_case *cases) {
    static const int batches[] = {1, 8, 64}, keys[] = {1024, 4096, 16384, 65536}, head_dims[] = {128, 64};
    static const int heads[][2] = {{32, 8}, {64, 8}, {8, 1}};
    static const enum input_family ragged[] = {INPUTS_RAGGED, INPUTS_HALVING, INPUTS_ONE_LONG};
    bool few = a->quick || dtype == ATTENTION_E4M3;
    int count = 0;
    if (a->has_shape) {
        cases[0] = (struct problem_case){.attention = a->shape.attention};
        count = a->shape.attention.nq <= DECODE_MAX_NQ; // attention's shapes are none of these
    } else {
        for (int d = 0; d < (few ? 1 : 2); d++)
            for (int h = 0; h < (few ? 1 : 3); h++)
                for (int b = 0; b < 3; b++)
                    for (int n = 0; n < (a->quick ? 1 : 4); n++)
                        cases[count++] = (struct problem_case){
                            .attention = {batches[b], heads[h][0], heads[h][1], 1, keys[n], head_dims[d]}};
        for (int i = 0; i < (a->quick ? 1 : 3); i++)
            cases[count++] = (struct problem_case){.attention = {64, 32, 8, 1, 8192, 128}, .family = ragged[i]};
    }
    for (int i = 0; i < count; i++) {
        cases[i].dtype = dtype;
        cases[i].attention.layout = a->layout.layout;
        memcpy(cases[i].attention.stride, a->layout.stride, sizeof a->layout.stride);
    }
    return count;
}

static double rows_of(const struct problem_case *which) {
    return (double)which->attention.batch * which->attention.heads * which->attention.nq;
}

static double keys_of(const struct problem_case *which) {
    return decode_keys_of_all(which) * which->attention.kv_heads;
}

static double flops(const struct problem_case *which) {
    const struct attention_shape *s = &which->attention;
    return 4.0 * keys_of(which) * s->head_dim * s->nq * (s->heads / s->kv_heads);
}

// Keys and values once, queries and results once.
static double bytes(const struct problem_case *which) {
    double elements = 2 * which->attention.head_dim;
    return elements * (keys_of(which) * (double)dtype_of(which->dtype)->size +
                       rows_of(which) * (double)dtype_of(decode_dtype(which))->size);
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
    if (!strcmp(name, "lengths"))
        snprintf(text, size, "%s", which->family ? inputs_name(which->family) : "equal");
    else if (!strcmp(name, "page"))
        snprintf(text, size, "%d", decode_is_paged(which) ? (int)s->stride[0] : 0);
    else
        return false;
    return true;
}

const struct operation decode_operation = {
    .name = "decode",
    .forward = "decode_forward",
    .contract = "decode_lesson",
    .header = "common/decode.h",
    .trace_shape = "2,8:2,1:512,64",
    .profile_shape = "8,32:8,1:4096,128",
    .explore_shape = "1,4:1,1:128,64",
    .no_data = "tensors of attention",
    .pages = true,
    .dtypes = dtypes,
    .covers = covers,
    .writes_optional = always,
    .workspace_bytes = workspace_bytes,
    .repeats = always,
    .gpu_adds = "tensors of more than 2^31 elements, requests of up to 65536 keys",
    .cases = decode_cases,
    .make = decode_make,
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
    .explain = decode_explain,
    .plan = plan,
    .seconds = 0.5,
    .times_copy = true,
    .copied = DECODE_K,
    .table = "median min p95 gb_per_s of_copy of_peak before rms",
    .flops = flops,
    .bytes = bytes,
    .file = "decode.csv",
    .columns =
        "run,lesson,device,sm_count,driver,cuda,dtype,B,H,Hkv,Nq,Nk,D,causal,lengths,page,median_us,min_us,p95_us,"
        "repeats,sm_clock_before_mhz,sm_clock_after_mhz,tflops,bytes,gb_per_s,copy_gb_per_s,peak_gb_per_s,"
        "rel_rms_error,date,commit,cache,noise,lse=0",
    .column = column,
};
