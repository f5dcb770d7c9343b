// The operands of what changes tensor maps. Which values a field may take that has to be a constant, and which
// dimensions there are, is looked at here, as the assembler does.
#include "parser.h"

enum { MAP_BYTES = 128, MOST_DIMENSIONS = 5 };

static struct ptx_operand parse_constant_below(struct parser *p, const char *what, uint64_t end) {
    struct ptx_operand constant = parse_source(p, PTX_B32);
    if (constant.kind != PTX_OPERAND_IMMEDIATE || constant.bits >= end)
        parser_unsupported(p, "%s has to be a constant from 0 to %d", what, (int)end - 1);
    return constant;
}

// How many values a field has that takes a constant; 0: it takes any value.
static uint64_t values_of(enum ptx_variant field) {
    switch (field) {
    case PTX_V_MAP_TYPE:
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
void parse_map_replace(struct parser *p, struct ptx_instruction *replace) {
    enum ptx_variant field = replace->variant;
    bool wide = field == PTX_V_MAP_ADDRESS || field == PTX_V_MAP_STRIDE;
    bool of_dimension = field >= PTX_V_MAP_BOX && field <= PTX_V_MAP_STEP;
    bool in_map_space = replace->space == PTX_GENERIC || replace->space == PTX_GLOBAL ||
                        (replace->space == PTX_SHARED && !replace->in_cluster);
    if (replace->type != (wide ? PTX_B64 : PTX_B32) || replace->flags & PTX_IM2COL || !in_map_space)
        parser_unsupported(p, "a tensormap.replace of this kind is not known");
    replace->src[0] = parse_address(p, replace->space);
    expect_sign(p, ',');
    if (of_dimension) {
        replace->src[2] = parse_constant_below(p, "the dimension", MOST_DIMENSIONS - (field == PTX_V_MAP_STRIDE));
        expect_sign(p, ',');
    }
    replace->src[1] =
        values_of(field) ? parse_constant_below(p, "the value", values_of(field)) : parse_source(p, replace->type);
    replace->nsrc = of_dimension ? 3 : 2;
    check_operands(p, replace, of_dimension ? "m s s:4" : "m s");
}

static void parse_map_bytes(struct parser *p, struct ptx_instruction *instruction) {
    expect_sign(p, ',');
    struct ptx_operand *size = &instruction->src[instruction->nsrc++];
    *size = parse_source(p, PTX_B32);
    if (size->kind != PTX_OPERAND_IMMEDIATE || size->bits != MAP_BYTES)
        parser_unsupported(p, "a tensor map has %d bytes", MAP_BYTES);
}

// tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.scope.sync.aligned [to], [from], 128
void parse_map_copy(struct parser *p, struct ptx_instruction *copy) {
    if (copy->space != PTX_GLOBAL || copy->space2 != PTX_SHARED || copy->in_cluster || !(copy->flags & PTX_RELEASE))
        parser_unsupported(p, "tensormap.cp_fenceproxy copies from .shared::cta to .global, and releases");
    copy->src[copy->nsrc++] = parse_address(p, copy->space);
    expect_sign(p, ',');
    copy->src[copy->nsrc++] = parse_address(p, copy->space2);
    parse_map_bytes(p, copy);
    check_operands(p, copy, "m m s:4");
}

// fence.proxy.tensormap::generic.release.scope; fence.proxy.tensormap::generic.acquire.scope [map], 128
void parse_map_fence(struct parser *p, struct ptx_instruction *fence) {
    if (fence->flags & PTX_RELEASE)
        return;
    fence->src[fence->nsrc++] = parse_address(p, PTX_GENERIC);
    parse_map_bytes(p, fence);
    check_operands(p, fence, "m s:4");
}
