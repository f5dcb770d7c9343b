// Access to device variables by host symbol: cudaMemcpyToSymbol(variable, ...) passes the address of a host variable,
// which only identifies the device variable that registration.c recorded for it.
#include "copy.h"
#include "module.h"
#include "stream.h"

static cudaError_t find(const void *symbol, struct variable **variable, uint64_t *address) {
    *variable = variable_find(symbol);
    if (!*variable)
        return api_error(cudaErrorInvalidSymbol,
                         "the symbol is not a __device__ or __constant__ variable of the program");
    return variable_address(*variable, address);
}

cudaError_t symbol_range(const void *symbol, size_t offset, size_t size, void **device) {
    struct variable *variable = NULL;
    uint64_t address;
    cudaError_t error = find(symbol, &variable, &address);
    if (error != cudaSuccess)
        return error;
    if (offset > variable->size || size > variable->size - offset) {
        return api_error(cudaErrorInvalidValue,
                         "%zu bytes at offset %zu are out of bounds of variable %s, which has %zu bytes", size, offset,
                         variable->name, variable->size);
    }
    *device = (void *)(uintptr_t)(address + offset);
    return cudaSuccess;
}

// Copies asynchronously in a stream, or (stream NULL) synchronously.
static cudaError_t copy(const cudaStream_t *stream, void *to, const void *from, size_t size, enum cudaMemcpyKind kind) {
    return stream ? copy_bytes_async(*stream, to, from, size, kind) : copy_bytes_sync(to, from, size, kind);
}

static cudaError_t to_symbol(const cudaStream_t *stream, const void *symbol, const void *from, size_t size,
                             size_t offset, enum cudaMemcpyKind kind) {
    if (kind != cudaMemcpyHostToDevice && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
        return api_error(cudaErrorInvalidMemcpyDirection,
                         "invalid copy direction: the destination is a device variable");
    void *device = NULL;
    cudaError_t error = symbol_range(symbol, offset, size, &device);
    return error == cudaSuccess ? copy(stream, device, from, size, kind) : error;
}

static cudaError_t from_symbol(const cudaStream_t *stream, void *to, const void *symbol, size_t size, size_t offset,
                               enum cudaMemcpyKind kind) {
    if (kind != cudaMemcpyDeviceToHost && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
        return api_error(cudaErrorInvalidMemcpyDirection, "invalid copy direction: the source is a device variable");
    void *device = NULL;
    cudaError_t error = symbol_range(symbol, offset, size, &device);
    return error == cudaSuccess ? copy(stream, to, device, size, kind) : error;
}

cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, size_t size, size_t offset,
                               enum cudaMemcpyKind kind) {
    return SYNCHRONIZING_CALL(to_symbol(NULL, symbol, from, size, offset, kind));
}

cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t size, size_t offset, enum cudaMemcpyKind kind) {
    return SYNCHRONIZING_CALL(from_symbol(NULL, to, symbol, size, offset, kind));
}

cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t size, size_t offset,
                                    enum cudaMemcpyKind kind, cudaStream_t stream) {
    return STREAM_CALL(stream, to_symbol(&stream, symbol, from, size, offset, kind));
}

cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t size, size_t offset,
                                      enum cudaMemcpyKind kind, cudaStream_t stream) {
    return STREAM_CALL(stream, from_symbol(&stream, to, symbol, size, offset, kind));
}

static cudaError_t symbol_address(void **device, const void *symbol) {
    return !device ? api_error(cudaErrorInvalidValue, "the pointer to the result is NULL")
                   : symbol_range(symbol, 0, 0, device);
}

cudaError_t cudaGetSymbolAddress(void **device, const void *symbol) {
    return DEVICE_CALL(symbol_address(device, symbol));
}

static cudaError_t symbol_size(size_t *size, const void *symbol) {
    struct variable *variable = NULL;
    uint64_t address;
    cudaError_t error = !size ? api_error(cudaErrorInvalidValue, "the pointer to the result is NULL")
                              : find(symbol, &variable, &address);
    if (error == cudaSuccess)
        *size = variable->size;
    return error;
}

cudaError_t cudaGetSymbolSize(size_t *size, const void *symbol) {
    return DEVICE_CALL(symbol_size(size, symbol));
}
