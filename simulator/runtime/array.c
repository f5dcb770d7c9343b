// Arrays, and copies to and from them: see array.h. Rows lie one after the other, without a gap.
#include "array.h"
#include "copy.h"
#include "device_memory.h"
#include "graph.h"
#include "stream.h"

#include <stdlib.h>

static struct cudaArray *arrays;

cudaError_t array_check(cudaArray_const_t array) {
    for (const struct cudaArray *one = arrays; one; one = one->next)
        if (one == array)
            return cudaSuccess;
    return api_error(cudaErrorInvalidResourceHandle, "the array does not exist, or was freed");
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
        return api_error(cudaErrorInvalidValue, "a pointer is NULL or the array has no width");
    if (flags & ~known)
        return api_error(cudaErrorNotSupported,
                         "the simulator has no sparse arrays, nor any whose mapping is deferred");
    size_t bytes = array_texel_bytes(format);
    if (bytes == 0)
        return api_error(cudaErrorInvalidChannelDescriptor, "texels of %d, %d, %d and %d bits", format->x, format->y,
                         format->z, format->w);
    size_t faces = flags & cudaArrayLayered ? extent.depth % 6 : extent.depth - 6;
    if (flags & cudaArrayCubemap && (extent.width != extent.height || extent.depth == 0 || faces != 0))
        return api_error(cudaErrorInvalidValue,
                         "a cube has faces as high as wide, and a depth of 6; in layers, one of 6 a cube");
    if (flags & cudaArrayTextureGather && (extent.height == 0 || extent.depth != 0))
        return api_error(cudaErrorInvalidValue, "only arrays of two dimensions are gathered from");
    struct cudaArray made = {.format = *format, .extent = extent, .texel_bytes = bytes, .flags = flags};
    if (extent.width > 131072 || extent.height > 65536 || extent.depth > 16384)
        return api_error(cudaErrorInvalidValue, "an array of %zu x %zu x %zu texels is larger than a GPU has any",
                         extent.width, extent.height, extent.depth);
    struct cudaArray *kept = malloc(sizeof *kept);
    size_t size = extent.width * array_rows(&made) * array_slices(&made) * bytes;
    if (!kept || !(made.allocation = sim_memory_allocate(size, SIM_ALLOCATION_HEAP, NULL))) {
        free(kept);
        return api_error(cudaErrorMemoryAllocation, "there is no memory for an array of %zu bytes", size);
    }
    made.next = arrays;
    *kept = made;
    arrays = kept;
    *array = kept;
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
        error = api_error(cudaErrorInvalidResourceHandle, "a level is freed with the mipmapped array that it is of");
    else if (array && error == cudaSuccess)
        array_release(array);
    return error;
}

cudaError_t cudaFreeArray(cudaArray_t array) {
    return WAITING_CALL(release(array));
}

// The memory itself goes with that of the heap.
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

// One side of a copy: where it begins, and how far rows and slices lie apart.
struct block {
    uint8_t *at;
    size_t pitch, slice;
};

static cudaError_t block_of(struct block *block, cudaArray_const_t array, size_t x_bytes, size_t y, size_t z,
                            size_t width_bytes, size_t height, size_t depth) {
    cudaError_t error = array_check(array);
    if (error != cudaSuccess)
        return error;
    size_t row = array->extent.width * array->texel_bytes, rows = array_rows(array), slices = array_slices(array);
    if (x_bytes > row || width_bytes > row - x_bytes || y > rows || height > rows - y || z > slices ||
        depth > slices - z)
        return api_error(cudaErrorInvalidValue,
                         "%zu bytes x %zu x %zu from byte %zu, row %zu, slice %zu of an array of %zu bytes x %zu x %zu",
                         width_bytes, height, depth, x_bytes, y, z, row, rows, slices);
    block->pitch = row;
    block->slice = row * rows;
    block->at = (uint8_t *)(uintptr_t)array->allocation->address + z * block->slice + y * row + x_bytes;
    return cudaSuccess;
}

