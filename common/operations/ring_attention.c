// Attention whose sequence is split over several GPUs, in contiguous parts or in zigzag order: two operations, which
// differ only in where a row lies. Reference and judgement are those of attention, but that each part's result may be
// rounded to the tensors' type before parts are merged.
#include "operations/coverage.h"
#include "operations/ring_attention_operation.h"

#include "host/tolerance.h"
#include "operations/attention_operation.h"
#include "operations/attention_reference.h"
#include "ring_attention.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DEFAULT_DEVICES = 2 };
_Static_assert((int)RING_MAX_DEVICES == (int)MAX_DEVICES, "the contract has as many devices as a case");

static int devices_of(const struct problem_case *which) {
    return which->devices ? which->devices : DEFAULT_DEVICES;
}

// ---- The contract, ring_attention.h

static unsigned dtypes(const void *contract) {
    return ((const struct ring_attention_lesson *)contract)->dtypes;
}

static bool writes_lse(const void *contract) {
    (void)contract;
    return true;
}

static void describe(const struct host_problem *host, void *const *data, void *workspace, void *call) {
    const struct attention_shape *s = &host->which.attention;
    struct ring_attention_problem *p = call;
    (void)workspace;
    *p = (struct ring_attention_problem){.devices = devices_of(&host->which),
                                         .batch = s->batch,
                                         .heads = s->heads,
                                         .kv_heads = s->kv_heads,
                                         .n = s->nq / devices_of(&host->which),
                                         .head_dim = s->head_dim,
                                         .causal = s->causal,
                                         .softmax_scale = host->softmax_scale,
                                         .dtype = host->which.dtype};
    for (int i = 0; i < p->devices && data; i++, data += POINTERS_PER_DEVICE)
        p->part[i] = (struct ring_attention_part){data[Q], data[K], data[V], data[O], data[LSE], data[MAX_TENSORS]};
}
_Static_assert(sizeof(struct ring_attention_problem) <= CONTRACT_BYTES, "CONTRACT_BYTES is too small");

static cudaError_t launch(void *forward, const void *call, cudaStream_t stream) {
    cudaError_t (*ring_attention_forward)(const struct ring_attention_problem *, cudaStream_t);
    *(void **)&ring_attention_forward = forward;
    return ring_attention_forward(call, stream);
}

static size_t workspace_bytes(const void *contract, const struct problem_case *which) {
    const struct ring_attention_lesson *lesson = contract;
    struct host_problem host = {.which = *which};
    struct ring_attention_problem problem;
    describe(&host, NULL, NULL, &problem);
    return lesson->workspace_bytes ? lesson->workspace_bytes(&problem) : 0;
}

// unit: the chunks per device that have to be equally long.
static bool covers(const void *contract, const char *name, const struct problem_case *which,
                   const struct device_limits *limits, struct obstacle *obstacle, int unit) {
    const struct ring_attention_lesson *lesson = contract;
    const struct attention_shape *s = &which->attention;
    struct message *reason = &obstacle->reason;
    int devices = devices_of(which), chunks = unit * devices;
    *obstacle->part = 0;
    if (!is_dtype_covered(lesson->dtypes, name, which, obstacle))
        return false;
    if (s->nq != s->nk) {
        message_set(reason, "%s splits one sequence: N has to be one number, not %d:%d", name, s->nq, s->nk);
        return not_covered(obstacle, "more keys than queries");
    }
    if (s->layout != LAYOUT_BHND) {
        message_set(reason, "%s takes contiguous [batch][heads][n][head_dim] parts only", name);
        return not_covered(obstacle, "strides");
    }
    if (s->nq % chunks) {
        message_set(reason, "%s splits the sequence over %d GPUs into %d chunks of equal length: N = %d is no multiple",
                    name, devices, chunks, s->nq);
        return not_covered(obstacle, "lengths that do not divide");
    }
    if (which->has_scale && which->scale <= 0) {
        message_set(reason, "%s covers scales above 0, not %g", name, which->scale);
        return not_covered(obstacle, "scales of 0 and below");
    }
    if (s->head_dim > lesson->max_head_dim || s->head_dim % lesson->alignment) {
        message_set(reason, "%s takes head dimensions that are multiples of %d up to %d, not %d", name,
                    lesson->alignment, lesson->max_head_dim, s->head_dim);
        return not_covered(obstacle, "other head dimensions");
    }
    if (!is_new_enough(limits, lesson->min_compute_capability, name, reason))
        return false;
    if (limits->devices >= devices)
        return true;
    return message_set(reason,
                       "%s needs %d GPUs for this, and there %s %d: GPUS=n takes fewer, and DEVICE=sim SIM_DEVICES=n "
                       "has as many as it is told",
                       name, devices, limits->devices == 1 ? "is" : "are", limits->devices);
}

