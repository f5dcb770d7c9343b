// Texture and surface objects: checks their descriptors and translates them into the structures of machine/texture.h.
#include "../machine/texture.h"
#include "array.h"
#include "device_memory.h"

#include <string.h>

void texture_free_all(void) {
    sim_texture_remove_all();
}

static void set_format(struct sim_texture *t, const struct cudaChannelFormatDesc *format) {
    t->channel_bytes = format->x / 8;
    t->channels = (int)array_texel_bytes(format) / t->channel_bytes;
    t->kind = format->f == cudaChannelFormatKindSigned     ? SIM_TEXEL_SIGNED
              : format->f == cudaChannelFormatKindUnsigned ? SIM_TEXEL_UNSIGNED
                                                           : SIM_TEXEL_FLOAT;
}

// Appends a mipmap level.
static cudaError_t add_array_level(struct sim_texture *t, cudaArray_t array) {
    cudaError_t error = array_check(array);
    if (error != cudaSuccess)
        return error;
    set_format(t, &array->format);
    t->array = true;
    t->cube = array->flags & cudaArrayCubemap;
    size_t row = array->extent.width * array->texel_bytes;
    t->level[t->levels++] = (struct sim_level){.address = array->allocation->address,
                                               .size = {array->extent.width, array_rows(array), array_slices(array)},
                                               .row_bytes = row,
                                               .slice_bytes = row * array_rows(array)};
    return cudaSuccess;
}

static cudaError_t add_mipmap_levels(struct sim_texture *t, cudaMipmappedArray_t mipmap) {
    cudaError_t error = mipmap_check(mipmap);
    for (unsigned i = 0; error == cudaSuccess && i < mipmap->levels; i++)
        error = add_array_level(t, mipmap->level[i]);
    return error;
}

// Sets pitched or linear device memory.
static cudaError_t set_linear_memory(struct sim_texture *t, const void *address,
                                     const struct cudaChannelFormatDesc *format, size_t width_bytes, size_t height,
                                     size_t pitch) {
    size_t texel = array_texel_bytes(format), size = (height - 1) * pitch + width_bytes;
    if (texel == 0)
        return api_error(
            cudaErrorInvalidChannelDescriptor,
            "unsupported channel format of %d, %d, %d and %d bits: a texel has 1, 2 or 4 channels of 8, 16 or 32 bits",
            format->x, format->y, format->z, format->w);
    if (!sim_memory_find((uint64_t)(uintptr_t)address, size))
        return device_memory_report_invalid("the texture's memory", address, size);
    set_format(t, format);
    t->level[0] = (struct sim_level){.address = (uint64_t)(uintptr_t)address,
                                     .size = {width_bytes / texel, height, 1},
                                     .row_bytes = pitch,
                                     .slice_bytes = size};
    t->levels = 1;
    return cudaSuccess;
}

static cudaError_t set_resource(struct sim_texture *t, const struct cudaResourceDesc *resource, bool surface) {
    if (surface && resource->resType != cudaResourceTypeArray)
        return api_error(cudaErrorInvalidValue, "a surface object needs a CUDA array");
    switch (resource->resType) {
    case cudaResourceTypeArray:
        return add_array_level(t, resource->res.array.array);
    case cudaResourceTypeLinear:
        return set_linear_memory(t, resource->res.linear.devPtr, &resource->res.linear.desc,
                                 resource->res.linear.sizeInBytes, 1, resource->res.linear.sizeInBytes);
    case cudaResourceTypePitch2D: {
        size_t texel = array_texel_bytes(&resource->res.pitch2D.desc);
        return set_linear_memory(t, resource->res.pitch2D.devPtr, &resource->res.pitch2D.desc,
                                 resource->res.pitch2D.width * texel, resource->res.pitch2D.height,
                                 resource->res.pitch2D.pitchInBytes);
    }
    case cudaResourceTypeMipmappedArray:
        return add_mipmap_levels(t, resource->res.mipmap.mipmap);
    default:
        return api_error(cudaErrorInvalidValue, "unknown resource type %d", (int)resource->resType);
    }
}

