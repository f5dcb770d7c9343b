// CUDA arrays, and copies to and from them: see array.h. Rows are contiguous.
#include "array.h"
#include "copy.h"
#include "device_memory.h"
#include "graph.h"
#include "stream.h"

#include <stdlib.h>

static struct cudaArray *arrays;

cudaError_t array_check(cudaArray_const_t array) {
    for (const struct cudaArray *entry = arrays; entry; entry = entry->next)
        if (entry == array)
            return cudaSuccess;
    return api_error(cudaErrorInvalidResourceHandle, "invalid array handle: never allocated, or already freed");
}

size_t array_texel_bytes(const struct cudaChannelFormatDesc *format) {
    const int bits[] = {format->x, format->y, format->z, format->w};
    int channels = 0;
    while (channels < 4 && bits[channels] == bits[0])
        channels++;
    for (int i = channels; i < 4; i++)
        if (bits[i] != 0)
            return 0;
    bool known = (bits[0] == 8 || bits[0] == 16 || bits[0] == 32) && channels != 3;
    return known && format->f <= cudaChannelFormatKindFloat ? (size_t)(channels * bits[0] / 8) : 0;
}

size_t array_rows(cudaArray_const_t array) {
    return array->extent.height ? array->extent.height : 1;
}

size_t array_slices(cudaArray_const_t array) {
    return array->extent.depth ? array->extent.depth : 1;
}

cudaError_t array_allocate(cudaArray_t *array, const struct cudaChannelFormatDesc *format, struct cudaExtent extent,
                           unsigned flags) {
    const unsigned known = cudaArrayLayered | cudaArraySurfaceLoadStore | cudaArrayCubemap | cudaArrayTextureGather;
    if (!array || !format || extent.width == 0)
        return api_error(cudaErrorInvalidValue, "the result or the format is NULL, or the width is 0");
    if (flags & ~known)
        return api_error(cudaErrorNotSupported, "sparse arrays and deferred mapping are not supported");
    size_t bytes = array_texel_bytes(format);
    if (bytes == 0)
        return api_error(
            cudaErrorInvalidChannelDescriptor,
            "unsupported channel format of %d, %d, %d and %d bits: a texel has 1, 2 or 4 channels of 8, 16 or 32 bits",
            format->x, format->y, format->z, format->w);
    size_t faces = flags & cudaArrayLayered ? extent.depth % 6 : extent.depth - 6;
    if (flags & cudaArrayCubemap && (extent.width != extent.height || extent.depth == 0 || faces != 0))
        return api_error(
            cudaErrorInvalidValue,
            "a cubemap needs equal width and height and a depth of 6, or a multiple of 6 if it is layered");
    if (flags & cudaArrayTextureGather && (extent.height == 0 || extent.depth != 0))
        return api_error(cudaErrorInvalidValue, "texture gather needs a two-dimensional array");
    struct cudaArray created = {.format = *format, .extent = extent, .texel_bytes = bytes, .flags = flags};
    if (extent.width > 131072 || extent.height > 65536 || extent.depth > 16384)
        return api_error(cudaErrorInvalidValue,
                         "an array of %zu x %zu x %zu texels exceeds the limit of 131072 x 65536 x 16384", extent.width,
                         extent.height, extent.depth);
    struct cudaArray *stored = malloc(sizeof *stored);
    size_t size = extent.width * array_rows(&created) * array_slices(&created) * bytes;
    if (!stored || !(created.allocation = sim_memory_allocate(size, SIM_ALLOCATION_HEAP, NULL))) {
        free(stored);
        return api_error(cudaErrorMemoryAllocation, "out of memory for an array of %zu bytes", size);
    }
    created.next = arrays;
    *stored = created;
    arrays = stored;
    *array = stored;
    return cudaSuccess;
}

cudaError_t cudaMallocArray(cudaArray_t *array, const struct cudaChannelFormatDesc *format, size_t width, size_t height,
                            unsigned int flags) {
    return DEVICE_CALL(array_allocate(array, format, (struct cudaExtent){width, height, 0}, flags));
}