static bool covers_ring(const void *contract, const char *name, const struct problem_case *which,
                        const struct device_limits *limits, struct obstacle *obstacle) {
    return covers(contract, name, which, limits, obstacle, 1);
}

static bool covers_zigzag(const void *contract, const char *name, const struct problem_case *which,
                          const struct device_limits *limits, struct obstacle *obstacle) {
    return covers(contract, name, which, limits, obstacle, 2);
}

// ---- Problems

static void make(const struct problem_case *which, uint64_t seed, bool with_inputs, struct host_problem *problem,
                 const struct operation *operation, bool zigzag) {
    attention_make(which, seed, with_inputs, problem);
    problem->operation = operation;
    problem->which.devices = devices_of(which);
    for (int i = 0; i < problem->inputs + problem->outputs; i++) {
        struct host_tensor *tensor = &problem->tensor[i];
        int64_t heads = i == K || i == V ? which->attention.kv_heads : which->attention.heads;
        int64_t rows = which->attention.nq / problem->which.devices;
        tensor->layout = (struct row_layout){
            .heads = (int)heads,
            .n = which->attention.nq,
            .stride = {heads * rows * tensor->columns, rows * tensor->columns, tensor->columns},
            .parts = problem->which.devices,
            .batches = which->attention.batch,
            .zigzag = zigzag,
        };
    }
}

static void make_ring(const struct problem_case *which, uint64_t seed, bool with_inputs, struct host_problem *problem) {
    make(which, seed, with_inputs, problem, &ring_attention_operation, false);
}

static void make_zigzag(const struct problem_case *which, uint64_t seed, bool with_inputs,
                        struct host_problem *problem) {
    make(which, seed, with_inputs, problem, &zigzag_attention_operation, true);
}

struct list {
    struct problem_case *cases;
    int count;
};

static struct problem_case *add(struct list *list, int devices, int batch, int heads, int kv_heads, int chunk,
                                int head_dim, bool causal) {
    assert(list->count < MAX_CASES);
    struct problem_case *c = &list->cases[list->count++];
    int n = 2 * devices * chunk;
    *c = (struct problem_case){.attention = {batch, heads, kv_heads, n, n, head_dim, causal}, .devices = devices};
    return c;
}

static int cases(enum matrix_kind kind, struct problem_case *cases) {
    static const enum input_family hostile[] = {INPUTS_LARGE,  INPUTS_DOMINANT_FIRST, INPUTS_DOMINANT_LAST,
                                                INPUTS_RISING, INPUTS_FALLING,        INPUTS_CONSTANT_VALUE,
                                                INPUTS_OFFSET, INPUTS_CROWD,          INPUTS_TWINS};
    struct list list = {cases, 0};
    bool quick = kind == MATRIX_QUICK;
    int scale = kind == MATRIX_GPU ? 16 : 1, most = quick ? 3 : 4;
    for (int causal = 0; causal <= 1; causal++) {
        for (int devices = quick ? 2 : 1; devices <= most; devices++)
            add(&list, devices, 1, 2, 2, 8 * scale + 1, 64, causal);
        if (quick)
            continue;
        add(&list, 2, 2, 4, 2, 35 * scale, 64, causal);
        add(&list, 3, 1, 2, 1, 9 * scale, 128, causal);
        add(&list, 2, 1, 1, 1, 1, 32, causal);
        add(&list, 4, 2, 1, 1, 3 * scale, 40, causal);
        for (int i = 0; i < (int)(sizeof hostile / sizeof *hostile); i++)
            add(&list, 2 + i % 3, 1, 2, 2, 12 * scale, 64, causal)->family = hostile[i];
        struct problem_case *scaled = add(&list, 3, 1, 2, 2, 11 * scale, 64, causal);
        scaled->has_scale = true;
        scaled->scale = 0.7f;
    }
    if (kind == MATRIX_GPU)
        for (int causal = 0; causal <= 1; causal++)
            add(&list, 2, 1, 16, 4, 4096, 128, causal);
    return list.count;
}

// ---- Judging

// The results of the parts are rounded to the tensors' type; their weighted sizes add up to at most A.
static void expect(const struct host_problem *problem, const void *reference, int output, int64_t index,
                   struct expected_row *row) {
    const struct attention_reference *r = reference;
    double unit = problem->which.dtype == ATTENTION_BF16 ? 0x1p-9 : 0x1p-12;
    attention_operation.expect(problem, reference, output, index, row);
    for (int c = 0; output == OUTPUT_O && c < r->head_dim; c++)
        row->bound[c] += unit * r->a[index * r->head_dim + c];
}

// ---- Timing

