// Video instructions: each operates on a part of a word, or on two or four parts.
#include "../lanes/video.h"
#include "../machine/warp.h"
#include "families.h"

#include <string.h>

static enum lane_video_operation operation_of(enum ptx_opcode opcode) {
    switch (opcode) {
    case PTX_OP_VSUB:
    case PTX_OP_VSUB2:
    case PTX_OP_VSUB4:
        return VIDEO_SUB;
    case PTX_OP_VABSDIFF:
    case PTX_OP_VABSDIFF2:
    case PTX_OP_VABSDIFF4:
        return VIDEO_ABSDIFF;
    case PTX_OP_VMIN:
    case PTX_OP_VMIN2:
    case PTX_OP_VMIN4:
        return VIDEO_MIN;
    case PTX_OP_VMAX:
    case PTX_OP_VMAX2:
    case PTX_OP_VMAX4:
        return VIDEO_MAX;
    case PTX_OP_VAVRG2:
    case PTX_OP_VAVRG4:
        return VIDEO_AVERAGE;
    case PTX_OP_VSET:
    case PTX_OP_VSET2:
    case PTX_OP_VSET4:
        return VIDEO_COMPARE;
    case PTX_OP_VSHL:
        return VIDEO_SHIFT_LEFT;
    case PTX_OP_VSHR:
        return VIDEO_SHIFT_RIGHT;
    default:
        return VIDEO_ADD;
    }
}

// Decodes types, .sat and the comparison. false: there is no such instruction.
static bool describe(const struct ptx_instruction *ptx, struct bound *bound) {
    enum lane_video_operation operation = operation_of(ptx->opcode);
    bool compares = operation == VIDEO_COMPARE; // without a type of the result, which is unsigned
    for (int i = compares; i < 3; i++) {
        enum ptx_type type = ptx->mma_type[i - compares];
        if (type != PTX_U32 && type != PTX_S32)
            return false;
        if (type == PTX_S32)
            bound->extra |= i == 0 ? VIDEO_SIGNED : i == 1 ? VIDEO_SIGNED_A : VIDEO_SIGNED_B;
    }
    if (compares && ptx->compare > PTX_GE)
        return false;
    bound->extra |= operation | (compares ? (uint32_t)ptx->compare << VIDEO_COMPARISON : 0);
    bound->extra |= ptx->flags & PTX_SAT ? VIDEO_SATURATE : 0;
    return true;
}

// vadd4 and the like if their parts are not those at the same positions of a and b: elements select them.
static enum step run_selected(struct warp *warp, const struct bound *bound, uint32_t mask) {
    uint32_t a[LANES], b[LANES], result[LANES];
    warp->lanes->prmt_b32(a, operand_data(warp, bound->a), operand_data(warp, bound->b),
                          operand_data(warp, bound->elements[0]), 0);
    warp->lanes->prmt_b32(b, operand_data(warp, bound->a), operand_data(warp, bound->b),
                          operand_data(warp, bound->elements[1]), 0);
    warp->lanes->parts(result, a, b, operand_data(warp, bound->c), bound->extra);
    warp_write32(warp, bound->d, result, mask);
    return STEP_NEXT;
}

bool bind_parts(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    const char *name = ptx_opcode_name(ptx->opcode);
    bool sums = ptx->variant == PTX_V_ADD;
    if (!describe(ptx, bound) || (ptx->variant != PTX_VARIANT_NONE && !sums))
        return false;
    if (strchr(name, '4'))
        bound->extra |= VIDEO_FOUR;
    bound->extra |= (sums ? VIDEO_SUM : 0) | (uint32_t)ptx->dst[0].selector << VIDEO_MASK;
    if (!bind_lanes(binder, bound, binder->lanes->parts, PTX_B32, PTX_B32, PTX_B32, PTX_B32))
        return false;
    if (ptx->src[0].selector == 0x3210 && ptx->src[1].selector == 0x7654)
        return true;
    operand_ref *selectors = bind_allocate(binder, 2 * sizeof *selectors);
    if (!selectors)
        return false;
    for (int i = 0; i < 2; i++)
        selectors[i] = bind_constant(binder, ptx->src[i].selector, PTX_B32);
    bound->kind = BOUND_RUN;
    bound->run = run_selected;
    bound->elements = selectors;
    return selectors[0] != NO_OPERAND && selectors[1] != NO_OPERAND;
}

bool bind_video(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    enum ptx_variant second = ptx->variant;
    bool shifts = ptx->opcode == PTX_OP_VSHL || ptx->opcode == PTX_OP_VSHR, puts = ptx->dst[0].selector;
    bool known = second == PTX_VARIANT_NONE || second == PTX_V_ADD || second == PTX_V_MIN || second == PTX_V_MAX;
    bool third = ptx->src[2].kind != PTX_OPERAND_NONE;
    if (!describe(ptx, bound) || !known || (shifts && bound->extra & VIDEO_SIGNED_B))
        return false;
    if (third != (puts || second != PTX_VARIANT_NONE) || (puts && second != PTX_VARIANT_NONE))
        return false;
    bound->extra |= (uint32_t)ptx->src[0].selector << VIDEO_A | (uint32_t)ptx->src[1].selector << VIDEO_B;
    bound->extra |= (uint32_t)ptx->dst[0].selector << VIDEO_D | (uint32_t)second << VIDEO_SECOND;
    bound->extra |= ptx->flags & PTX_SHIFT_CLAMP ? VIDEO_CLAMP : 0;
    return bind_lanes(binder, bound, binder->lanes->video, PTX_B32, PTX_B32, PTX_B32, third ? PTX_B32 : PTX_NO_TYPE);
}

bool bind_video_mad(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    bool product = ptx->src[0].negated != ptx->src[1].negated, c = ptx->src[2].negated, one = ptx->flags & PTX_PLUS_ONE;
    bool any = ptx->src[0].negated || ptx->src[1].negated || c;
    if (!describe(ptx, bound) || (product && c) || (one && any))
        return false;
    uint32_t scale = ptx->variant == PTX_V_SHR7 ? 7 : ptx->variant == PTX_V_SHR15 ? 15 : 0;
    bound->extra |= (uint32_t)ptx->src[0].selector << VIDEO_A | (uint32_t)ptx->src[1].selector << VIDEO_B;
    bound->extra |= scale << VIDEO_SCALE | (product ? VIDEO_NEGATES_PRODUCT : 0) | (c ? VIDEO_NEGATES_C : 0);
    bound->extra |= one ? VIDEO_PLUS_ONE : 0;
    return bind_lanes(binder, bound, binder->lanes->video_mad, PTX_B32, PTX_B32, PTX_B32, PTX_B32);
}
