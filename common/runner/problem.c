#include "runner/problem.h"

#include "host/parallel.h"
#include "runner/cuda.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Everything but the pointers.
static struct attention_problem describe(const struct attention_shape *s, float softmax_scale) {
    int64_t d = s->head_dim;
    bool bnhd = s->layout == LAYOUT_BNHD;
    struct attention_strides q = {d * s->nq * s->heads, bnhd ? d : d * s->nq, bnhd ? d * s->heads : d};
    struct attention_strides k = {d * s->nk * s->kv_heads, bnhd ? d : d * s->nk, bnhd ? d * s->kv_heads : d};
    return (struct attention_problem){.q_stride = q,
                                      .k_stride = k,
                                      .v_stride = k,
                                      .o_stride = q,
                                      .batch = s->batch,
                                      .heads = s->heads,
                                      .kv_heads = s->kv_heads,
                                      .nq = s->nq,
                                      .nk = s->nk,
                                      .head_dim = s->head_dim,
                                      .causal = s->causal,
                                      .softmax_scale = softmax_scale,
                                      .dtype = ATTENTION_FP32};
}

static size_t workspace_bytes(const struct kernel *kernel, const struct attention_problem *problem) {
    return kernel && kernel->lesson->workspace_bytes ? kernel->lesson->workspace_bytes(problem) : 0;
}

size_t problem_workspace_bytes(const struct kernel *kernel, const struct attention_shape *shape) {
    struct attention_problem problem = describe(shape, 1.0f);
    return workspace_bytes(kernel, &problem);
}

bool problem_covered(const struct kernel *kernel, const struct attention_shape *shape, const struct device *device,
                     struct message *reason) {
    const struct attention_lesson *lesson = kernel->lesson;
    const char *name = kernel->argument->name;
    struct attention_problem problem = describe(shape, 1.0f);
    const char *lacking = lesson->unavailable ? lesson->unavailable() : NULL;
    if (lacking)
        return message_set(reason, "%s cannot run here: %s", name, lacking);
    if (!(lesson->dtypes & 1u << ATTENTION_FP32))
        return message_set(reason, "%s does not take fp32, and this check has no other inputs", name);
    if (device->compute_capability < lesson->min_compute_capability)
        return message_set(reason, "%s needs compute capability %d.%d, and %s has %d.%d", name,
                           lesson->min_compute_capability / 10, lesson->min_compute_capability % 10,
                           device->description, device->compute_capability / 10, device->compute_capability % 10);
    if (shape->head_dim > lesson->max_head_dim)
        return message_set(reason, "%s covers head dimensions up to %d, not %d", name, lesson->max_head_dim,
                           shape->head_dim);
    if (shape->causal && !lesson->causal)
        return message_set(reason, "%s does not cover causal masks: leave CAUSAL out, or take a lesson that does",
                           name);
    if (shape->layout != LAYOUT_BHND && !lesson->strided)
        return message_set(reason, "%s takes contiguous [batch][heads][n][head_dim] tensors only", name);
    if (shape->kv_heads != shape->heads && !lesson->grouped_heads)
        return message_set(reason, "%s does not cover grouped heads: k needs as many heads as q", name);
    size_t shared = lesson->shared_bytes ? lesson->shared_bytes(&problem) : 0;
    if (shared > device->shared_bytes)
        return message_set(reason, "%s needs %.1f KiB of shared memory a block here, and %s has %.1f KiB", name,
                           (double)shared / 1024, device->description, (double)device->shared_bytes / 1024);
    return true;
}

// What inputs, reference and verdict take on the host, with the sample as large as it gets.
static double host_bytes(const struct attention_shape *shape) {
    enum { MOST_SAMPLED = 1 << 16, BYTES_PER_SAMPLED = 8 + 8 + 1 };
    double rows = (double)shape_q_elements(shape) / shape->head_dim;
    double scores = 8.0 * shape->nk * parallel_threads();
    return scores + (rows < MOST_SAMPLED ? rows : MOST_SAMPLED) * shape->head_dim * BYTES_PER_SAMPLED + 0x1p28;
}

bool problem_fits(const struct kernel *kernel, const struct attention_shape *shape, const struct device *device,
                  int copies, struct message *reason) {
    bool guarded = !device->simulated;
    struct attention_problem problem = describe(shape, 1.0f);
    double needed = copies * (2.0 * (double)tensor_bytes(shape_q_elements(shape), guarded) +
                              2.0 * (double)tensor_bytes(shape_k_elements(shape), guarded)) +
                    (double)workspace_bytes(kernel, &problem);
    return device_holds(device, needed, host_bytes(shape), reason);
}

// Where row r of [batch][heads][n] lies in [batch][n][heads].
static int64_t bnhd_row(int64_t r, int heads, int n) {
    int64_t query = r % n, head = r / n % heads, batch = r / n / heads;
    return (batch * n + query) * heads + head;
}

