#include "host/data.h"

#include "host/npy.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TENSORS = 4, O = 3, DIMENSIONS = 4 };
static const char *const names[TENSORS] = {"q", "k", "v", "o"};

static bool read_tensor(const char *folder, const char *name, struct npy *array, struct message *error) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s.npy", folder, name);
    if (!npy_read(path, array, error))
        return false;
    if (array->dimensions < 2 || array->dimensions > DIMENSIONS)
        return message_set(error, "%s has %d dimensions: give [batch][heads][n][head_dim], or less from the left", path,
                           array->dimensions);
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
    return message_set(error, "%s/%s.npy is %lldx%lldx%lldx%lld and %s.npy is %lldx%lldx%lldx%lld: they must be equal",
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

static bool all_finite(const struct npy *array) {
    for (int64_t i = 0; i < array->elements; i++)
        if (!isfinite(array->data[i]))
            return false;
    return true;
}

bool data_load(const char *folder, bool causal, struct host_inputs *in, float **o, struct message *error) {
    struct npy array[TENSORS] = {0};
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/o.npy", folder);
    bool has_o = access(path, F_OK) == 0, good = true;
    for (int i = 0; good && i < TENSORS; i++)
        if (i != O || has_o)
            good = read_tensor(folder, names[i], &array[i], error);
    if (!good || !check_shapes(folder, array, has_o, error)) {
        for (int i = 0; i < TENSORS; i++)
            npy_free(&array[i]);
        return false;
    }
    const int64_t *q = array[0].size, *k = array[1].size;
    *in = (struct host_inputs){
        .shape = {.batch = (int)q[0],
                  .heads = (int)q[1],
                  .kv_heads = (int)k[1],
                  .nq = (int)q[2],
                  .nk = (int)k[2],
                  .head_dim = (int)q[3],
                  .causal = causal},
        .q = array[0].data,
        .k = array[1].data,
        .v = array[2].data,
        .q_rows = q[0] * q[1] * q[2],
        .k_rows = k[0] * k[1] * k[2],
        .softmax_scale = 1.0f / sqrtf((float)q[3]),
        .finite = all_finite(&array[0]) && all_finite(&array[1]) && all_finite(&array[2]),
    };
    *o = array[O].data;
    return true;
}