static cudaError_t set_texture_descriptor(struct sim_texture *t, const struct cudaTextureDesc *d, bool is_linear) {
    static const enum sim_addressing addressing[] = {[cudaAddressModeWrap] = SIM_ADDRESS_WRAP,
                                                     [cudaAddressModeClamp] = SIM_ADDRESS_CLAMP,
                                                     [cudaAddressModeMirror] = SIM_ADDRESS_MIRROR,
                                                     [cudaAddressModeBorder] = SIM_ADDRESS_BORDER};
    for (int i = 0; i < 3; i++) {
        if ((unsigned)d->addressMode[i] > cudaAddressModeBorder)
            return api_error(cudaErrorInvalidValue, "unknown address mode %d", (int)d->addressMode[i]);
        t->addressing[i] = addressing[d->addressMode[i]];
        // Unnormalized coordinates do not wrap (programming guide, "Texture Memory").
        if (!d->normalizedCoords && t->addressing[i] != SIM_ADDRESS_BORDER)
            t->addressing[i] = SIM_ADDRESS_CLAMP;
    }
    t->linear = d->filterMode == cudaFilterModeLinear;
    t->normalised = d->readMode == cudaReadModeNormalizedFloat;
    // A direction never leaves the edges of a cube face.
    for (int i = 0; i < 3 && t->cube; i++)
        t->addressing[i] = SIM_ADDRESS_CLAMP;
    t->unit = d->normalizedCoords != 0 || t->cube;
    memcpy(t->border, d->borderColor, sizeof t->border);
    t->mixes_levels = d->mipmapFilterMode == cudaFilterModeLinear;
    t->bias = d->mipmapLevelBias;
    t->least = d->minMipmapLevelClamp;
    t->most = d->maxMipmapLevelClamp;
    if (t->levels > 1 && !t->unit)
        return api_error(cudaErrorInvalidValue, "mipmapped textures need normalized coordinates");
    if (d->sRGB)
        return api_error(cudaErrorNotSupported, "sRGB textures are not supported");
    if (d->seamlessCubemap && t->linear)
        return api_error(cudaErrorNotSupported, "seamless cubemap filtering is not supported");
    if (t->normalised && (t->kind == SIM_TEXEL_FLOAT || t->channel_bytes == 4))
        return api_error(cudaErrorInvalidNormSetting,
                         "cudaReadModeNormalizedFloat needs integer texels of 8 or 16 bits");
    if ((t->linear || (t->mixes_levels && t->levels > 1)) &&
        (is_linear || (t->kind != SIM_TEXEL_FLOAT && !t->normalised)))
        return api_error(cudaErrorInvalidFilterSetting,
                         "linear filtering needs texels read as floats and no linear memory");
    return cudaSuccess;
}

static cudaError_t create_object(unsigned long long *object, const struct cudaResourceDesc *resource,
                                 const struct cudaTextureDesc *description, const struct cudaResourceViewDesc *view) {
    bool surface = !description;
    struct sim_texture t = {.surface = surface};
    if (!object || !resource)
        return api_error(cudaErrorInvalidValue, "a pointer is NULL");
    if (view)
        return api_error(cudaErrorNotSupported, "resource views are not supported");
    cudaError_t error = set_resource(&t, resource, surface);
    if (error == cudaSuccess && !surface)
        error = set_texture_descriptor(&t, description, resource->resType == cudaResourceTypeLinear);
    if (error == cudaSuccess && !(*object = sim_texture_add(&t)))
        error = api_error(cudaErrorMemoryAllocation, "out of host memory");
    return error;
}

static cudaError_t create_texture(cudaTextureObject_t *object, const struct cudaResourceDesc *resource,
                                  const struct cudaTextureDesc *description, const struct cudaResourceViewDesc *view) {
    return description ? create_object(object, resource, description, view)
                       : api_error(cudaErrorInvalidValue, "the texture descriptor is NULL");
}

cudaError_t cudaCreateTextureObject(cudaTextureObject_t *object, const struct cudaResourceDesc *resource,
                                    const struct cudaTextureDesc *description,
                                    const struct cudaResourceViewDesc *view) {
    return DEVICE_CALL(create_texture(object, resource, description, view));
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *object, const struct cudaResourceDesc *resource) {
    return DEVICE_CALL(create_object(object, resource, NULL, NULL));
}

static cudaError_t destroy(unsigned long long object, bool surface) {
    const struct sim_texture *t = sim_texture_find(object);
    if (object && (!t || t->surface != surface))
        return api_error(cudaErrorInvalidValue, "invalid %s object", surface ? "surface" : "texture");
    sim_texture_remove(object);
    return cudaSuccess;
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object) {
    return DEVICE_CALL(destroy(object, false));
}

cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object) {
    return DEVICE_CALL(destroy(object, true));
}
