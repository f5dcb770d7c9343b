#include "runner/output.h"

#include "host/npy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// An optional output has the rows of the first one, whose layout says how they are counted.
static int sizes_of(const struct host_problem *host, const struct host_tensor *tensor, int64_t *size) {
    const struct row_layout *layout = &(tensor->optional ? problem_output(host, 0) : tensor)->layout;
    int dimensions = 0;
    if (layout->n) {
        size[dimensions++] = tensor->rows / layout->heads / layout->n;
        size[dimensions++] = layout->heads;
        size[dimensions++] = layout->n;
    } else {
        size[dimensions++] = tensor->rows;
    }
    if (!tensor->optional)
        size[dimensions++] = tensor->columns;
    return dimensions;
}

void output_prepare(const char *folder) {
    struct stat status;
    if (mkdir(folder, 0777) && errno != EEXIST)
        message_exit(EXIT_BAD_INPUT, "OUT=%s cannot be made: %s", folder, strerror(errno));
    if (stat(folder, &status) || !S_ISDIR(status.st_mode))
        message_exit(EXIT_BAD_INPUT, "OUT=%s is no folder", folder);
    if (access(folder, W_OK | X_OK))
        message_exit(EXIT_BAD_INPUT, "OUT=%s cannot be written: %s", folder, strerror(errno));
}

void output_write(const struct device_problem *problem, const char *folder) {
    const struct host_problem *host = problem->host;
    float *outputs = malloc((size_t)problem_output_elements(host) * sizeof *outputs), *next = outputs;
    if (!outputs)
        message_exit(EXIT_BAD_INPUT, "OUT=%s: there is no memory to bring the output back", folder);
    problem_outputs(problem, outputs);
    for (int i = 0; i < host->outputs; i++) {
        const struct host_tensor *tensor = problem_output(host, i);
        int64_t size[NPY_MAX_DIMENSIONS];
        char path[4096];
        struct message error;
        if (!problem_has_output(problem, i))
            continue;
        if ((size_t)snprintf(path, sizeof path, "%s/%s.npy", folder, tensor->name) >= sizeof path)
            message_exit(EXIT_BAD_INPUT, "OUT=%.60s... is too long", folder);
        if (!npy_write(path, sizes_of(host, tensor, size), size, tensor->dtype, next, &error))
            message_exit(EXIT_BAD_INPUT, "%s", error.text);
        next += tensor->rows * tensor->columns;
    }
    free(outputs);
}
