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
    struct kernel kernels[MAX_KERNELS];
    struct device device = device_open(arguments->device);
    for (int i = 0; i < arguments->kernels; i++)
        kernels[i] = kernel_load(&arguments->kernel[i]);
    if (arguments->action == ACTION_CHECK)
        return (kernels[0].softmax_forward ? check_softmax : check_attention)(kernels, &device, arguments);
    if (device.simulated)
        message_exit(EXIT_BAD_INPUT, "bench needs a GPU: how long the simulator takes says nothing about a GPU");
    return bench(kernels, arguments->kernels, &device, arguments);
}

int main(int argc, char **argv) {
    struct arguments arguments;
    struct message error;
    if (!arguments_parse(argc, argv, &arguments, &error))
        message_exit(EXIT_BAD_INPUT, "%s", error.text);
    int status = act(&arguments);
    step_begin(STEP_END);
    return status;
}
