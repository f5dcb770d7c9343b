#include "operations/coverage.h"

#include <stdio.h>

bool not_covered(struct obstacle *obstacle, const char *part) {
    snprintf(obstacle->part, sizeof obstacle->part, "%s", part);
    return false;
}

bool is_new_enough(const struct device_limits *limits, int min_compute_capability, const char *name,
                   struct message *reason) {
    return limits->compute_capability >= min_compute_capability ||
           message_set(reason, "%s needs compute capability %d.%d, and %s has %d.%d", name, min_compute_capability / 10,
                       min_compute_capability % 10, limits->description, limits->compute_capability / 10,
                       limits->compute_capability % 10);
}