cudaError_t cudaMalloc3DArray(cudaArray_t *array, const struct cudaChannelFormatDesc *format, struct cudaExtent extent,
                              unsigned int flags) {
    return DEVICE_CALL(array_allocate(array, format, extent, flags));
}

static void unlink(struct cudaArray *array) {
    struct cudaArray **link = &arrays;
    while (*link != array)
        link = &(*link)->next;
    *link = array->next;
    free(array);
}

void array_release(cudaArray_t array) {
    sim_memory_free(array->allocation->address);
    unlink(array);
}

static cudaError_t release(cudaArray_t array) {
    cudaError_t error = array ? array_check(array) : cudaSuccess;
    if (array && error == cudaSuccess && array->level)
        error = api_error(cudaErrorInvalidResourceHandle,
                          "the array is a level of a mipmapped array; free that one with cudaFreeMipmappedArray");
    else if (array && error == cudaSuccess)
        array_release(array);
    return error;
}

cudaError_t cudaFreeArray(cudaArray_t array) {
    return SYNCHRONIZING_CALL(release(array));
}

// device_memory_free_all frees the memory itself.
void array_free_all(void) {
    while (arrays)
        unlink(arrays);
}

static cudaError_t info(struct cudaChannelFormatDesc *format, struct cudaExtent *extent, unsigned *flags,
                        cudaArray_t array) {
    cudaError_t error = array_check(array);
    if (error != cudaSuccess)
        return error;
    if (format)
        *format = array->format;
    if (extent)
        *extent = array->extent;
    if (flags)
        *flags = array->flags;
    return cudaSuccess;
}

cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *format, struct cudaExtent *extent, unsigned int *flags,
                             cudaArray_t array) {
    return DEVICE_CALL(info(format, extent, flags, array));
}

cudaError_t cudaGetChannelDesc(struct cudaChannelFormatDesc *format, cudaArray_const_t array) {
    return DEVICE_CALL(info(format, NULL, NULL, (cudaArray_t)array));
}

// ---- Copies ------------------------------------------------------------------------------------------------------

// One side of a copy: its start address, row pitch and slice pitch.
struct copy_side {
    uint8_t *at;
    size_t pitch, slice;
};

static cudaError_t array_side(struct copy_side *copy_side, cudaArray_const_t array, size_t x_bytes, size_t y, size_t z,
                              size_t width_bytes, size_t height, size_t depth) {
    cudaError_t error = array_check(array);
    if (error != cudaSuccess)
        return error;
    size_t row = array->extent.width * array->texel_bytes, rows = array_rows(array), slices = array_slices(array);
    if (x_bytes > row || width_bytes > row - x_bytes || y > rows || height > rows - y || z > slices ||
        depth > slices - z)
        return api_error(cudaErrorInvalidValue,
                         "copy out of bounds: %zu bytes x %zu x %zu from byte %zu, row %zu, slice %zu of an array of "
                         "%zu bytes x %zu x %zu",
                         width_bytes, height, depth, x_bytes, y, z, row, rows, slices);
    copy_side->pitch = row;
    copy_side->slice = row * rows;
    copy_side->at = (uint8_t *)(uintptr_t)array->allocation->address + z * copy_side->slice + y * row + x_bytes;
    return cudaSuccess;
}

static enum cudaMemcpyKind copy_kind(enum cudaMemcpyKind kind, bool to_array, bool from_array) {
    bool from_device = from_array || kind == cudaMemcpyDeviceToDevice || kind == cudaMemcpyDeviceToHost;
    bool to_device = to_array || kind == cudaMemcpyDeviceToDevice || kind == cudaMemcpyHostToDevice;
    if (kind == cudaMemcpyDefault && to_array != from_array)
        return cudaMemcpyDefault;
    return to_device ? (from_device ? cudaMemcpyDeviceToDevice : cudaMemcpyHostToDevice)
                     : (from_device ? cudaMemcpyDeviceToHost : cudaMemcpyHostToHost);
}

