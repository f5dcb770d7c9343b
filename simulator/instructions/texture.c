// tex, tld4: reads and interpolates texels of the runtime's objects (machine/texture.h); and binds suld and sust.
//
// Fetches go through the same checks as any access to global memory: bounds, races, uninitialized memory. The
// interpolation weights have 8 bits of fraction, as in the programming guide ("Linear Filtering").
#include "texel.h"

#include "../machine/texture.h"

#include <math.h>
#include <string.h>

// The texels that a lane reads or writes, before the addressing mode is applied to out-of-range coordinates.
struct spot {
    const struct sim_texture *texture;
    const struct sim_level *level;
    int64_t index[3];
    float weight[3]; // of the texel at the next index
    bool apart;      // several texels are interpolated
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

// A coordinate in texels; normalized coordinates wrap around if their mode is wrap.
static float in_texels(const struct sim_texture *t, const struct sim_level *level, int d, float x) {
    if (!t->unit)
        return x;
    if (t->addressing[d] == SIM_ADDRESS_WRAP) {
        x -= floorf(x);
    } else if (t->addressing[d] == SIM_ADDRESS_MIRROR) {
        float whole = floorf(x);
        x -= whole;
        x = fmodf(fabsf(whole), 2) == 1 ? 1 - x : x;
    }
    return x * (float)level->size[d];
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

static void find_spot(const struct warp *warp, const struct fetch *f, int lane, struct spot *spot) {
    const struct sim_texture *t = spot->texture;
    uint32_t bits[4] = {0};
    float x[3] = {0};
    int64_t layer = 0, layers = (int64_t)spot->level->size[2] / (f->cube ? 6 : 1);
    for (int i = 0; i < f->coordinates; i++)
        bits[i] = cells32(warp, f->coordinate[i])[lane];
    if (f->layered) {
        layer = (int32_t)bits[0];
        layer = layer < 0 ? 0 : layer >= layers ? layers - 1 : layer;
    }
    for (int d = 0; d < 3; d++) {
        spot->index[d] = 0;
        spot->weight[d] = 0;
        x[d] = as_float(bits[f->layered + d]);
    }
    if (f->cube) {
        float direction[3] = {x[0], x[1], x[2]};
        layer = 6 * layer + find_face(direction, x);
    }
    if (f->dimensions < 3)
        spot->index[2] = layer;
    spot->apart = (t->linear && !f->whole) || f->gathered >= 0;
    for (int d = 0; d < f->dimensions; d++) {
        if (f->whole) {
            spot->index[d] = (int32_t)bits[f->layered + d];
            continue;
        }
        float at = in_texels(t, spot->level, d, x[d]) - (spot->apart ? 0.5f : 0);
        at = at > -1e9f ? (at < 1e9f ? at : 1e9f) : -1e9f; // also if it is NaN
        float whole = floorf(at);
        spot->index[d] = (int64_t)whole;
        spot->weight[d] = floorf((at - whole) * 256 + 0.5f) / 256;
    }
}

// Applies the addressing mode to an index; false: it is outside the border.
static bool inside(const struct spot *spot, const struct fetch *f, int d, int64_t *index) {
    const struct sim_texture *t = spot->texture;
    int64_t size = (int64_t)spot->level->size[d];
    if (*index >= 0 && *index < size)
        return true;
    if (t->addressing[d] == SIM_ADDRESS_BORDER || (f->whole && !t->array))
        return false;
    if (t->addressing[d] == SIM_ADDRESS_WRAP && t->unit)
        *index = (*index % size + size) % size;
    else
        *index = *index < 0 ? 0 : size - 1;
    return true;
}

// A channel of the texel that was read, as the bits of a 32-bit integer or as a float.
static uint32_t channel_of(const struct sim_texture *t, const uint8_t *texel, int c, float *value) {
    uint32_t bits = 0;
    int width = 8 * t->channel_bytes;
    if (c >= t->channels) {
        *value = 0;
        return 0;
    }
    memcpy(&bits, texel + c * t->channel_bytes, (size_t)t->channel_bytes);
    if (t->kind == SIM_TEXEL_FLOAT) {
        *value = width == 16 ? of_half(bits) : as_float(bits);
        memcpy(&bits, value, 4);
        return bits;
    }
    bool is_signed = t->kind == SIM_TEXEL_SIGNED;
    int64_t whole = is_signed ? (int64_t)(int32_t)(bits << (32 - width)) >> (32 - width) : bits;
    double most = (double)((UINT64_C(1) << (width - is_signed)) - 1), part = (double)whole / most;
    *value = t->normalised ? (float)(part < -1 ? -1 : part) : (float)whole;
    return (uint32_t)whole;
}

// Adds the weighted texels of each lane's level.
static enum step fetch_level(struct warp *warp, const struct bound *bound, uint32_t mask, struct spot spot[LANES],
                             const float share[LANES], float sum[4][LANES], uint32_t bits[4][LANES]) {
    const struct fetch *f = operand_data(warp, bound->b);
    uint32_t apart = 0;
    for (uint32_t left = mask; left; left &= left - 1) {
        int lane = first_lane(left);
        find_spot(warp, f, lane, &spot[lane]);
        apart |= (uint32_t)spot[lane].apart << lane;
    }
    for (int tap = 0; tap < (apart ? 1 << f->dimensions : 1); tap++) {
        uint64_t address[LANES] = {0};
        float weight[LANES] = {0};
        uint32_t here = tap ? mask & apart : mask, in_range = 0;
        for (uint32_t left = here; left; left &= left - 1) {
            int lane = first_lane(left);
            const struct sim_texture *t = spot[lane].texture;
            const struct sim_level *level = spot[lane].level;
            int64_t index[3];
            bool is_in_range = true;
            weight[lane] = 1;
            memcpy(index, spot[lane].index, sizeof index);
            for (int d = 0; d < f->dimensions; d++) {
                bool next = tap >> d & 1;
                index[d] += next;
                weight[lane] *= !spot[lane].apart ? 1 : next ? spot[lane].weight[d] : 1 - spot[lane].weight[d];
                is_in_range &= inside(&spot[lane], f, d, &index[d]);
            }
            is_in_range &= f->gathered >= 0 || weight[lane] != 0;
            in_range |= (uint32_t)is_in_range << lane;
            address[lane] = level->address + (uint64_t)index[2] * level->slice_bytes +
                            (uint64_t)index[1] * level->row_bytes +
                            (uint64_t)index[0] * (unsigned)(t->channels * t->channel_bytes);
        }
        // Objects with texels of different sizes are fetched one after the other.
        for (uint32_t left = in_range; left;) {
            const struct sim_texture *first = spot[first_lane(left)].texture;
            uint32_t same = 0, bytes = (uint32_t)(first->channels * first->channel_bytes);
            for (uint32_t rest = left; rest; rest &= rest - 1) {
                const struct sim_texture *t = spot[first_lane(rest)].texture;
                same |= (uint32_t)((uint32_t)(t->channels * t->channel_bytes) == bytes) << first_lane(rest);
            }
            enum step step = texel_move(warp, bound, same, address, bytes, false);
            if (step != STEP_NEXT)
                return step;
            left &= ~same;
        }
        for (uint32_t left = here; left; left &= left - 1) {
            int lane = first_lane(left);
            const struct sim_texture *t = spot[lane].texture;
            static const int gathered_to[] = {3, 2, 0, 1}; // of (i, j), (i + 1, j), (i, j + 1), (i + 1, j + 1)
            for (int c = 0; c < 4; c++) {
                float value = in_range >> lane & 1 || weight[lane] == 0 ? 0 : t->border[c];
                int to = f->gathered >= 0 ? gathered_to[tap] : c;
                if (f->gathered >= 0 && c != f->gathered)
                    continue;
                if (in_range >> lane & 1)
                    bits[to][lane] = channel_of(t, texel[lane], c, &value);
                sum[to][lane] += f->gathered >= 0 ? value : share[lane] * weight[lane] * value;
            }
        }
    }
    return STEP_NEXT;
}

static enum step run_texture(struct warp *warp, const struct bound *bound, uint32_t mask) {
    const struct fetch *f = operand_data(warp, bound->b);
    struct spot spot[LANES];
    const struct sim_level *second[LANES];
    float sum[4][LANES], share[2][LANES] = {{0}};
    for (int i = 0; i < 4 * LANES; i++)
        sum[i / LANES][i % LANES] = -0.0f; // so that a texel of -0 remains -0
    uint32_t bits[4][LANES] = {0}, between = 0;
    for (uint32_t left = mask; left; left &= left - 1) {
        int lane = first_lane(left);
        uint64_t handle = cells64(warp, f->handle)[lane];
        const struct sim_texture *t = sim_texture_find(handle);
        const struct sim_level *level[2];
        if (!t || t->surface)
            return texel_report_handle(warp, bound, lane, handle, false);
        if (f->cube != t->cube)
            return report_shape(warp, bound, lane, f);
        share[1][lane] =
            sim_texture_levels(t, f->level == NO_OPERAND ? 0 : as_float(cells32(warp, f->level)[lane]), level);
        share[0][lane] = 1 - share[1][lane];
        between |= (uint32_t)(share[1][lane] > 0 && f->gathered < 0) << lane;
        spot[lane].texture = t;
        spot[lane].level = level[0];
        second[lane] = level[1];
    }
    enum step step = fetch_level(warp, bound, mask, spot, share[0], sum, bits);
    for (uint32_t left = between; left; left &= left - 1)
        spot[first_lane(left)].level = second[first_lane(left)];
    if (step == STEP_NEXT && between)
        step = fetch_level(warp, bound, between, spot, share[1], sum, bits);
    if (step != STEP_NEXT)
        return step;
    for (int c = 0; c < 4; c++) {
        if (f->type == PTX_F32)
            memcpy(bits[c], sum[c], sizeof bits[c]);
        warp_write32(warp, bound->elements[c], bits[c], mask);
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
