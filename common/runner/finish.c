#include "runner/finish.h"

#include "runner/cuda.h"
#include "runner/device.h"

// A call on several GPUs that failed in the middle has not ordered its streams: what is copied from a GPU afterwards
// would race with the kernels that are still in them.
static void wait_for_all_devices(void) {
    int devices = 0;
    cudaGetDeviceCount(&devices);
    for (int i = devices - 1; i >= 0; i--) {
        cudaSetDevice(i);
        cudaDeviceSynchronize();
    }
}

bool launch_finish(cudaError_t launch, const struct device_counts *before, const char *function,
                   enum device_state *state, struct message *cause) {
    cudaError_t unreported = cudaGetLastError(), end = cudaDeviceSynchronize();
    if (launch != cudaSuccess)
        wait_for_all_devices();
    struct device_counts now = device_counts();
    unsigned findings = now.findings - before->findings;
    bool good = true;
    *state = DEVICE_WELL;
    cause->text[0] = 0;
    if (end != cudaSuccess)
        good = message_set(cause, "a kernel failed while it ran: %s (%s) [kernel-failed]", cudaGetErrorString(end),
                           cudaGetErrorName(end));
    if (launch != cudaSuccess)
        good = message_set(cause, "%s() returned an error: %s (%s) [launch-error]", function,
                           cudaGetErrorString(launch), cudaGetErrorName(launch));
    else if (unreported != cudaSuccess)
        good = message_set(cause,
                           "a launch failed, and %s() did not return the error: %s (%s) [launch-error-not-returned]",
                           function, cudaGetErrorString(unreported), cudaGetErrorName(unreported));
    else if (good && now.failed > before->failed)
        good = message_set(cause, "a launch failed, and %s() dropped the error: see above [launch-error-dropped]",
                           function);
    else if (good && now.early > before->early)
        good =
            message_set(cause,
                        "a kernel was launched in another stream than the one passed to %s(), without waiting for the "
                        "passed stream: on a GPU the kernel may start before the inputs are ready [wrong-stream]",
                        function);
    else if (good && now.known && now.launches == before->launches)
        good = message_set(cause, "%s() launched no kernel, so nothing ran on the device [no-launch]", function);
    if (findings)
        good = message_set(cause, "the simulator reported %u error%s, see above [simulator-errors]", findings,
                           findings == 1 ? "" : "s");
    if (good)
        return true;
    // After an error that stays (a stray access, a trap) no call works until the device is reset; the reset itself may
    // return the old error once more.
    cudaGetLastError();
    if (cudaDeviceSynchronize() != cudaSuccess || cudaFree(NULL) != cudaSuccess) {
        cudaDeviceReset();
        cudaGetLastError();
        // The next case would take seconds to end in the same endless loop.
        bool endless = end == cudaErrorLaunchTimeout;
        *state = !endless && cudaFree(NULL) == cudaSuccess ? DEVICE_RESET : DEVICE_LOST;
    }
    return false;
}