static enum cudaMemcpyKind between(enum cudaMemcpyKind kind, bool to_array, bool from_array) {
    bool from_device = from_array || kind == cudaMemcpyDeviceToDevice || kind == cudaMemcpyDeviceToHost;
    bool to_device = to_array || kind == cudaMemcpyDeviceToDevice || kind == cudaMemcpyHostToDevice;
    if (kind == cudaMemcpyDefault && to_array != from_array)
        return cudaMemcpyDefault;
    return to_device ? (from_device ? cudaMemcpyDeviceToDevice : cudaMemcpyHostToDevice)
                     : (from_device ? cudaMemcpyDeviceToHost : cudaMemcpyHostToHost);
}

// Slices of rows, each as a copy of its own; in a stream, or as a call that waits.
static cudaError_t copy_block(const cudaStream_t *stream, const struct block *to, const struct block *from,
                              size_t width, size_t height, size_t depth, enum cudaMemcpyKind kind) {
    cudaError_t error = stream ? cudaSuccess : capture_forbids_all("waits for it");
    for (size_t z = 0; z < depth && width && height && error == cudaSuccess; z++) {
        struct work *work =
            copy_work(to->at + z * to->slice, to->pitch, from->at + z * from->slice, from->pitch, width, height, kind);
        if (work && stream && capture_is_on(*stream)) {
            error = capture_add(*stream, work);
        } else if (work) {
            error = work->run(work, NULL);
            work_drop(work);
        } else {
            error = api_error(cudaErrorMemoryAllocation, "the host has no memory left");
        }
    }
    return error;
}

static cudaError_t to_array(const cudaStream_t *stream, cudaArray_t array, size_t x, size_t y, const void *from,
                            size_t pitch, size_t width, size_t height, enum cudaMemcpyKind kind) {
    struct block to, source = {(uint8_t *)from, pitch, 0};
    cudaError_t error = block_of(&to, array, x, y, 0, width, height, 1);
    return error != cudaSuccess ? error
                                : copy_block(stream, &to, &source, width, height, 1, between(kind, true, false));
}

static cudaError_t from_array(const cudaStream_t *stream, void *to, size_t pitch, cudaArray_const_t array, size_t x,
                              size_t y, size_t width, size_t height, enum cudaMemcpyKind kind) {
    struct block from, target = {to, pitch, 0};
    cudaError_t error = block_of(&from, array, x, y, 0, width, height, 1);
    return error != cudaSuccess ? error
                                : copy_block(stream, &target, &from, width, height, 1, between(kind, false, true));
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t array, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                                size_t height, enum cudaMemcpyKind kind) {
    return WAITING_CALL(to_array(NULL, array, x, y, from, pitch, width, height, kind));
}

cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t array, size_t x, size_t y, const void *from, size_t pitch,
                                     size_t width, size_t height, enum cudaMemcpyKind kind, cudaStream_t stream) {
    return STREAM_CALL(stream, to_array(&stream, array, x, y, from, pitch, width, height, kind));
}

cudaError_t cudaMemcpy2DFromArray(void *to, size_t pitch, cudaArray_const_t array, size_t x, size_t y, size_t width,
                                  size_t height, enum cudaMemcpyKind kind) {
    return WAITING_CALL(from_array(NULL, to, pitch, array, x, y, width, height, kind));
}

cudaError_t cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, cudaArray_const_t array, size_t x, size_t y,
                                       size_t width, size_t height, enum cudaMemcpyKind kind, cudaStream_t stream) {
    return STREAM_CALL(stream, from_array(&stream, to, pitch, array, x, y, width, height, kind));
}

