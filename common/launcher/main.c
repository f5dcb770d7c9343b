// build/bin/attention: reads the command line, chooses the device, and starts the runner on it.
#include "arguments.h"
#include "launcher/device.h"
#include "launcher/serialised.h"
#include "launcher/supervise.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SERIALISED_TEXT = 4096 };
#define SIMULATED_DEVICES "4"

static enum device_choice choose_device(const struct arguments *arguments) {
    bool bench = arguments->action == ACTION_BENCH;
    if (bench && arguments->device == DEVICE_SIMULATOR)
        message_exit(EXIT_BAD_INPUT, "bench needs a GPU: times of the simulator tell nothing about a GPU [no-gpu]");
    if (arguments->device == DEVICE_SIMULATOR)
        return DEVICE_SIMULATOR;
    if (device_gpu_answers())
        return DEVICE_GPU;
    if (bench)
        message_exit(EXIT_BAD_INPUT,
                     "bench needs a GPU, and none answers: see nvidia-smi; make check runs without one [no-gpu]");
    if (arguments->device == DEVICE_GPU)
        message_exit(EXIT_BAD_INPUT, "DEVICE=gpu, but no GPU answers: see nvidia-smi; DEVICE=sim needs none [no-gpu]");
    return DEVICE_SIMULATOR;
}

// Serialization by ptxas concerns the machine code only: such a kernel is refused on a GPU, while the simulator runs
// PTX.
static void refuse_serialised(const struct arguments *arguments) {
    char line[SERIALISED_TEXT];
    for (int i = 0; i < arguments->kernels; i++)
        if (serialised_read(arguments->kernel[i].library, line, sizeof line))
            message_exit(EXIT_BAD_INPUT, "%s%s", line,
                         arguments->action == ACTION_CHECK ? "; DEVICE=sim still checks it" : "");
}

static void warn_serialised(const struct arguments *arguments) {
    char line[SERIALISED_TEXT];
    if (arguments->sample == SAMPLE_NONE && serialised_read(arguments->kernel[0].library, line, sizeof line))
        printf("This kernel will not run on a GPU: %s\n", line);
}

// The folder of this executable.
static void executable_folder(char *folder, size_t size) {
    ssize_t length = readlink("/proc/self/exe", folder, size - 1);
    if (length < 0)
        message_exit(EXIT_CHECK_FAILED, "/proc/self/exe cannot be read");
    folder[length] = 0;
    *strrchr(folder, '/') = 0;
}

// LD_LIBRARY_PATH puts the simulator's libcudart before NVIDIA's, which is in the runner's RUNPATH.
static void use_simulator(const char *folder) {
    char path[2 * PATH_MAX];
    const char *old = getenv("LD_LIBRARY_PATH");
    snprintf(path, sizeof path, "%s/../simulator%s%s", folder, old && *old ? ":" : "", old ? old : "");
    setenv("LD_LIBRARY_PATH", path, 1);
    setenv("SIM_DEVICES", SIMULATED_DEVICES, 0); // for lessons on several GPUs; others take the first one
}

int main(int argc, char **argv) {
    static struct arguments arguments;
    struct message error;
    message_guard_stdout();
    char folder[PATH_MAX], runner[PATH_MAX + 16];
    if (!arguments_parse(argc, argv, &arguments, &error))
        message_exit(EXIT_BAD_INPUT, "%s", error.text);
    // A check without DEVICE runs on whatever there is: the driver need not be asked yet.
    if (arguments.ready && arguments.action == ACTION_CHECK && arguments.device == DEVICE_ANY)
        return 0;
    enum device_choice device = choose_device(&arguments);
    if (arguments.ready)
        return 0;
    executable_folder(folder, sizeof folder);
    snprintf(runner, sizeof runner, "%s/runner", folder);
    if (device == DEVICE_SIMULATOR)
        use_simulator(folder);
    else
        refuse_serialised(&arguments);

    arguments.device = device;
    arguments_send(&arguments);
    fflush(stdout);
    const char *kept = arguments.action == ACTION_BENCH ? "stopped: nothing was recorded" : NULL;
    int status = supervise(runner, arguments.time_limit, kept);
    if (device == DEVICE_SIMULATOR && (status == 0 || status == EXIT_CHECK_FAILED))
        warn_serialised(&arguments);
    return status;
}
