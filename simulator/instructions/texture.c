// tex, tld4: reads and interpolates texels of the runtime's objects (machine/texture.h); and binds suld and sust.
//
// Fetches go through the same checks as any access to global memory: bounds, races, uninitialized memory. The
// interpolation weights have 8 bits of fraction, as in the programming guide ("Linear Filtering").
#include "texel.h"

#include "../machine/texture.h"

#include <math.h>
#include <string.h>

// Lanes that read one level of one texture: the texels, before the addressing mode is applied to out-of-range
// coordinates. Loops run over all lanes, so that the compiler vectorizes them; only those in mask count.
struct spots {
    const struct sim_texture *texture;
    const struct sim_level *level;
    uint32_t mask;
    bool apart; // several texels are interpolated
    int32_t index[3][LANES];
    float weight[3][LANES]; // of the texel at the next index
};

_Thread_local uint8_t texel[LANES][MOST_TEXEL];

static void read_texels(struct warp *warp, const struct bound *bound, const struct access *access, uint8_t *origin) {
    (void)warp;
    (void)bound;
    access_copy(access, origin, texel[0], sizeof *texel, true);
}

static void write_texels(struct warp *warp, const struct bound *bound, const struct access *access, uint8_t *origin) {
    (void)warp;
    (void)bound;
    access_copy(access, origin, texel[0], sizeof *texel, false);
}

enum step texel_move(struct warp *warp, const struct bound *bound, uint32_t mask, const uint64_t address[LANES],
                     uint32_t bytes, bool writes) {
    struct access access = {
        .space = PTX_GLOBAL, .kind = writes ? ACCESS_MATRIX_STORE : ACCESS_MATRIX_LOAD, .mask = mask, .bytes = bytes};
    if (!mask)
        return STEP_NEXT;
    for (int lane = 0; lane < LANES; lane++)
        access.address[lane] = address[mask >> lane & 1 ? lane : first_lane(mask)];
    access.span = warp->lanes->span64(access.address, bytes);
    enum step step = access_check_alignment(warp, bound, &access);
    return step == STEP_NEXT ? access_run_at(warp, bound, &access, writes ? write_texels : read_texels) : step;
}

enum step texel_report_handle(struct warp *warp, const struct bound *bound, int lane, uint64_t handle, bool surface) {
    warp_report(warp, SIM_FINDING_OUT_OF_BOUNDS, bound, NULL, lane,
                "{here} uses 0x%llx, which is not a %s object [invalid-handle]", (unsigned long long)handle,
                surface ? "surface" : "texture");
    return warp_fatal(warp, SIM_ILLEGAL_ADDRESS);
}

static enum step report_shape(struct warp *warp, const struct bound *bound, int lane, const struct fetch *f) {
    warp_report(warp, SIM_FINDING_OUT_OF_BOUNDS, bound, NULL, lane,
                "{here} is a %s fetch, but the texture is %s [texture-type]", f->cube ? "cube map" : "plain",
                f->cube ? "not a cube map" : "a cube map");
    return warp_fatal(warp, SIM_ILLEGAL_ADDRESS);
}

// ---- Textures ----------------------------------------------------------------------------------------------------