// So many bytes on from a texel, over the ends of rows: as many whole rows as there are, where it begins a row.
cudaError_t cudaMemcpyToArray(cudaArray_t array, size_t x, size_t y, const void *from, size_t size,
                              enum cudaMemcpyKind kind) {
    size_t row = array ? array->extent.width * array->texel_bytes : 0;
    bool whole = row && x == 0 && size % row == 0;
    return WAITING_CALL(
        to_array(NULL, array, x, y, from, whole ? row : size, whole ? row : size, whole ? size / row : 1, kind));
}

cudaError_t cudaMemcpyFromArray(void *to, cudaArray_const_t array, size_t x, size_t y, size_t size,
                                enum cudaMemcpyKind kind) {
    size_t row = array ? array->extent.width * array->texel_bytes : 0;
    bool whole = row && x == 0 && size % row == 0;
    return WAITING_CALL(
        from_array(NULL, to, whole ? row : size, array, x, y, whole ? row : size, whole ? size / row : 1, kind));
}

cudaError_t cudaMemcpyToArrayAsync(cudaArray_t array, size_t x, size_t y, const void *from, size_t size,
                                   enum cudaMemcpyKind kind, cudaStream_t stream) {
    size_t row = array ? array->extent.width * array->texel_bytes : 0;
    bool whole = row && x == 0 && size % row == 0;
    return STREAM_CALL(stream, to_array(&stream, array, x, y, from, whole ? row : size, whole ? row : size,
                                        whole ? size / row : 1, kind));
}

static cudaError_t between_arrays(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from, size_t from_x,
                                  size_t from_y, size_t width, size_t height) {
    struct block target, source;
    cudaError_t error = block_of(&target, to, to_x, to_y, 0, width, height, 1);
    if (error == cudaSuccess)
        error = block_of(&source, from, from_x, from_y, 0, width, height, 1);
    return error == cudaSuccess ? copy_block(NULL, &target, &source, width, height, 1, cudaMemcpyDeviceToDevice)
                                : error;
}

cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from, size_t from_x,
                                     size_t from_y, size_t width, size_t height, enum cudaMemcpyKind kind) {
    (void)kind;
    return WAITING_CALL(between_arrays(to, to_x, to_y, from, from_x, from_y, width, height));
}

// One side of cudaMemcpy3D: positions and widths are in texels where there is an array, else in bytes.
static cudaError_t side_of(struct block *block, cudaArray_const_t array, struct cudaPos at,
                           struct cudaPitchedPtr pointer, size_t width_bytes, struct cudaExtent extent) {
    if (array)
        return block_of(block, array, at.x * array->texel_bytes, at.y, at.z, width_bytes, extent.height, extent.depth);
    *block = (struct block){pointer.ptr, pointer.pitch, pointer.pitch * pointer.ysize};
    block->at += at.z * block->slice + at.y * block->pitch + at.x;
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
    struct block to, from;
    cudaError_t error = side_of(&to, p->dstArray, p->dstPos, p->dstPtr, width, p->extent);
    if (error == cudaSuccess)
        error = side_of(&from, p->srcArray, p->srcPos, p->srcPtr, width, p->extent);
    return error != cudaSuccess ? error
                                : copy_block(stream, &to, &from, width, p->extent.height, p->extent.depth,
                                             between(p->kind, p->dstArray, p->srcArray));
}

cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *parameters) {
    return WAITING_CALL(copy_3d(NULL, parameters));
}

cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *parameters, cudaStream_t stream) {
    return STREAM_CALL(stream, copy_3d(&stream, parameters));
}

// The same as a node of a graph.
struct copying_3d {
    struct work work;
    struct cudaMemcpy3DParms parameters;
};

static cudaError_t run_copy_3d(const struct work *work, cudaStream_t stream) {
    return copy_3d(&stream, &((const struct copying_3d *)work)->parameters);
}

struct work *copy_3d_work(const struct cudaMemcpy3DParms *parameters) {
    struct copying_3d *c = work_new(sizeof *c, cudaGraphNodeTypeMemcpy, run_copy_3d);
    if (!c)
        return NULL;
    c->parameters = *parameters;
    return &c->work;
}
