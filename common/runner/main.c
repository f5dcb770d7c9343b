// build/bin/runner: loads kernels, and checks or times them. build/bin/attention starts it.
#include "arguments.h"
#include "message.h"
#include "runner/bench.h"
#include "runner/check.h"
#include "runner/cuda.h"
#include "runner/device.h"
#include "runner/kernel.h"
#include "step.h"

static int act(const struct arguments *arguments) {
    static struct kernel kernels[MAX_KERNELS];
    if (arguments->action == ACTION_CHECK)
        return check(arguments);
    struct device device = device_open(arguments->device);
    for (int i = 0; i < arguments->kernels; i++)
        kernels[i] = kernel_load(&arguments->kernel[i]);
    return bench(kernels, arguments->kernels, &device, arguments);
}

int main(void) {
    static struct arguments arguments;
    message_guard_stdout();
    arguments_receive(&arguments);
    int status = act(&arguments);
    step_begin(STEP_END);
    return status;
}