// Copies each slice of rows separately; asynchronously in a stream, or synchronously.
static cudaError_t copy_slices(const cudaStream_t *stream, const struct copy_side *to, const struct copy_side *from,
                               size_t width, size_t height, size_t depth, enum cudaMemcpyKind kind) {
    cudaError_t error = stream ? cudaSuccess : capture_reject_all("the call synchronizes with the device");
    for (size_t z = 0; z < depth && width && height && error == cudaSuccess; z++) {
        struct operation *operation = new_memcpy_operation(
            to->at + z * to->slice, to->pitch, from->at + z * from->slice, from->pitch, width, height, kind);
        if (operation && stream && capture_is_active(*stream)) {
            error = capture_add(*stream, operation);
        } else if (operation) {
            error = operation->run(operation, NULL);
            operation_release(operation);
        } else {
            error = api_error(cudaErrorMemoryAllocation, "out of host memory");
        }
    }
    return error;
}

static cudaError_t to_array(const cudaStream_t *stream, cudaArray_t array, size_t x, size_t y, const void *from,
                            size_t pitch, size_t width, size_t height, enum cudaMemcpyKind kind) {
    struct copy_side to, source = {(uint8_t *)from, pitch, 0};
    cudaError_t error = array_side(&to, array, x, y, 0, width, height, 1);
    return error != cudaSuccess ? error
                                : copy_slices(stream, &to, &source, width, height, 1, copy_kind(kind, true, false));
}

static cudaError_t from_array(const cudaStream_t *stream, void *to, size_t pitch, cudaArray_const_t array, size_t x,
                              size_t y, size_t width, size_t height, enum cudaMemcpyKind kind) {
    struct copy_side from, target = {to, pitch, 0};
    cudaError_t error = array_side(&from, array, x, y, 0, width, height, 1);
    return error != cudaSuccess ? error
                                : copy_slices(stream, &target, &from, width, height, 1, copy_kind(kind, false, true));
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t array, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                                size_t height, enum cudaMemcpyKind kind) {
    return SYNCHRONIZING_CALL(to_array(NULL, array, x, y, from, pitch, width, height, kind));
}

cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t array, size_t x, size_t y, const void *from, size_t pitch,
                                     size_t width, size_t height, enum cudaMemcpyKind kind, cudaStream_t stream) {
    return STREAM_CALL(stream, to_array(&stream, array, x, y, from, pitch, width, height, kind));
}

cudaError_t cudaMemcpy2DFromArray(void *to, size_t pitch, cudaArray_const_t array, size_t x, size_t y, size_t width,
                                  size_t height, enum cudaMemcpyKind kind) {
    return SYNCHRONIZING_CALL(from_array(NULL, to, pitch, array, x, y, width, height, kind));
}

cudaError_t cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, cudaArray_const_t array, size_t x, size_t y,
                                       size_t width, size_t height, enum cudaMemcpyKind kind, cudaStream_t stream) {
    return STREAM_CALL(stream, from_array(&stream, to, pitch, array, x, y, width, height, kind));
}

// Copies size bytes from a texel on, across the ends of rows: as whole rows if the texel starts a row.
cudaError_t cudaMemcpyToArray(cudaArray_t array, size_t x, size_t y, const void *from, size_t size,
                              enum cudaMemcpyKind kind) {
    size_t row = array ? array->extent.width * array->texel_bytes : 0;
    bool whole_rows = row && x == 0 && size % row == 0;
    return SYNCHRONIZING_CALL(to_array(NULL, array, x, y, from, whole_rows ? row : size, whole_rows ? row : size,
                                       whole_rows ? size / row : 1, kind));
}

cudaError_t cudaMemcpyFromArray(void *to, cudaArray_const_t array, size_t x, size_t y, size_t size,
                                enum cudaMemcpyKind kind) {
    size_t row = array ? array->extent.width * array->texel_bytes : 0;
    bool whole_rows = row && x == 0 && size % row == 0;
    return SYNCHRONIZING_CALL(from_array(NULL, to, whole_rows ? row : size, array, x, y, whole_rows ? row : size,
                                         whole_rows ? size / row : 1, kind));
}