static struct device_tensor upload(const float *host, int64_t kept_rows, int64_t rows, int heads, int n,
                                   const struct attention_shape *shape, bool guarded) {
    int d = shape->head_dim;
    struct device_tensor tensor = tensor_create(rows * d, guarded);
    if (shape->layout == LAYOUT_BHND) {
        tensor_fill(&tensor, host, kept_rows * d);
        return tensor;
    }
    float *permuted = host_allocate(rows * d, sizeof *permuted);
    for (int64_t r = 0; r < rows; r++)
        memcpy(permuted + bnhd_row(r, heads, n) * d, inputs_row(host, kept_rows, r, d), (size_t)d * sizeof *permuted);
    tensor_fill(&tensor, permuted, rows * d);
    free(permuted);
    return tensor;
}

struct device_problem problem_create(const struct host_inputs *in, const struct kernel *kernel,
                                     const struct device *device, bool with_lse) {
    const struct attention_shape *s = &in->shape;
    bool guarded = !device->simulated;
    int64_t q_rows = shape_q_elements(s) / s->head_dim, k_rows = shape_k_elements(s) / s->head_dim;
    struct device_problem p = {.problem = describe(s, in->softmax_scale)};
    p.q = upload(in->q, in->q_rows, q_rows, s->heads, s->nq, s, guarded);
    p.k = upload(in->k, in->k_rows, k_rows, s->kv_heads, s->nk, s, guarded);
    p.v = upload(in->v, in->k_rows, k_rows, s->kv_heads, s->nk, s, guarded);
    p.o = tensor_create(q_rows * s->head_dim, guarded);
    tensor_poison(&p.o);
    if (with_lse) {
        p.lse = tensor_create(q_rows, guarded);
        tensor_poison(&p.lse);
    }
    size_t workspace = workspace_bytes(kernel, &p.problem);
    if (workspace) {
        p.workspace = tensor_create((int64_t)((workspace + sizeof(float) - 1) / sizeof(float)), guarded);
        if (guarded) // the simulator knows by itself what was never written
            tensor_poison(&p.workspace);
    }
    p.problem.q = p.q.data;
    p.problem.k = p.k.data;
    p.problem.v = p.v.data;
    p.problem.o = p.o.data;
    p.problem.lse = p.lse.data;
    p.problem.workspace = p.workspace.data;
    return p;
}

void problem_free(struct device_problem *p) {
    struct device_tensor *const all[] = {&p->q, &p->k, &p->v, &p->o, &p->lse, &p->workspace};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        tensor_free(all[i]);
}

static void judge_permuted(const struct device_problem *p, struct verdict *verdict) {
    int d = p->problem.head_dim, heads = p->problem.heads, nq = p->problem.nq;
    float *o = host_allocate(p->o.elements, sizeof *o);
    CUDA(cudaMemcpy(o, p->o.data, (size_t)p->o.elements * sizeof *o, cudaMemcpyDeviceToHost));
    for (int64_t r = 0; r < p->o.elements / d; r++)
        verdict_rows(verdict, r, 1, o + bnhd_row(r, heads, nq) * d);
    free(o);
}

static void judge_in_chunks(const struct device_problem *p, struct verdict *verdict) {
    enum { CHUNK_ELEMENTS = 1 << 24 };
    int d = p->problem.head_dim;
    int64_t rows = p->o.elements / d, chunk = CHUNK_ELEMENTS / d < rows ? CHUNK_ELEMENTS / d : rows;
    float *o = host_allocate(chunk * d, sizeof *o);
    for (int64_t row = 0; row < rows; row += chunk) {
        int64_t count = chunk < rows - row ? chunk : rows - row;
        CUDA(cudaMemcpy(o, p->o.data + row * d, (size_t)(count * d) * sizeof *o, cudaMemcpyDeviceToHost));
        verdict_rows(verdict, row, count, o);
    }
    free(o);
}

void problem_judge(const struct device_problem *p, struct verdict *verdict) {
    bool contiguous = p->problem.heads == 1 || p->problem.o_stride.head > p->problem.o_stride.row;
    (contiguous || p->problem.nq == 1 ? judge_in_chunks : judge_permuted)(p, verdict);
    if (!p->lse.data)
        return;
    float *lse = host_allocate(p->lse.elements, sizeof *lse);
    CUDA(cudaMemcpy(lse, p->lse.data, (size_t)p->lse.elements * sizeof *lse, cudaMemcpyDeviceToHost));
    verdict_lse(verdict, lse);
    free(lse);
}

const char *problem_broken_guard(const struct device_problem *p) {
    const struct {
        const char *name;
        const struct device_tensor *tensor;
    } all[] = {{"q", &p->q}, {"k", &p->k}, {"v", &p->v}, {"o", &p->o}, {"lse", &p->lse}, {"workspace", &p->workspace}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].tensor->allocation && !tensor_guards_intact(all[i].tensor))
            return all[i].name;
    return NULL;
}
