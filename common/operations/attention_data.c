#include "host/npy.h"
#include "operations/attention_operation.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TENSORS = 4, DIMENSIONS = 4 };
static const char *const names[TENSORS] = {"q", "k", "v", "o"};

static bool read_tensor(const char *folder, const char *name, struct npy *array, struct message *error) {
    char path[PATH_MAX + 8];
    snprintf(path, sizeof path, "%s/%s.npy", folder, name);
    if (!npy_read(path, array, error))
        return false;
    if (array->dimensions < 2 || array->dimensions > DIMENSIONS)
        return message_set(
            error, "%s has %d dimensions: give [batch][heads][n][head_dim]; dimensions at the left may be omitted",
            path, array->dimensions);
    // Missing dimensions on the left are 1.
    int missing = DIMENSIONS - array->dimensions;
    memmove(array->size + missing, array->size, (size_t)array->dimensions * sizeof *array->size);
    for (int i = 0; i < missing; i++)
        array->size[i] = 1;
    for (int i = 0; i < DIMENSIONS; i++)
        if (array->size[i] > INT_MAX)
            return message_set(error, "%s is too large: each dimension is at most %d", path, INT_MAX);
    if (array->size[3] > MAX_HEAD_DIM)
        return message_set(error, "%s has a head dimension of %lld: at most %d", path, (long long)array->size[3],
                           MAX_HEAD_DIM);
    return true;
}

static bool same_shape(const char *folder, const struct npy *array, int a, int b, struct message *error) {
    if (!memcmp(array[a].size, array[b].size, DIMENSIONS * sizeof *array[a].size))
        return true;
    return message_set(error,
                       "%s/%s.npy is %lldx%lldx%lldx%lld and %s.npy is %lldx%lldx%lldx%lld: the shapes must be equal",
                       folder, names[a], (long long)array[a].size[0], (long long)array[a].size[1],
                       (long long)array[a].size[2], (long long)array[a].size[3], names[b], (long long)array[b].size[0],
                       (long long)array[b].size[1], (long long)array[b].size[2], (long long)array[b].size[3]);
}

static bool check_shapes(const char *folder, const struct npy *array, bool has_o, struct message *error) {
    const int64_t *q = array[0].size, *k = array[1].size;
    if (!same_shape(folder, array, 1, 2, error) || (has_o && !same_shape(folder, array, 0, O, error)))
        return false;
    if (q[0] != k[0] || q[3] != k[3] || q[1] % k[1])
        return message_set(error,
                           "%s: q.npy is %lldx%lldx%lldx%lld and k.npy %lldx%lldx%lldx%lld: batch and head_dim must be "
                           "equal, and heads of q a multiple of k's",
                           folder, (long long)q[0], (long long)q[1], (long long)q[2], (long long)q[3], (long long)k[0],
                           (long long)k[1], (long long)k[2], (long long)k[3]);
    return true;
}

// The type of the files, or the one that was asked for: then they are rounded.
static bool choose_dtype(const struct arguments *arguments, const struct npy *array, enum attention_dtype *dtype,
                         struct message *error) {
    *dtype = arguments->has_dtype ? arguments->dtype : array[Q].dtype;
    for (int i = K; i <= V; i++)
        if (array[i].dtype != array[Q].dtype)
            return message_set(error, "%s: q.npy is %s, but %s.npy is %s: save both with the same type",
                               arguments->data, dtype_of(array[Q].dtype)->name, names[i],
                               dtype_of(array[i].dtype)->name);
    if (array[Q].dtype != ATTENTION_FP32 && *dtype != array[Q].dtype)
        return message_set(error,
                           "%s holds %s, and DTYPE=%s asks for another type: leave DTYPE out, or save the file as fp32",
                           arguments->data, dtype_of(array[Q].dtype)->name, dtype_of(*dtype)->name);
    return true;
}

// The harness asks of no kernel that it keeps a NaN in a masked key or value from the output: see attention.h.
static bool masked_are_finite(const char *folder, const struct host_problem *problem, struct message *error) {
    const struct attention_shape *s = &problem->which.attention;
    const int seen_by_all = shape_attended_keys(s, 0);
    for (int i = K; !problem->finite && i <= V; i++)
        for (int64_t e = 0; e < shape_k_elements(s); e++)
            if (!isfinite(problem->tensor[i].values[e]) && e / s->head_dim % s->nk >= seen_by_all)
                return message_set(error,
                                   "%s/%s.npy holds NaN or infinity in key %lld, which is masked for query 0: %s",
                                   folder, names[i], (long long)(e / s->head_dim % s->nk),
                                   "masked keys and values must be finite [masked-not-finite]");
    return true;
}

bool attention_load(const struct arguments *arguments, struct host_problem *problem, float **o, struct message *error) {
    struct npy array[TENSORS] = {0};
    const char *folder = arguments->data;
    char path[PATH_MAX + 8];
    enum attention_dtype dtype;
    snprintf(path, sizeof path, "%s/o.npy", folder);
    bool has_o = access(path, F_OK) == 0, good = true;
    for (int i = 0; good && i < TENSORS; i++)
        if (i != O || has_o)
            good = read_tensor(folder, names[i], &array[i], error);
    if (!good || !check_shapes(folder, array, has_o, error) || !choose_dtype(arguments, array, &dtype, error)) {
        for (int i = 0; i < TENSORS; i++)
            npy_free(&array[i]);
        return false;
    }
    const int64_t *q = array[Q].size, *k = array[K].size;
    struct problem_case which = {.attention = {.batch = (int)q[0],
                                               .heads = (int)q[1],
                                               .kv_heads = (int)k[1],
                                               .nq = (int)q[2],
                                               .nk = (int)k[2],
                                               .head_dim = (int)q[3],
                                               .causal = arguments->causal,
                                               .layout = arguments->layout.layout},
                                 .dtype = dtype};
    attention_make_of(&which, array[Q].data, array[K].data, array[V].data, q[0] * q[1] * q[2], k[0] * k[1] * k[2],
                      problem);
    problem->rounded = dtype != array[Q].dtype;
    *o = array[O].data;
    if (masked_are_finite(folder, problem, error))
        return true;
    free(*o);
    host_problem_free(problem);
    return false;
}
