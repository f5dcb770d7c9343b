#include "operations/coverage.h"

#include <stdio.h>

bool not_covered(struct obstacle *obstacle, const char *part) {
    snprintf(obstacle->part, sizeof obstacle->part, "%s", part);
    return false;
}

bool is_dtype_covered(unsigned dtypes, const char *name, const struct problem_case *which, struct obstacle *obstacle) {
    char types[32];
    if (dtypes & 1u << which->dtype)
        return true;
    message_set(&obstacle->reason, "%s takes %s, not %s", name, dtype_names(dtypes, types),
                dtype_of(which->dtype)->name);
    return not_covered(obstacle, dtype_of(which->dtype)->name);
}

bool is_attention_covered(const struct attention_coverage *covered, const char *name, const struct problem_case *which,
                          struct obstacle *obstacle) {
    const struct attention_shape *s = &which->attention;
    struct message *reason = &obstacle->reason;
    if (s->layout != LAYOUT_BHND && !covered->strided) {
        message_set(reason, "%s takes contiguous [batch][heads][n][head_dim] tensors only", name);
        return not_covered(obstacle, "strides");
    }
    if (s->kv_heads != s->heads && !covered->grouped_heads) {
        message_set(reason, "%s does not cover grouped heads: k needs as many heads as q", name);
        return not_covered(obstacle, "grouped heads");
    }
    if (s->causal && !covered->causal) {
        message_set(reason, "%s does not cover causal masks: leave CAUSAL out, or take a lesson that does", name);
        return not_covered(obstacle, "causal masks");
    }
    if (which->has_scale && which->scale <= 0 && covered->positive_scale) {
        message_set(reason, "%s covers scales above 0, not %g", name, which->scale);
        return not_covered(obstacle, "scales of 0 and below");
    }
    if (s->head_dim > covered->max_head_dim) {
        message_set(reason, "%s covers head dimensions up to %d, not %d", name, covered->max_head_dim, s->head_dim);
        snprintf(obstacle->part, sizeof obstacle->part, "head dimensions over %d", covered->max_head_dim);
        return false;
    }
    return true;
}

bool has_shared_memory(const struct device_limits *limits, size_t bytes, const char *name, struct message *reason) {
    return bytes <= limits->shared_bytes ||
           message_set(reason, "%s needs %.1f KiB of shared memory a block here, and %s has %.1f KiB", name,
                       (double)bytes / 1024, limits->description, (double)limits->shared_bytes / 1024);
}

bool is_new_enough(const struct device_limits *limits, int min_compute_capability, const char *name,
                   struct message *reason) {
    return limits->compute_capability >= min_compute_capability ||
           message_set(reason, "%s needs compute capability %d.%d, and %s has %d.%d", name, min_compute_capability / 10,
                       min_compute_capability % 10, limits->description, limits->compute_capability / 10,
                       limits->compute_capability % 10);
}
