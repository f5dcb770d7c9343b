#include "runner/finish.h"

#include "runner/cuda.h"
#include "runner/device.h"

bool launch_finish(cudaError_t launch, unsigned findings_before, const char *function, enum device_state *state,
                   struct message *cause) {
    cudaError_t unreported = cudaGetLastError(), end = cudaDeviceSynchronize();
    unsigned findings = device_findings() - findings_before;
    bool good = true;
    *state = DEVICE_WELL;
    cause->text[0] = 0;
    if (end != cudaSuccess)
        good =
            message_set(cause, "a kernel failed while it ran: %s (%s)", cudaGetErrorString(end), cudaGetErrorName(end));
    if (launch != cudaSuccess)
        good = message_set(cause, "%s() returned an error: %s (%s)", function, cudaGetErrorString(launch),
                           cudaGetErrorName(launch));
    else if (unreported != cudaSuccess)
        good = message_set(cause, "a launch failed, and %s() did not return its error: %s (%s)", function,
                           cudaGetErrorString(unreported), cudaGetErrorName(unreported));
    if (findings)
        good = message_set(cause, "the simulator found %u mistake%s, listed above", findings, findings == 1 ? "" : "s");
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
