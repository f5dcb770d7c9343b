// Fuzz target: the tensor map encoders must return a valid map, or an error with one line on stderr, never both. A map
// is valid if a copy of each of its boxes stays within the limits of the format.
#include "memory/tensor_map.h"
#include "runtime/device.h"
#include "runtime/driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Replacements for the parts of the runtime that the encoders call.
void api_lock(void) {
}

void api_unlock(void) {
}

const struct device *device_current(void) {
    static const struct device hopper = {.simulated = {.name = "a GPU", .compute_capability = 90}};
    return &hopper;
}

// The layout of an input; missing bytes are 0. seed-tensor_map writes such bytes.
struct arguments {
    uint8_t type, rank, interleave, swizzle, promotion, fill;
    uint8_t function; // 0: tiled, 1: im2col, 2: tiled, then a replaced address
    uint8_t missing;  // bit set of NULL pointers
    uint64_t address;
    uint64_t size[5], stride[5];
    uint32_t box[5], step[5];
    int32_t lower[3], upper[3];
    uint32_t channels, pixels;
};

static const void *unless(const struct arguments *a, int bit, const void *pointer) {
    return a->missing >> bit & 1 ? NULL : pointer;
}

static CUresult encode(const struct arguments *a, CUtensorMap *map) {
    const uint64_t *size = unless(a, 0, a->size), *stride = unless(a, 1, a->stride);
    const cuuint64_t *sizes = (const cuuint64_t *)(const void *)size,
                     *strides = (const cuuint64_t *)(const void *)stride;
    const uint32_t *box = unless(a, 2, a->box), *step = unless(a, 3, a->step);
    const int *lower = unless(a, 4, a->lower), *upper = unless(a, 5, a->upper);
    CUtensorMap *to = a->missing & 64 ? NULL : map;
    void *address = (void *)(uintptr_t)a->address;
    if (a->function == 1)
        return driver_tensor_map_encode_im2col(to, a->type, a->rank, address, sizes, strides, lower, upper, a->channels,
                                               a->pixels, step, a->interleave, a->swizzle, a->promotion, a->fill);
    return driver_tensor_map_encode_tiled(to, a->type, a->rank, address, sizes, strides, box, step, a->interleave,
                                          a->swizzle, a->promotion, a->fill);
}

static void expect(bool so) {
    if (!so)
        abort();
}

static void check_map(const struct tensor_map *map) {
    expect(map->magic == TENSOR_MAP_MAGIC && map->rank >= 1 && map->rank <= TENSOR_MOST_DIMENSIONS);
    expect(map->element_bytes >= 1 && map->element_bytes <= 8 && map->swizzle <= 3 && map->address % 16 == 0);
    expect(map->box[0] * map->element_bytes % 16 == 0);
    expect(!map->swizzle || map->box[0] * map->element_bytes <= 16 << map->swizzle);
    for (int i = 0; i < map->rank; i++) {
        expect(map->box[i] >= 1 && map->step[i] >= 1 && map->step[i] <= 8);
        expect(map->box[i] <= (map->pixels && i == 1 ? 1024 : 256));
        expect(i + 1 == map->rank || (map->stride[i] % 16 == 0 && map->stride[i] < UINT64_C(1) << 40));
    }
    for (int i = 0; map->pixels && i + 2 < map->rank; i++)
        expect((int64_t)map->last[i + 1] + map->upper[i] >= map->lower[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static char output[4096];
    static FILE *stream;
    static CUtensorMap map;
    struct arguments arguments = {0};
    memcpy(&arguments, data, size < sizeof arguments ? size : sizeof arguments);
    if (!stream && !(stream = fmemopen(output, sizeof output, "w")))
        abort();
    memset(output, 0, sizeof output);
    memset(&map, 0xa5, sizeof map);
    rewind(stream);
    FILE *terminal = stderr;
    stderr = stream;
    const CUresult result = encode(&arguments, &map);
    fflush(stream);
    stderr = terminal;
    const uint8_t *bytes = (const uint8_t *)&map;
    if (result == CUDA_SUCCESS) {
        expect(!output[0]);
        check_map((const struct tensor_map *)(const void *)&map);
        if (arguments.function == 2)
            expect(driver_tensor_map_replace_address(&map, (void *)((uintptr_t)arguments.address + 16)) ==
                   CUDA_SUCCESS);
        return 0;
    }
    expect(result == CUDA_ERROR_INVALID_VALUE || result == CUDA_ERROR_NOT_SUPPORTED);
    expect(strncmp(output, "simulator: cuTensorMapEncode", 28) == 0 &&
           strchr(output, '\n') == output + strlen(output) - 1);
    for (size_t i = 0; i < sizeof map; i++)
        expect(bytes[i] == 0xa5);
    return 0;
}
