// suld, sust: accesses to surfaces. Coordinates are integers; the first one counts bytes.
#include "texel.h"

#include "../machine/texture.h"

#include <string.h>

static enum step report_beyond(struct warp *warp, const struct bound *bound, int lane, const struct fetch *f,
                               const int64_t index[3], const struct sim_texture *t) {
    const struct sim_level *level = t->level;
    warp_report(
        warp, SIM_FINDING_OUT_OF_BOUNDS, bound, NULL, lane,
        "{here} %s %u bytes at byte %lld of row %lld, slice %lld of a surface with %zu x %zu x %zu texels of %d bytes",
        f->writes ? "writes" : "reads", bound->vector * (unsigned)bound->bytes, (long long)index[0],
        (long long)index[1], (long long)index[2], level->size[0], level->size[1], level->size[2],
        t->channels * t->channel_bytes);
    return warp_fatal(warp, SIM_ILLEGAL_ADDRESS);
}

static void put_lane(struct warp *warp, const struct bound *bound, int lane) {
    for (int k = 0; k < bound->vector; k++) {
        uint8_t *to = texel[lane] + k * bound->bytes;
        if (bound->bytes == 8)
            memcpy(to, &cells64(warp, bound->elements[k])[lane], 8);
        else
            memcpy(to, &cells32(warp, bound->elements[k])[lane], bound->bytes);
    }
}

enum step run_surface(struct warp *warp, const struct bound *bound, uint32_t mask) {
    const struct fetch *f = operand_data(warp, bound->b);
    uint32_t in_range = 0, bytes = (uint32_t)bound->bytes * bound->vector;
    uint64_t address[LANES] = {0};
    for (uint32_t left = mask; left; left &= left - 1) {
        int lane = first_lane(left);
        uint64_t handle = cells64(warp, f->handle)[lane];
        const struct sim_texture *t = sim_texture_find(handle);
        if (!t || !t->surface)
            return texel_report_handle(warp, bound, lane, handle, true);
        const struct sim_level *level = t->level;
        int64_t index[3] = {0}, size[3] = {(int64_t)level->size[0] * t->channels * t->channel_bytes,
                                           (int64_t)level->size[1], (int64_t)level->size[2]};
        bool is_in_range = true;
        for (int i = 0; i < f->dimensions + f->layered; i++) {
            int d = !f->layered ? i : i == 0 ? 2 : i - 1;
            int64_t most = size[d] - (d == 0 ? (int64_t)bytes : 1);
            index[d] = (int32_t)cells32(warp, f->coordinate[i])[lane];
            bool beyond = index[d] < 0 || index[d] > most;
            if (beyond && f->beyond == PTX_V_OOB_CLAMP)
                index[d] = index[d] < 0 ? 0 : most;
            else
                is_in_range &= !beyond;
        }
        if (!is_in_range && f->beyond == PTX_V_OOB_TRAP)
            return report_beyond(warp, bound, lane, f, index, t);
        in_range |= (uint32_t)is_in_range << lane;
        address[lane] = level->address + (uint64_t)(index[2] * (int64_t)level->slice_bytes) +
                        (uint64_t)(index[1] * (int64_t)level->row_bytes) + (uint64_t)index[0];
        if (f->writes)
            put_lane(warp, bound, lane);
        else
            memset(texel[lane], 0, MOST_TEXEL);
    }
    enum step step = texel_move(warp, bound, in_range, address, bytes, f->writes);
    if (step != STEP_NEXT || f->writes)
        return step;
    for (int k = 0; k < bound->vector; k++) {
        uint64_t wide[LANES] = {0};
        uint32_t narrow[LANES] = {0};
        for (uint32_t left = mask; left; left &= left - 1) {
            int lane = first_lane(left);
            memcpy(&wide[lane], texel[lane] + k * bound->bytes, bound->bytes);
            narrow[lane] = (uint32_t)wide[lane];
        }
        if (bound->width > 32)
            warp_write64(warp, bound->elements[k], wide, mask);
        else
            warp_write32(warp, bound->elements[k], narrow, mask);
    }
    return STEP_NEXT;
}
