// Which lane holds which element of the operands of mma, wgmma, ldmatrix and stmatrix, by the simulator's own
// functions.
#include "record.h"

#include "../lanes/fragment.h"

#include <string.h>

typedef struct fragment_element element_of(int lane, int index, int width);

static struct fragment_element of_a(int lane, int index, int width) {
    return fragment_a(lane, index / width, index % width, width);
}

static struct fragment_element of_b(int lane, int index, int width) {
    return fragment_b(lane, index / width, index % width, width);
}

static struct fragment_element of_c(int lane, int index, int width) {
    (void)width;
    return fragment_c(lane, index);
}

static struct fragment_element of_matrices(int lane, int index, bool transposed) {
    struct fragment_element at = fragment_m(lane, index % 2, transposed);
    at.row += 8 * (index / 2);
    return at;
}

static struct fragment_element of_rows(int lane, int index, int width) {
    (void)width;
    return of_matrices(lane, index, false);
}

static struct fragment_element of_columns(int lane, int index, int width) {
    (void)width;
    return of_matrices(lane, index, true);
}

struct operand {
    const char *name, *element;
    int rows, columns, width, elements; // elements per lane
    element_of *at;
};

static const char *type_name(enum ptx_type type) {
    switch (type) {
    case PTX_F16:
        return "f16";
    case PTX_BF16:
        return "bf16";
    case PTX_TF32:
        return "tf32";
    case PTX_E4M3:
        return "e4m3";
    case PTX_E5M2:
        return "e5m2";
    case PTX_S8:
        return "s8";
    case PTX_U8:
        return "u8";
    case PTX_S4:
        return "s4";
    case PTX_U4:
        return "u4";
    case PTX_B1:
        return "b1";
    case PTX_S32:
        return "s32";
    case PTX_F64:
        return "f64";
    default:
        return "f32";
    }
}

static int width_of(enum ptx_type type) {
    int bits = ptx_type_bits(type);
    return bits < 32 ? 32 / bits : 1;
}

static void add_operand(struct json *json, const struct operand *operand, int warps) {
    json_add(json, "{\"name\":\"%s\",\"rows\":%d,\"columns\":%d,\"element\":\"%s\",\"per_register\":%d,\"at\":[",
             operand->name, operand->rows, operand->columns, operand->element, operand->width);
    for (int lane = 0; lane < LANES * warps; lane++) {
        json_add(json, lane ? ",[" : "[");
        for (int i = 0; i < operand->elements; i++) {
            const struct fragment_element at = operand->at(lane % LANES, i, operand->width);
            json_add(json, "%s[%d,%d]", i ? "," : "", at.row + 16 * (lane / LANES), at.column);
        }
        json_add(json, "]");
    }
    json_add(json, "]}");
}

static void describe_product(const struct ptx_instruction *i, struct json *json) {
    const bool group = i->opcode == PTX_OP_WGMMA_MMA_ASYNC;
    const int warps = group ? 4 : 1, m = i->shape[0], rows = m / warps, n = i->shape[1], k = i->shape[2];
    const bool sparse = group && i->flags & PTX_SPARSE;
    const int stored = sparse ? k / 2 : k;   // of a row of A
    const enum ptx_type *type = i->mma_type; // D, A, B, C
    const struct operand a = {"A", type_name(type[1]), m, stored, width_of(type[1]), rows * stored / LANES, of_a};
    const struct operand b = {"B", type_name(type[2]), k, n, width_of(type[2]), k * n / LANES, of_b};
    const struct operand c = {"C", type_name(type[0]), m, n, width_of(type[0]), rows * n / LANES, of_c};
    json_add(json, "{\"name\":\"%s.m%dn%dk%d %s %s %s\",%s\"operands\":[",
             sparse  ? "wgmma.sp"
             : group ? "wgmma"
                     : "mma",
             m, n, k, c.element, a.element, b.element, group ? "\"warps\":4," : "");
    if (!group || i->src[0].kind == PTX_OPERAND_VECTOR) {
        add_operand(json, &a, warps);
        json_add(json, ",");
    }
    if (!group) {
        add_operand(json, &b, warps);
        json_add(json, ",");
    }
    add_operand(json, &c, warps);
    json_add(json, "]}");
}

static void describe_matrices(const struct ptx_instruction *i, struct json *json) {
    const struct ptx_operand *data = i->opcode == PTX_OP_LDMATRIX ? &i->dst[0] : &i->src[1];
    const int matrices = data->kind == PTX_OPERAND_VECTOR ? data->count : 1;
    const bool transposed = i->flags & PTX_TRANS;
    const struct operand all = {"M", "b16", 8 * matrices, 8, 2, 2 * matrices, transposed ? of_columns : of_rows};
    json_add(json, "{\"name\":\"%s.x%d%s\",\"operands\":[", i->opcode == PTX_OP_LDMATRIX ? "ldmatrix" : "stmatrix",
             matrices, transposed ? ".trans" : "");
    add_operand(json, &all, 1);
    json_add(json, "]}");
}

bool fragments_describe(const struct ptx_instruction *instruction, struct json *json) {
    switch (instruction->opcode) {
    case PTX_OP_MMA:
    case PTX_OP_WGMMA_MMA_ASYNC:
        describe_product(instruction, json);
        return true;
    case PTX_OP_LDMATRIX:
    case PTX_OP_STMATRIX:
        describe_matrices(instruction, json);
        return true;
    default:
        return false;
    }
}