static int plan(const struct arguments *a, enum attention_dtype dtype, struct problem_case *cases) {
    static const int usual[] = {8192, 32768, 131072}, quick[] = {8192};
    const int *size = a->sizes ? a->size : a->quick ? quick : usual;
    int sizes = a->sizes ? a->sizes : a->quick ? 1 : 3, count = 0, most = a->gpus ? a->gpus : DEFAULT_DEVICES;
    // On one GPU and on all, for the speed-up.
    for (int causal = a->causal; causal <= (a->has_shape ? a->causal : 1); causal++)
        for (int i = 0; i < (a->has_shape ? 1 : sizes); i++)
            for (int devices = 1; devices <= most; devices += most > 1 ? most - 1 : 1) {
                struct problem_case *c = &cases[count++];
                *c = (struct problem_case){
                    .attention = {1, 16, 16, size[i], size[i], 128, causal}, .dtype = dtype, .devices = devices};
                if (a->has_shape)
                    c->attention = a->shape.attention;
            }
    return count;
}

// What each GPU sends: its keys and values, and those that it passes on.
static double sent_bytes(const struct problem_case *which) {
    const struct attention_shape *s = &which->attention;
    int devices = devices_of(which);
    return 2.0 * s->batch * s->kv_heads * ((double)s->nk / devices) * s->head_dim *
           (double)dtype_of(which->dtype)->size * (devices - 1);
}

static double flops(const struct problem_case *which) {
    return attention_operation.flops(which);
}

static double bytes(const struct problem_case *which) {
    return attention_operation.bytes(which);
}

static bool column(const struct problem_case *which, const char *name, char *text, size_t size) {
    if (!strcmp(name, "gpus"))
        snprintf(text, size, "%d", devices_of(which));
    else if (!strcmp(name, "sent_bytes"))
        snprintf(text, size, "%.0f", sent_bytes(which));
    else
        return attention_operation.column(which, name, text, size);
    return true;
}

// As attention, where a function of it does not depend on where rows lie.
static double row_cost(const struct problem_case *which) {
    return attention_operation.row_cost(which);
}

static void *refer(const struct host_problem *problem, const struct row_sample *sample) {
    return attention_operation.refer(problem, sample);
}

static double rms_limit(const struct host_problem *problem, const void *reference, int output, int64_t rows) {
    return attention_operation.rms_limit(problem, reference, output, rows);
}

static void release(void *reference) {
    attention_operation.release(reference);
}

static void describe_element(const struct problem_case *which, int output, int64_t row, int column, char *text,
                             size_t size) {
    attention_operation.describe_element(which, output, row, column, text, size);
}

static int64_t group(const struct problem_case *which) {
    return which->attention.nq;
}

static void group_text(const struct problem_case *which, int64_t head, char *text, size_t size) {
    attention_operation.group_text(which, head, text, size);
}

// clang-format off
#define RING_OPERATION                                                                                                 \
    .header = "common/ring_attention.h", .trace_shape = "1,1,256,64", .profile_shape = "1,16,4096,64",                 \
    .explore_shape = "1,1,256,64", .no_data = "tensors of attention on one GPU", .several_devices = true,              \
    .one_at_a_time = true, .dtypes = dtypes,                                                                           \
    .writes_optional = writes_lse, .workspace_bytes = workspace_bytes,                                                 \
    .gpu_adds = "longer sequences", .cases = cases, .describe = describe, .launch = launch, .row_cost = row_cost,      \
    .refer = refer, .expect = expect, .rms_limit = rms_limit, .release = release, .error = ERROR_RELATIVE_RMS,         \
    .describe_element = describe_element, .group = group, .group_text = group_text, .row_name = "query",               \
    .rows_name = "queries", .groups_name = "heads", .plan = plan, .seconds = 2.0,                                      \
    .table = "median min p95 tflops before first rms", .flops = flops, .bytes = bytes, .file = "ring_attention.csv",   \
    .columns = "run,lesson,device,sm_count,driver,cuda,dtype,B,H,Hkv,Nq,Nk,D,causal,gpus,sent_bytes,median_us,min_us," \
               "p95_us,repeats,sm_clock_before_mhz,sm_clock_after_mhz,tflops,rel_rms_error,peak_tflops,date,commit,"   \
               "noise",                                                                                                \
    .column = column
// clang-format on

const struct operation ring_attention_operation = {
    .name = "ring attention",
    .forward = "ring_attention_forward",
    .contract = "ring_attention_lesson",
    .covers = covers_ring,
    .make = make_ring,
    RING_OPERATION,
};

const struct operation zigzag_attention_operation = {
    .name = "zigzag attention",
    .forward = "zigzag_attention_forward",
    .contract = "zigzag_attention_lesson",
    .covers = covers_zigzag,
    .make = make_zigzag,
    RING_OPERATION,
};
