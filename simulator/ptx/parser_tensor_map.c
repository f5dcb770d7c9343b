// Operands of instructions that modify tensor maps. As ptxas does, the parser checks constant field values and
// dimensions.
#include "parser.h"

enum { TENSORMAP_BYTES = 128, MAX_DIMENSIONS = 5 };

static struct ptx_operand parse_constant_in_range(struct parser *p, const char *description, uint64_t end) {
    struct ptx_operand constant = parse_source(p, PTX_B32);
    if (constant.kind != PTX_OPERAND_IMMEDIATE || constant.bits >= end)
        parser_unsupported(p, "%s must be a constant from 0 to %d", description, (int)end - 1);
    return constant;
}

// The number of values of a field that needs a constant; 0: any value, also in a register.
static uint64_t field_value_count(enum ptx_variant field) {
    switch (field) {
    case PTX_V_MAP_ELEMTYPE:
        return 13;
    case PTX_V_MAP_INTERLEAVE:
        return 3;
    case PTX_V_MAP_SWIZZLE:
        return 4;
    case PTX_V_MAP_FILL:
        return 2;
    default:
        return 0;
    }
}

// tensormap.replace.tile.field{.space}.b1024.type [map] {, dimension}, value
void parse_tensormap_replace(struct parser *p, struct ptx_instruction *replace) {
    enum ptx_variant field = replace->variant;
    bool is_64_bit = field == PTX_V_MAP_GLOBAL_ADDRESS || field == PTX_V_MAP_GLOBAL_STRIDE;
    bool has_dimension = field >= PTX_V_MAP_BOX_DIM && field <= PTX_V_MAP_ELEMENT_STRIDE;
    bool space_supported = replace->space == PTX_GENERIC || replace->space == PTX_GLOBAL ||
                           (replace->space == PTX_SHARED && !replace->in_cluster);
    if (replace->type != (is_64_bit ? PTX_B64 : PTX_B32) || replace->flags & PTX_IM2COL || !space_supported)
        parser_unsupported(p, "unsupported variant of tensormap.replace");
    replace->src[0] = parse_address(p, replace->space);
    expect_punctuator(p, ',');
    if (has_dimension) {
        replace->src[2] =
            parse_constant_in_range(p, "the dimension", MAX_DIMENSIONS - (field == PTX_V_MAP_GLOBAL_STRIDE));
        expect_punctuator(p, ',');
    }
    replace->src[1] = field_value_count(field) ? parse_constant_in_range(p, "the value", field_value_count(field))
                                               : parse_source(p, replace->type);
    replace->nsrc = has_dimension ? 3 : 2;
    check_operands(p, replace, has_dimension ? "m s s:4" : "m s");
}

static void parse_tensormap_size(struct parser *p, struct ptx_instruction *instruction) {
    expect_punctuator(p, ',');
    struct ptx_operand *size = &instruction->src[instruction->nsrc++];
    *size = parse_source(p, PTX_B32);
    if (size->kind != PTX_OPERAND_IMMEDIATE || size->bits != TENSORMAP_BYTES)
        parser_unsupported(p, "size operand must be %d, the size of a tensor map", TENSORMAP_BYTES);
}

// tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.scope.sync.aligned [to], [from], 128
void parse_tensormap_copy(struct parser *p, struct ptx_instruction *copy) {
    if (copy->space != PTX_GLOBAL || copy->space2 != PTX_SHARED || copy->in_cluster || !(copy->flags & PTX_RELEASE))
        parser_unsupported(p, "tensormap.cp_fenceproxy must copy from .shared::cta to .global with .release");
    copy->src[copy->nsrc++] = parse_address(p, copy->space);
    expect_punctuator(p, ',');
    copy->src[copy->nsrc++] = parse_address(p, copy->space2);
    parse_tensormap_size(p, copy);
    check_operands(p, copy, "m m s:4");
}

// fence.proxy.tensormap::generic.release.scope; fence.proxy.tensormap::generic.acquire.scope [map], 128
void parse_tensormap_fence(struct parser *p, struct ptx_instruction *fence) {
    if (fence->flags & PTX_RELEASE)
        return;
    fence->src[fence->nsrc++] = parse_address(p, PTX_GENERIC);
    parse_tensormap_size(p, fence);
    check_operands(p, fence, "m s:4");
}
