// Calls for systems with several devices. The simulator has one, 0.
#include "copy.h"
#include "device.h"
#include "stream.h"

static cudaError_t check_both(int device, int other) {
    cudaError_t error = device_check_ordinal(device);
    return error == cudaSuccess ? device_check_ordinal(other) : error;
}

static cudaError_t report_no_peer(int peer) {
    return api_error(cudaErrorInvalidDevice, "no peer access to device %d: the simulator has one device, 0", peer);
}

static cudaError_t enable(int peer, unsigned flags) {
    return flags ? api_error(cudaErrorInvalidValue, "flags must be 0") : report_no_peer(peer);
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags) {
    return DEVICE_CALL(enable(peer, flags));
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
    return DEVICE_CALL(report_no_peer(peer));
}

cudaError_t cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attribute, int device, int peer) {
    (void)value;
    (void)attribute;
    (void)device;
    return DEVICE_CALL(report_no_peer(peer));
}

static cudaError_t copy(void *to, int to_device, const void *from, int from_device, size_t size) {
    cudaError_t error = check_both(to_device, from_device);
    return error == cudaSuccess ? copy_bytes_sync(to, from, size, cudaMemcpyDeviceToDevice) : error;
}

cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t size) {
    return DEVICE_CALL(copy(to, to_device, from, from_device, size));
}

static cudaError_t copy_async(cudaStream_t stream, void *to, int to_device, const void *from, int from_device,
                              size_t size) {
    cudaError_t error = check_both(to_device, from_device);
    return error == cudaSuccess ? copy_bytes_async(stream, to, from, size, cudaMemcpyDeviceToDevice) : error;
}

cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t size,
                                cudaStream_t stream) {
    return STREAM_CALL(stream, copy_async(stream, to, to_device, from, from_device, size));
}

// The only device is the best match for any request.
static cudaError_t choose_device(int *device, const struct cudaDeviceProp *wanted) {
    if (!device || !wanted)
        return api_error(cudaErrorInvalidValue, "a pointer is NULL");
    *device = 0;
    return cudaSuccess;
}

cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *wanted) {
    return HOST_CALL(choose_device(device, wanted));
}

static cudaError_t set_valid(const int *devices, int count) {
    cudaError_t error = count > 0 && !devices ? api_error(cudaErrorInvalidValue, "the list is NULL") : cudaSuccess;
    for (int i = 0; i < count && error == cudaSuccess; i++)
        error = device_check_ordinal(devices[i]);
    return error;
}

cudaError_t cudaSetValidDevices(int *devices, int count) {
    return HOST_CALL(set_valid(devices, count));
}

#if CUDART_VERSION >= 12080
static cudaError_t get_device(int *device) {
    if (!device)
        return api_error(cudaErrorInvalidValue, "the pointer to the result is NULL");
    *device = 0;
    return cudaSuccess;
}

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int *device) {
    return STREAM_CALL(stream, get_device(device));
}
#endif
