// Tensor maps that a kernel modifies. The TMA unit reads maps through a proxy of its own, the tensormap proxy. A
// modification is visible to it if the modifying thread has released it to that proxy (tensormap.cp_fenceproxy, or
// fence.proxy.tensormap::generic.release), and the thread that issues the copy has acquired it since, by a fence that
// names the map.
//
// Each modification has a number, which the map and its copies keep. A block keeps which modification of which map its
// fences have acquired: a fence of any thread counts for the whole block, as if a barrier followed it, and any release
// in the launch counts for all earlier modifications. Modifications in earlier launches need none. Modifications by
// ordinary stores are not tracked.
#include "tensor_map.h"

#include "../machine/block.h"

#include <stdio.h>
#include <stdlib.h>

enum { WRONG_TEXT = 128 };

struct tensor_maps { // the maps that a block has acquired
    unsigned count, room;
    struct {
        uint64_t address, changed;
    } * map;
};

static atomic_uint_fast64_t changes;

uint64_t tensor_map_change(void) {
    return atomic_fetch_add(&changes, 1) + 1;
}

uint64_t tensor_map_last_change(void) {
    return atomic_load(&changes);
}

void tensor_maps_start(struct block *block) {
    if (block->maps)
        block->maps->count = 0;
}

void tensor_maps_free(struct block *block) {
    if (block->maps)
        free(block->maps->map);
    free(block->maps);
}

bool tensor_map_acquire(struct block *block, uint64_t address, uint64_t changed) {
    struct tensor_maps *maps = block->maps;
    if (!maps && !(maps = block->maps = calloc(1, sizeof *maps)))
        return false;
    unsigned i = 0;
    while (i < maps->count && maps->map[i].address != address)
        i++;
    if (i == maps->room) {
        unsigned room = maps->room ? 2 * maps->room : 8;
        void *grown = realloc(maps->map, room * sizeof *maps->map);
        if (!grown)
            return false;
        maps->map = grown;
        maps->room = room;
    }
    maps->count += i == maps->count;
    maps->map[i].address = address;
    maps->map[i].changed = changed;
    return true;
}

static bool is_acquired(const struct block *block, uint64_t address, uint64_t changed) {
    const struct tensor_maps *maps = block->maps;
    for (unsigned i = 0; maps && i < maps->count; i++)
        if (maps->map[i].address == address)
            return maps->map[i].changed == changed;
    return false;
}

static bool is_floating(enum ptx_type type) {
    return type == PTX_F16 || type == PTX_BF16 || type == PTX_F32 || type == PTX_TF32 || type == PTX_F64;
}

static bool is_dimension_wrong(const struct tensor_map *map, unsigned i, char text[WRONG_TEXT]) {
    unsigned long long stride = i + 1u < map->rank ? map->stride[i] : 0;
    if (map->no_size >> i & 1)
        snprintf(text, WRONG_TEXT, "dimension %u (globalDim) has size 0", i);
    else if (map->box[i] == 0 || map->box[i] > TENSOR_MOST_BOX)
        snprintf(text, WRONG_TEXT, "the box has %u%s elements in dimension %u (boxDim); 1 to %d are allowed",
                 map->box[i], map->box[i] == UINT16_MAX ? " or more" : "", i, TENSOR_MOST_BOX);
    else if (map->step[i] == 0 || map->step[i] > TENSOR_MOST_STEP)
        snprintf(text, WRONG_TEXT, "the element stride of dimension %u (elementStrides) is %u%s; 1 to %d are allowed",
                 i, map->step[i], map->step[i] == UINT8_MAX ? " or more" : "", TENSOR_MOST_STEP);
    else if (stride % 16 || stride >= TENSOR_STRIDE_END)
        snprintf(text, WRONG_TEXT,
                 "globalStrides[%u] is %llu bytes; a stride must be a multiple of 16 bytes and less than 2^40 bytes", i,
                 stride);
    else
        return false;
    return true;
}

// Returns whether the driver would reject the map, and describes the reason.
static bool is_wrong(const struct tensor_map *map, char text[WRONG_TEXT]) {
    unsigned bytes = map->box[0] * map->element_bytes, span = 16u << map->swizzle;
    for (unsigned i = 0; i < map->rank; i++)
        if (is_dimension_wrong(map, i, text))
            return true;
    if (map->address == 0 || map->address % 16)
        snprintf(text, WRONG_TEXT,
                 "the tensor starts at address 0x%llx, which is not a multiple of 16 bytes in device memory",
                 (unsigned long long)map->address);
    else if (map->interleave)
        snprintf(text, WRONG_TEXT, "the layout is interleaved, which the simulator does not support");
    else if (map->nan_fill && !is_floating((enum ptx_type)map->type))
        snprintf(text, WRONG_TEXT,
                 "the out-of-bounds fill is NaN (oobFill), but the element type is not a floating-point type");
    else if (bytes % 16)
        snprintf(text, WRONG_TEXT, "the inner box dimension is %u bytes, which is not a multiple of 16 bytes", bytes);
    else if (map->swizzle && bytes > span)
        snprintf(text, WRONG_TEXT, "the inner box dimension is %u bytes, but %u-byte swizzle allows at most %u bytes",
                 bytes, span, span);
    else
        return false;
    return true;
}

bool tensor_map_check(struct warp *warp, const struct bound *bound, int lane, uint64_t address,
                      const struct tensor_map *map) {
    const struct run *run = warp->run;
    bool of_this_launch = warp->block->race.on && map->changed > run->maps_before;
    char text[WRONG_TEXT];
    if (of_this_launch && !map->released && map->changed > atomic_load(&run->maps_released))
        warp_report(warp, SIM_FINDING_TENSOR_MAP, bound, NULL, lane,
                    "{op} uses the tensor map at address 0x%llx, which the kernel has modified, with neither "
                    "tensormap.cp_fenceproxy nor fence.proxy.tensormap::generic.release after the modification "
                    "[tensor-map-release]",
                    (unsigned long long)address);
    else if (of_this_launch && !is_acquired(warp->block, address, map->changed))
        warp_report(warp, SIM_FINDING_TENSOR_MAP, bound, NULL, lane,
                    "{op} uses the tensor map at address 0x%llx, which the kernel has modified; after the modification "
                    "the block has executed no fence.proxy.tensormap::generic.acquire on the map [tensor-map-acquire]",
                    (unsigned long long)address);
    if (!is_wrong(map, text))
        return true;
    warp_report(warp, SIM_FINDING_TENSOR_MAP, bound, NULL, lane,
                "{op} uses the tensor map at address 0x%llx, which tensormap.replace has modified; %s "
                "[tensor-map-field]",
                (unsigned long long)address, text);
    warp_fatal(warp, SIM_ILLEGAL_INSTRUCTION);
    return false;
}
