// Operands of asynchronous copies; their number depends on the direction and kind of the copy.
#include "parser.h"

#include <string.h>

// cp.async.ca.shared.global [to], [from], size {, source size or predicate} {, policy}; .commit_group; .wait_group n;
// .wait_all
void parse_cp_async(struct parser *p, struct ptx_instruction *copy) {
    const char *form = "";
    if (copy->variant == PTX_VARIANT_NONE) {
        if (copy->space != PTX_SHARED || copy->space2 != PTX_GLOBAL)
            parser_unsupported(p, "cp.async must copy from .global to .shared");
        copy->src[copy->nsrc++] = parse_address(p, copy->space);
        expect_punctuator(p, ',');
        copy->src[copy->nsrc++] = parse_address(p, copy->space2);
        expect_punctuator(p, ',');
        while (copy->nsrc < 5 && (copy->nsrc == 2 || accept_punctuator(p, ',')))
            copy->src[copy->nsrc++] = parse_source(p, PTX_B32);
        if (copy->nsrc == 4 && copy->src[3].kind == PTX_OPERAND_REGISTER && ptx_type_size(copy->src[3].reg_type) == 8) {
            copy->src[4] = copy->src[3]; // the cache policy, if the source size is omitted
            copy->src[3] = (struct ptx_operand){.kind = PTX_OPERAND_NONE};
            copy->nsrc = 5;
        }
        uint64_t size = copy->src[2].bits;
        if (copy->src[2].kind != PTX_OPERAND_IMMEDIATE || (size != 4 && size != 8 && size != 16))
            parser_unsupported(p, "copy size of cp.async must be 4, 8 or 16 bytes");
        form = copy->nsrc > 3 && copy->src[3].reg_type == PTX_PRED ? "m m s:4 s:p ?s:8" : "m m s:4 ?s:4 ?s:8";
    } else if (copy->variant == PTX_V_WAIT_GROUP) {
        copy->src[copy->nsrc++] = parse_source(p, PTX_B32);
        if (copy->src[0].kind != PTX_OPERAND_IMMEDIATE)
            parser_unsupported(p, "cp.async.wait_group needs a constant number of groups");
        form = "s:4";
    }
    check_operands(p, copy, form);
}

// The im2col offsets along W, H and D: {%rs1, %rs2}
static void parse_offsets(struct parser *p, struct ptx_instruction *copy) {
    expect_punctuator(p, ',');
    struct ptx_operand *offsets = &copy->src[copy->nsrc++];
    *offsets = parse_source(p, PTX_B16);
    if (offsets->kind != PTX_OPERAND_VECTOR || offsets->count + 2 != copy->vector)
        parser_unsupported(p, "im2col mode needs a vector of %d offsets for a tensor of %d dimensions",
                           copy->vector - 2, copy->vector);
}

// cp.async.bulk.prefetch.tensor.L2.global [map, {...}] {, offsets} {, policy}
void parse_prefetch(struct parser *p, struct ptx_instruction *prefetch) {
    bool offsets = prefetch->flags & PTX_IM2COL;
    prefetch->src[prefetch->nsrc++] = parse_address(p, prefetch->space);
    if (offsets)
        parse_offsets(p, prefetch);
    bool policy = accept_punctuator(p, ',');
    if (policy)
        prefetch->src[prefetch->nsrc++] = parse_source(p, PTX_B64);
    check_operands(p, prefetch, offsets ? policy ? "M V:* s:8" : "M V:*" : policy ? "M s:8" : "M");
}

// cp.async.bulk{.tensor}.shared::cluster.global.mbarrier::... [to], [from], {size,} [barrier] {, blocks} {, policy};
// .shared::cluster.shared::cta.mbarrier::... [to], [from], size, [barrier];
// .global.shared::cta.bulk_group [to], [from] {, size} {, policy}; the last two also as cp.reduce.async.bulk
void parse_bulk(struct parser *p, struct ptx_instruction *copy) {
    bool tensor = copy->opcode == PTX_OP_CP_ASYNC_BULK_TENSOR || copy->opcode == PTX_OP_CP_REDUCE_ASYNC_BULK_TENSOR;
    bool reduces = copy->opcode == PTX_OP_CP_REDUCE_ASYNC_BULK || copy->opcode == PTX_OP_CP_REDUCE_ASYNC_BULK_TENSOR;
    bool stores = copy->space == PTX_GLOBAL, shared_to_shared = copy->space == PTX_SHARED && copy->space2 == PTX_SHARED;
    bool known = stores ? copy->space2 == PTX_SHARED && copy->completion == PTX_BY_GROUP
                        : copy->space == PTX_SHARED && copy->completion == PTX_BY_MBARRIER &&
                              (shared_to_shared ? !tensor && copy->in_cluster : !reduces && copy->space2 == PTX_GLOBAL);
    char form[64] = "";
    if (!known || (copy->flags & PTX_MULTICAST && (stores || shared_to_shared)))
        parser_unsupported(p, "unsupported variant of bulk copy");
    copy->src[copy->nsrc++] = parse_address(p, copy->space);
    expect_punctuator(p, ',');
    copy->src[copy->nsrc++] = parse_address(p, copy->space2);
    strcat(form, tensor && stores ? "M m" : tensor ? "m M" : "m m");
    if (!tensor) {
        expect_punctuator(p, ',');
        copy->src[copy->nsrc++] = parse_source(p, PTX_B32);
        strcat(form, " s:4");
    }
    if (!stores) {
        expect_punctuator(p, ',');
        copy->src[copy->nsrc++] = parse_address(p, PTX_SHARED);
        strcat(form, " m");
    }
    if (copy->flags & PTX_IM2COL && copy->vector < 3)
        parser_unsupported(p, "im2col mode needs at least 3 dimensions; the tensor has %d", copy->vector);
    if (copy->flags & PTX_IM2COL && !stores) {
        parse_offsets(p, copy);
        strcat(form, " V:*");
    }
    if (copy->flags & PTX_MULTICAST) {
        expect_punctuator(p, ',');
        copy->src[copy->nsrc++] = parse_source(p, PTX_B16);
        strcat(form, " s:*");
    }
    if (accept_punctuator(p, ',')) {
        copy->src[copy->nsrc++] = parse_source(p, PTX_B64);
        strcat(form, " s:8");
    }
    check_operands(p, copy, form);
    const struct ptx_operand *map = &copy->src[stores ? 0 : 1];
    if (tensor && map->count != copy->vector)
        parser_unsupported(p, "%d coordinates for a tensor of %d dimensions", map->count, copy->vector);
}
