// Calls for several devices: which there are, copies between their memories, and access by kernels to a peer's memory.
// Any device can access any other one's, once the program enables it.
#include "copy.h"
#include "device.h"
#include "device_memory.h"
#include "stream.h"

#include "../machine/timeline.h"

static cudaError_t check_both(int device, int other) {
    cudaError_t error = device_check_ordinal(device);
    return error == cudaSuccess ? device_check_ordinal(other) : error;
}

static cudaError_t check_peer(int device, int peer) {
    cudaError_t error = check_both(device, peer);
    if (error == cudaSuccess && device == peer)
        error = api_error(cudaErrorInvalidDevice, "device %d is no peer of itself", device);
    return error;
}

static cudaError_t can_access_peer(int *can, int device, int peer) {
    if (!can)
        return api_error(cudaErrorInvalidValue, "the pointer to the result is NULL");
    cudaError_t error = check_both(device, peer);
    *can = error == cudaSuccess && device != peer;
    return error;
}

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer) {
    return DEVICE_CALL(can_access_peer(can, device, peer));
}

static cudaError_t enable(int peer, unsigned flags) {
    int device = device_ordinal();
    cudaError_t error = flags ? api_error(cudaErrorInvalidValue, "flags must be 0") : check_peer(device, peer);
    if (error != cudaSuccess)
        return error;
    if (sim_memory_peer_is_enabled(device, peer))
        return api_error(cudaErrorPeerAccessAlreadyEnabled, "device %d has access to device %d already", device, peer);
    sim_memory_enable_peer(device, peer, true);
    return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags) {
    return DEVICE_CALL(enable(peer, flags));
}

static cudaError_t disable(int peer) {
    int device = device_ordinal();
    cudaError_t error = check_peer(device, peer);
    if (error != cudaSuccess)
        return error;
    if (!sim_memory_peer_is_enabled(device, peer))
        return api_error(cudaErrorPeerAccessNotEnabled, "device %d has no access to device %d", device, peer);
    sim_memory_enable_peer(device, peer, false);
    return cudaSuccess;
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
    return DEVICE_CALL(disable(peer));
}

static cudaError_t attribute_of_peers(int *value, enum cudaDeviceP2PAttr attribute, int device, int peer) {
    cudaError_t error = value ? check_peer(device, peer) : api_error(cudaErrorInvalidValue, "a pointer is NULL");
    if (error == cudaSuccess)
        *value = attribute == cudaDevP2PAttrPerformanceRank ? 0 : 1;
    return error;
}

cudaError_t cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attribute, int device, int peer) {
    return DEVICE_CALL(attribute_of_peers(value, attribute, device, peer));
}

// Memory of the device that the call names.
static cudaError_t check_side(const char *role, const void *address, int device) {
    const struct sim_allocation *allocation = device_memory_find(address);
    if (!allocation || allocation->device == device)
        return cudaSuccess; // the copy itself reports an address that is no device memory
    return api_error(cudaErrorInvalidValue, "%s %p is in the memory of device %d, not of device %d", role, address,
                     allocation->device, device);
}

static cudaError_t check_copy(const void *to, int to_device, const void *from, int from_device) {
    cudaError_t error = check_both(to_device, from_device);
    if (error == cudaSuccess)
        error = check_side("the destination", to, to_device);
    return error == cudaSuccess ? check_side("the source", from, from_device) : error;
}

// What follows in the default stream of `device` is ordered after what precedes in that of `other`.
static void order_after(int device, int other) {
    struct timeline_clock point;
    timeline_record(TIMELINE_LEGACY + (unsigned)other * TIMELINE_DEFAULTS, &point);
    timeline_wait(TIMELINE_LEGACY + (unsigned)device * TIMELINE_DEFAULTS, &point);
}

// The copy waits for the work of both devices, and their later work for the copy.
static cudaError_t copy(void *to, int to_device, const void *from, int from_device, size_t size) {
    cudaError_t error = check_copy(to, to_device, from, from_device);
    if (error != cudaSuccess)
        return error;
    order_after(device_ordinal(), to_device);
    order_after(device_ordinal(), from_device);
    error = copy_bytes_sync(to, from, size, cudaMemcpyDeviceToDevice);
    order_after(to_device, device_ordinal());
    order_after(from_device, device_ordinal());
    return error;
}

cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t size) {
    return DEVICE_CALL(copy(to, to_device, from, from_device, size));
}

static cudaError_t copy_async(cudaStream_t stream, void *to, int to_device, const void *from, int from_device,
                              size_t size) {
    cudaError_t error = check_copy(to, to_device, from, from_device);
    return error == cudaSuccess ? copy_bytes_async(stream, to, from, size, cudaMemcpyDeviceToDevice) : error;
}

cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t size,
                                cudaStream_t stream) {
    return STREAM_CALL(stream, copy_async(stream, to, to_device, from, from_device, size));
}

// All devices are alike, so the first one is the best match for any request.
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
static cudaError_t get_device(cudaStream_t stream, int *device) {
    if (!device)
        return api_error(cudaErrorInvalidValue, "the pointer to the result is NULL");
    *device = stream_device(stream);
    return cudaSuccess;
}

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int *device) {
    return STREAM_CALL(stream, get_device(stream, device));
}
#endif