cudaError_t cudaMemcpyToArrayAsync(cudaArray_t array, size_t x, size_t y, const void *from, size_t size,
                                   enum cudaMemcpyKind kind, cudaStream_t stream) {
    size_t row = array ? array->extent.width * array->texel_bytes : 0;
    bool whole_rows = row && x == 0 && size % row == 0;
    return STREAM_CALL(stream, to_array(&stream, array, x, y, from, whole_rows ? row : size, whole_rows ? row : size,
                                        whole_rows ? size / row : 1, kind));
}

static cudaError_t between_arrays(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from, size_t from_x,
                                  size_t from_y, size_t width, size_t height) {
    struct copy_side target, source;
    cudaError_t error = array_side(&target, to, to_x, to_y, 0, width, height, 1);
    if (error == cudaSuccess)
        error = array_side(&source, from, from_x, from_y, 0, width, height, 1);
    return error == cudaSuccess ? copy_slices(NULL, &target, &source, width, height, 1, cudaMemcpyDeviceToDevice)
                                : error;
}

cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from, size_t from_x,
                                     size_t from_y, size_t width, size_t height, enum cudaMemcpyKind kind) {
    (void)kind;
    return SYNCHRONIZING_CALL(between_arrays(to, to_x, to_y, from, from_x, from_y, width, height));
}

// One side of cudaMemcpy3D: positions and widths are in texels for an array, else in bytes.
static cudaError_t parameter_side(struct copy_side *copy_side, cudaArray_const_t array, struct cudaPos at,
                                  struct cudaPitchedPtr pointer, size_t width_bytes, struct cudaExtent extent) {
    if (array)
        return array_side(copy_side, array, at.x * array->texel_bytes, at.y, at.z, width_bytes, extent.height,
                          extent.depth);
    *copy_side = (struct copy_side){pointer.ptr, pointer.pitch, pointer.pitch * pointer.ysize};
    copy_side->at += at.z * copy_side->slice + at.y * copy_side->pitch + at.x;
    return cudaSuccess;
}

static cudaError_t copy_3d(const cudaStream_t *stream, const struct cudaMemcpy3DParms *p) {
    if (!p)
        return api_error(cudaErrorInvalidValue, "the parameters are NULL");
    for (int side = 0; side < 2; side++) {
        cudaArray_t array = side ? p->dstArray : p->srcArray;
        cudaError_t error = array ? array_check(array) : cudaSuccess;
        if (error != cudaSuccess)
            return error;
        if (!array == !(side ? p->dstPtr.ptr : p->srcPtr.ptr))
            return api_error(cudaErrorInvalidValue, "the %s is %s", side ? "destination" : "source",
                             array ? "an array and a pointer" : "neither an array nor a pointer");
    }
    cudaArray_t texels = p->srcArray ? p->srcArray : p->dstArray;
    size_t width = p->extent.width * (texels ? texels->texel_bytes : 1);
    struct copy_side to, from;
    cudaError_t error = parameter_side(&to, p->dstArray, p->dstPos, p->dstPtr, width, p->extent);
    if (error == cudaSuccess)
        error = parameter_side(&from, p->srcArray, p->srcPos, p->srcPtr, width, p->extent);
    return error != cudaSuccess ? error
                                : copy_slices(stream, &to, &from, width, p->extent.height, p->extent.depth,
                                              copy_kind(p->kind, p->dstArray, p->srcArray));
}

cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *parameters) {
    return SYNCHRONIZING_CALL(copy_3d(NULL, parameters));
}

cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *parameters, cudaStream_t stream) {
    return STREAM_CALL(stream, copy_3d(&stream, parameters));
}

// The 3D copy as an operation of a graph.
struct memcpy_3d_operation {
    struct operation operation;
    struct cudaMemcpy3DParms parameters;
};

static cudaError_t run_copy_3d(const struct operation *operation, cudaStream_t stream) {
    return copy_3d(&stream, &((const struct memcpy_3d_operation *)operation)->parameters);
}

struct operation *new_memcpy_3d_operation(const struct cudaMemcpy3DParms *parameters) {
    struct memcpy_3d_operation *c = operation_new(sizeof *c, cudaGraphNodeTypeMemcpy, run_copy_3d);
    if (!c)
        return NULL;
    c->parameters = *parameters;
    return &c->operation;
}
