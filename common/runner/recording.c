#include "runner/recording.h"

#include "dtype.h"
#include "runner/device.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

typedef void describe_function(const void *, size_t, const char *, const char *, unsigned, int, const int64_t *,
                               const int64_t *, const char *const *);
typedef int write_function(void);

static void describe(describe_function *control, const struct device_tensor *device, const struct host_tensor *host) {
    static const char *const axis[] = {"batch", "head", "row", "column"};
    const struct row_layout *layout = &host->layout;
    const struct dtype *dtype = dtype_of(host->dtype);
    const int64_t heads = layout->n ? layout->heads : 1, n = layout->n ? layout->n : host->rows;
    const int64_t size[] = {host->rows / (heads * n), heads, n, host->columns};
    const int64_t stride[] = {layout->stride[0], layout->stride[1], layout->stride[2], 1};
    const int first = layout->n ? 0 : 2; // rows of a matrix have neither batch nor head
    control(device->data, device->bytes, host->name, dtype->name, (unsigned)dtype->size, 4 - first, size + first,
            stride + first, axis + first);
}

void recording_describe(const struct device_problem *problem) {
    describe_function *control = (describe_function *)device_control_function("simulator_describe_memory");
    const struct host_problem *host = problem->host;
    for (int i = 0; control && i < host->inputs + host->outputs; i++)
        if (problem->tensor[i].allocation)
            describe(control, &problem->tensor[i], &host->tensor[i]);
    if (control && problem->workspace.allocation)
        control(problem->workspace.data, problem->workspace.bytes, "workspace", "", 1, 0, NULL, NULL, NULL);
    device_control_end();
}

void recording_write(void) {
    write_function *write = (write_function *)device_control_function("simulator_write_recording");
    if (write && write() != 0)
        fprintf(stderr, "the recording could not be written: %s\n", strerror(errno));
    device_control_end();
}