static float as_float(uint32_t bits) {
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

static float of_half(uint32_t half) {
    int exponent = half >> 10 & 31, fraction = half & 1023;
    float value = exponent == 31 ? (fraction ? NAN : INFINITY)
                                 : ldexpf((float)(fraction + (exponent ? 1024 : 0)), (exponent ? exponent : 1) - 25);
    return half & 0x8000 ? -value : value;
}

// As floorf(), without a call.
static float floor_of(float x) {
    float whole = fabsf(x) < 8388608 ? (float)(int32_t)x : x;
    return whole > x ? whole - 1 : whole;
}

// Coordinates in texels; normalized coordinates wrap around if their mode is wrap.
static void to_texels(const struct sim_texture *t, const struct sim_level *level, int d, float x[LANES]) {
    float size = (float)level->size[d];
    if (!t->unit)
        return;
    for (int lane = 0; lane < LANES && t->addressing[d] == SIM_ADDRESS_WRAP; lane++)
        x[lane] -= floor_of(x[lane]);
    for (int lane = 0; lane < LANES && t->addressing[d] == SIM_ADDRESS_MIRROR; lane++) {
        float whole = floor_of(x[lane]);
        x[lane] -= whole;
        x[lane] = fmodf(fabsf(whole), 2) == 1 ? 1 - x[lane] : x[lane];
    }
    for (int lane = 0; lane < LANES; lane++)
        x[lane] *= size;
}

// The face of a cube map that a direction hits, and the coordinates on it, from 0 to 1 (programming guide, "Cubemap
// Textures"). On an edge, which belongs to two faces, a GPU may choose the other face.
static int find_face(const float direction[3], float on_face[2]) {
    static const struct {
        int s, t; // the axes along the face
        float s_sign, t_sign;
    } along[] = {{2, 1, -1, -1}, {2, 1, 1, -1}, {0, 2, 1, 1}, {0, 2, 1, -1}, {0, 1, 1, -1}, {0, 1, -1, -1}};
    float x = fabsf(direction[0]), y = fabsf(direction[1]), z = fabsf(direction[2]);
    int axis = x >= y && x >= z ? 0 : y >= z ? 1 : 2, face = 2 * axis + (direction[axis] < 0);
    float largest = fabsf(direction[axis]);
    on_face[0] = (along[face].s_sign * direction[along[face].s] / largest + 1) / 2;
    on_face[1] = (along[face].t_sign * direction[along[face].t] / largest + 1) / 2;
    return face;
}

// x: coordinates in texels
static void find_texels(struct spots *spots, int d, const float x[LANES]) {
    float centre = spots->apart ? 0.5f : 0;
    for (int lane = 0; lane < LANES; lane++) {
        float at = x[lane] - centre;
        at = at > -1e9f ? (at < 1e9f ? at : 1e9f) : -1e9f; // also if it is NaN
        float whole = floor_of(at);
        spots->index[d][lane] = (int32_t)whole;
        spots->weight[d][lane] = (float)(int32_t)((at - whole) * 256 + 0.5f) / 256;
    }
}

static void find_spots(const struct warp *warp, const struct fetch *f, struct spots *spots) {
    const struct sim_texture *t = spots->texture;
    int32_t layers = (int32_t)spots->level->size[2] / (f->cube ? 6 : 1);
    float x[3][LANES];
    spots->apart = (t->linear && !f->whole) || f->gathered >= 0;
    memset(spots->index, 0, sizeof spots->index);
    for (int lane = 0; lane < LANES && f->layered; lane++) {
        int32_t layer = (int32_t)cells32(warp, f->coordinate[0])[lane];
        spots->index[2][lane] = layer < 0 ? 0 : layer >= layers ? layers - 1 : layer;
    }
    for (int d = 0; d < f->dimensions + f->cube; d++)
        memcpy(x[d], cells32(warp, f->coordinate[f->layered + d]), sizeof x[d]);
    for (uint32_t left = f->cube ? spots->mask : 0; left; left &= left - 1) {
        int lane = first_lane(left);
        float direction[3] = {x[0][lane], x[1][lane], x[2][lane]}, on_face[2];
        spots->index[2][lane] = 6 * spots->index[2][lane] + find_face(direction, on_face);
        x[0][lane] = on_face[0];
        x[1][lane] = on_face[1];
    }
    for (int d = 0; d < f->dimensions; d++) {
        if (f->whole) {
            memcpy(spots->index[d], x[d], sizeof x[d]);
            continue;
        }
        to_texels(t, spots->level, d, x[d]);
        find_texels(spots, d, x[d]);
    }
}

// Applies the addressing mode to indices; lanes whose index is outside the border leave the mask that is returned.
static uint32_t inside(const struct spots *spots, const struct fetch *f, int d, int32_t index[LANES], uint32_t mask) {
    const struct sim_texture *t = spots->texture;
    int32_t size = (int32_t)spots->level->size[d];
    uint32_t outside = 0;
    for (int lane = 0; lane < LANES; lane++)
        outside |= (uint32_t)(index[lane] < 0 || index[lane] >= size) << lane;
    outside &= mask;
    if (t->addressing[d] == SIM_ADDRESS_BORDER || (f->whole && !t->array))
        return mask & ~outside;
    for (; outside; outside &= outside - 1) {
        int32_t *its = &index[first_lane(outside)];
        *its = t->addressing[d] == SIM_ADDRESS_WRAP && t->unit ? (*its % size + size) % size : *its < 0 ? 0 : size - 1;
    }
    return mask;
}

// A channel of the texels that were read, as the bits of 32-bit integers and as floats.
static void read_channel(const struct sim_texture *t, int c, uint32_t bits[LANES], float value[LANES]) {
    int width = 8 * t->channel_bytes, at = c * t->channel_bytes;
    bool is_signed = t->kind == SIM_TEXEL_SIGNED;
    double most = (double)((UINT64_C(1) << (width - is_signed)) - 1);
    if (c >= t->channels) {
        memset(bits, 0, LANES * sizeof *bits);
        memset(value, 0, LANES * sizeof *value);
        return;
    }
    for (int lane = 0; lane < LANES; lane++) {
        uint16_t half;
        memcpy(&half, texel[lane] + at, 2);
        if (width == 32)
            memcpy(&bits[lane], texel[lane] + at, 4);
        else
            bits[lane] = width == 16 ? half : half & 255;
    }
    for (int lane = 0; lane < LANES && t->kind == SIM_TEXEL_FLOAT && width == 16; lane++) {
        value[lane] = of_half(bits[lane]);
        memcpy(&bits[lane], &value[lane], 4);
    }
    if (t->kind == SIM_TEXEL_FLOAT) {
        memcpy(value, bits, LANES * sizeof *value);
        return;
    }
    for (int lane = 0; lane < LANES; lane++) {
        int64_t whole = is_signed ? (int64_t)((int32_t)(bits[lane] << (32 - width)) >> (32 - width)) : bits[lane];
        double part = (double)whole / most;
        value[lane] = t->normalised ? (float)(part < -1 ? -1 : part) : (float)whole;
        bits[lane] = (uint32_t)whole;
    }
}

// What the lanes of a fetch get: sums of weighted texels, and the bits of the last one.
struct fetched {
    float sum[4][LANES];
    uint32_t bits[4][LANES];
};

// Adds texels that were read, or the border where they are not in range.
static void add_texels(const struct spots *spots, const struct fetch *f, int tap, uint32_t in_range,
                       const float weight[LANES], const float share[LANES], struct fetched *fetched) {
    static const int gathered_to[] = {3, 2, 0, 1}; // of (i, j), (i + 1, j), (i, j + 1), (i + 1, j + 1)
    bool gathers = f->gathered >= 0;
    for (int c = gathers ? f->gathered : 0; c < (gathers ? f->gathered + 1 : 4); c++) {
        int to = gathers ? gathered_to[tap] : c;
        uint32_t bits[LANES];
        float value[LANES];
        read_channel(spots->texture, c, bits, value);
        for (uint32_t left = spots->mask & ~in_range; left; left &= left - 1) {
            int lane = first_lane(left);
            value[lane] = weight[lane] == 0 ? 0 : spots->texture->border[c];
            bits[lane] = fetched->bits[to][lane];
        }
        for (int lane = 0; lane < LANES; lane++) {
            bool is_mine = spots->mask >> lane & 1;
            float sum = fetched->sum[to][lane] + (gathers ? value[lane] : share[lane] * weight[lane] * value[lane]);
            fetched->sum[to][lane] = is_mine ? sum : fetched->sum[to][lane];
            fetched->bits[to][lane] = is_mine ? bits[lane] : fetched->bits[to][lane];
        }
    }
}

// Adds the weighted texels of lanes that read one level.
static enum step fetch_level(struct warp *warp, const struct bound *bound, struct spots *spots,
                             const float share[LANES], struct fetched *fetched) {
    const struct fetch *f = operand_data(warp, bound->b);
    const struct sim_level *level = spots->level;
    uint32_t bytes = (uint32_t)(spots->texture->channels * spots->texture->channel_bytes);
    find_spots(warp, f, spots);
    for (int tap = 0; tap < (spots->apart ? 1 << f->dimensions : 1); tap++) {
        uint64_t address[LANES];
        int32_t index[3][LANES];
        float weight[LANES];
        uint32_t in_range = spots->mask;
        memcpy(index, spots->index, sizeof index);
        for (int lane = 0; lane < LANES; lane++)
            weight[lane] = 1;
        for (int d = 0; d < f->dimensions; d++) {
            int32_t next = tap >> d & 1;
            for (int lane = 0; lane < LANES && spots->apart; lane++) {
                index[d][lane] += next;
                weight[lane] *= next ? spots->weight[d][lane] : 1 - spots->weight[d][lane];
            }
            in_range = inside(spots, f, d, index[d], in_range);
        }
        for (int lane = 0; lane < LANES && f->gathered < 0; lane++)
            in_range &= ~((uint32_t)(weight[lane] == 0) << lane);
        for (int lane = 0; lane < LANES; lane++)
            address[lane] = level->address + (uint64_t)index[2][lane] * level->slice_bytes +
                            (uint64_t)index[1][lane] * level->row_bytes + (uint64_t)index[0][lane] * bytes;
        enum step step = texel_move(warp, bound, in_range, address, bytes, false);
        if (step != STEP_NEXT)
            return step;
        add_texels(spots, f, tap, in_range, weight, share, fetched);
    }
    return STEP_NEXT;
}

// The two levels that each lane reads, and the weight of the second one.
struct levels {
    const struct sim_level *level[2][LANES];
    float share[2][LANES];
};

static enum step find_levels(struct warp *warp, const struct bound *bound, uint32_t mask, struct levels *levels) {
    const struct fetch *f = operand_data(warp, bound->b);
    const struct sim_level *level[2] = {0};
    uint64_t last = 0;
    float share = 0;
    for (uint32_t left = mask; left; left &= left - 1) {
        int lane = first_lane(left);
        uint64_t handle = cells64(warp, f->handle)[lane];
        if (!level[0] || handle != last || f->level != NO_OPERAND) {
            const struct sim_texture *t = sim_texture_find(handle);
            if (!t || t->surface)
                return texel_report_handle(warp, bound, lane, handle, false);
            if (f->cube != t->cube)
                return report_shape(warp, bound, lane, f);
            share = sim_texture_levels(t, f->level == NO_OPERAND ? 0 : as_float(cells32(warp, f->level)[lane]), level);
            last = handle;
        }
        levels->level[0][lane] = level[0];
        levels->level[1][lane] = level[1];
        levels->share[0][lane] = 1 - share;
        levels->share[1][lane] = share;
    }
    return STEP_NEXT;
}

static enum step run_texture(struct warp *warp, const struct bound *bound, uint32_t mask) {
    const struct fetch *f = operand_data(warp, bound->b);
    struct levels levels;
    struct fetched fetched = {.bits = {{0}}};
    for (int i = 0; i < 4 * LANES; i++)
        fetched.sum[i / LANES][i % LANES] = -0.0f; // so that a texel of -0 remains -0
    enum step step = find_levels(warp, bound, mask, &levels);
    for (int which = 0; which < 2 && step == STEP_NEXT; which++) {
        for (uint32_t left = mask; left && step == STEP_NEXT;) {
            int first = first_lane(left);
            struct spots spots;
            spots.level = levels.level[which][first];
            spots.mask = 0;
            for (uint32_t rest = left; rest; rest &= rest - 1)
                spots.mask |= (uint32_t)(levels.level[which][first_lane(rest)] == spots.level) << first_lane(rest);
            left &= ~spots.mask;
            for (uint32_t rest = which ? spots.mask : 0; rest; rest &= rest - 1)
                if (!(levels.share[1][first_lane(rest)] > 0) || f->gathered >= 0)
                    spots.mask &= ~(1u << first_lane(rest));
            spots.texture = sim_texture_find(cells64(warp, f->handle)[first]);
            if (spots.mask)
                step = fetch_level(warp, bound, &spots, levels.share[which], &fetched);
        }
    }
    if (step != STEP_NEXT)
        return step;
    for (int c = 0; c < 4; c++) {
        if (f->type == PTX_F32)
            memcpy(fetched.bits[c], fetched.sum[c], sizeof fetched.bits[c]);
        warp_write32(warp, bound->elements[c], fetched.bits[c], mask);
    }
    return STEP_NEXT;
}

// ---- Binding -----------------------------------------------------------------------------------------------------

static const struct {
    enum ptx_opcode opcode;
    int dimensions;
    bool layered, cube, surface, writes;
    int gathered; // and 1
} known[] = {
    {.opcode = PTX_OP_TEX_1D, .dimensions = 1},
    {.opcode = PTX_OP_TEX_2D, .dimensions = 2},
    {.opcode = PTX_OP_TEX_3D, .dimensions = 3},
    {.opcode = PTX_OP_TEX_A1D, .dimensions = 1, .layered = true},
    {.opcode = PTX_OP_TEX_A2D, .dimensions = 2, .layered = true},
    {.opcode = PTX_OP_TEX_CUBE, .dimensions = 2, .cube = true},
    {.opcode = PTX_OP_TEX_ACUBE, .dimensions = 2, .cube = true, .layered = true},
    {.opcode = PTX_OP_TEX_LEVEL_1D, .dimensions = 1},
    {.opcode = PTX_OP_TEX_LEVEL_2D, .dimensions = 2},
    {.opcode = PTX_OP_TEX_LEVEL_3D, .dimensions = 3},
    {.opcode = PTX_OP_TEX_LEVEL_A1D, .dimensions = 1, .layered = true},
    {.opcode = PTX_OP_TEX_LEVEL_A2D, .dimensions = 2, .layered = true},
    {.opcode = PTX_OP_TEX_LEVEL_CUBE, .dimensions = 2, .cube = true},
    {.opcode = PTX_OP_TEX_LEVEL_ACUBE, .dimensions = 2, .cube = true, .layered = true},
    {.opcode = PTX_OP_TLD4_R_2D, .dimensions = 2, .gathered = 1},
    {.opcode = PTX_OP_TLD4_G_2D, .dimensions = 2, .gathered = 2},
    {.opcode = PTX_OP_TLD4_B_2D, .dimensions = 2, .gathered = 3},
    {.opcode = PTX_OP_TLD4_A_2D, .dimensions = 2, .gathered = 4},
    {.opcode = PTX_OP_SULD_1D, .dimensions = 1, .surface = true},
    {.opcode = PTX_OP_SULD_2D, .dimensions = 2, .surface = true},
    {.opcode = PTX_OP_SULD_3D, .dimensions = 3, .surface = true},
    {.opcode = PTX_OP_SULD_A1D, .dimensions = 1, .surface = true, .layered = true},
    {.opcode = PTX_OP_SULD_A2D, .dimensions = 2, .surface = true, .layered = true},
    {.opcode = PTX_OP_SUST_1D, .dimensions = 1, .surface = true, .writes = true},
    {.opcode = PTX_OP_SUST_2D, .dimensions = 2, .surface = true, .writes = true},
    {.opcode = PTX_OP_SUST_3D, .dimensions = 3, .surface = true, .writes = true},
    {.opcode = PTX_OP_SUST_A1D, .dimensions = 1, .surface = true, .writes = true, .layered = true},
    {.opcode = PTX_OP_SUST_A2D, .dimensions = 2, .surface = true, .writes = true, .layered = true},
};

bool bind_texture(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    struct fetch f = {.type = ptx->type, .beyond = ptx->variant};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (known[i].opcode == ptx->opcode) {
            f.dimensions = known[i].dimensions;
            f.layered = known[i].layered;
            f.cube = known[i].cube;
            f.gathered = known[i].gathered - 1;
            f.surface = known[i].surface;
            f.writes = known[i].writes;
        }
    }
    const struct ptx_operand *address = &ptx->src[0], *data = f.writes ? &ptx->src[1] : &ptx->dst[0];
    const struct ptx_operand *first = data->kind == PTX_OPERAND_VECTOR ? &data->elements[0] : data;
    enum ptx_type held = first->kind == PTX_OPERAND_REGISTER ? first->reg_type : ptx->type;
    bool has_level = ptx->opcode >= PTX_OP_TEX_LEVEL_1D && ptx->opcode <= PTX_OP_TEX_LEVEL_CUBE;
    f.level = has_level ? bind_source(binder, &ptx->src[1], PTX_F32) : NO_OPERAND;
    f.coordinates = address->count;
    if (address->slot < 0 || address->offset || f.coordinates < f.dimensions + f.cube + f.layered || f.coordinates > 4)
        return false;
    f.whole = f.surface || ptx->source_type == PTX_S32;
    f.handle = bind_register(binder, address->slot);
    for (int i = 0; i < f.coordinates; i++)
        if ((f.coordinate[i] = bind_source(binder, &address->elements[i], PTX_B32)) == NO_OPERAND)
            return false;
    bound->kind = BOUND_RUN;
    bound->run = f.surface ? run_surface : run_texture;
    bound->b = bind_data(binder, &f, sizeof f);
    bound->space = PTX_GLOBAL;
    bound->bytes = (uint8_t)ptx_type_size(ptx->type);
    bound->vector = (uint8_t)(data->kind == PTX_OPERAND_VECTOR ? data->count : 1);
    bound->width = (uint8_t)type_bits(held);
    bound->elements = bind_operands(binder, data, held, !f.writes);
    for (int i = 0; bound->elements && f.writes && i < bound->vector; i++)
        if (bound->elements[i] == NO_OPERAND)
            return false;
    bool four = bound->vector == 4 && (ptx->type == PTX_F32 || ptx->type == PTX_S32 || ptx->type == PTX_U32);
    return bound->elements && bound->vector * bound->bytes <= MOST_TEXEL && (f.surface || four);
}
