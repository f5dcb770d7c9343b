// The shapes and types of mma and wmma (PTX ISA, "Multiply-and-Accumulate Instruction: mma", "mma.sp" and "wmma.mma").
#include "parser.h"

static bool is_fp8(enum ptx_type type) {
    return type == PTX_E4M3 || type == PTX_E5M2;
}

static bool is_int8(enum ptx_type type) {
    return type == PTX_S8 || type == PTX_U8;
}

static bool is_int4(enum ptx_type type) {
    return type == PTX_S4 || type == PTX_U4;
}

bool has_valid_bit_operation(const struct ptx_instruction *mma, enum ptx_type a) {
    bool counts = mma->flags & PTX_POPC && (mma->variant == PTX_V_AND || mma->variant == PTX_V_XOR);
    bool nothing = !(mma->flags & PTX_POPC) && mma->variant == PTX_VARIANT_NONE;
    return a == PTX_B1 ? counts && !(mma->flags & PTX_SAT) : nothing;
}

bool is_sparse_mma(enum ptx_opcode opcode) {
    return opcode == PTX_OP_MMA_SP || opcode == PTX_OP_MMA_SP_ORDERED;
}

// A row of A has four bits of metadata per two tf32 elements, per eight sub-byte elements, or per four others; four
// lanes provide the metadata of two rows.
int mma_metadata_lanes(const struct ptx_instruction *mma) {
    int bits = ptx_type_bits(mma->mma_type[1]), chunk = bits == 32 ? 2 : bits < 8 ? 8 : 4;
    return 2 * 4 * (mma->shape[2] / chunk) / 32;
}

static bool is_valid_sparse_mma(const struct ptx_instruction *mma) {
    int k = mma->shape[2];
    enum ptx_type a = mma->mma_type[1], b = mma->mma_type[2], sum = mma->mma_type[0];
    if (mma->shape[0] != 16 || mma->shape[1] != 8 || sum != mma->mma_type[3])
        return false;
    if (is_int8(a) && is_int8(b))
        return sum == PTX_S32 && (k == 32 || k == 64);
    if (is_int4(a) && is_int4(b))
        return sum == PTX_S32 && (k == 64 || k == 128);
    if (mma->flags & PTX_SAT)
        return false;
    if (is_fp8(a) && is_fp8(b))
        return sum == PTX_F32 && k == 64;
    bool half_types = a == PTX_F16 || a == PTX_BF16,
         accumulator_fits = sum == PTX_F32 || (sum == PTX_F16 && a == PTX_F16);
    return a == b && accumulator_fits &&
           ((half_types && (k == 16 || k == 32)) || (a == PTX_TF32 && (k == 8 || k == 16)));
}

bool is_valid_mma(const struct ptx_instruction *mma) {
    if (is_sparse_mma(mma->opcode))
        return is_valid_sparse_mma(mma);
    int m = mma->shape[0], k = mma->shape[2];
    enum ptx_type a = mma->mma_type[1], b = mma->mma_type[2], sum = mma->mma_type[0];
    bool m16 = m == 16, m8 = m == 8;
    if (mma->shape[1] != 8 || sum != mma->mma_type[3] || !has_valid_bit_operation(mma, a))
        return false;
    if (is_int8(a) && is_int8(b))
        return sum == PTX_S32 && ((m16 && (k == 16 || k == 32)) || (m8 && k == 16));
    if (is_int4(a) && is_int4(b))
        return sum == PTX_S32 && ((m16 && (k == 32 || k == 64)) || (m8 && k == 32));
    if (a == PTX_B1 && b == PTX_B1)
        return sum == PTX_S32 && ((m16 && (k == 128 || k == 256)) || (m8 && k == 128));
    if (mma->flags & PTX_SAT)
        return false;
    if (is_fp8(a) && is_fp8(b))
        return (sum == PTX_F32 || sum == PTX_F16) && m16 && (k == 16 || k == 32);
    if (a != b)
        return false;
    switch (a) {
    case PTX_F64:
        return sum == PTX_F64 && ((m8 && k == 4) || (m16 && (k == 4 || k == 8 || k == 16)));
    case PTX_F16:
        return (sum == PTX_F32 || sum == PTX_F16) && m16 && (k == 8 || k == 16);
    case PTX_BF16:
        return sum == PTX_F32 && m16 && (k == 8 || k == 16);
    default:
        return a == PTX_TF32 && sum == PTX_F32 && m16 && (k == 4 || k == 8);
    }
}

bool is_valid_wmma_fragment(const int shape[3], enum ptx_type type, bool is_accumulator) {
    int m = shape[0], n = shape[1], k = shape[2];
    bool m16 = k == 16 && ((m == 16 && n == 16) || (m == 32 && n == 8) || (m == 8 && n == 32));
    bool small = m == 16 && n == 16 && k == 8, m8 = m == 8 && n == 8;
    switch (type) {
    case PTX_F64:
        return m8 && k == 4;
    case PTX_F16:
        return m16;
    case PTX_F32:
        return is_accumulator && (m16 || small);
    case PTX_S32:
        return is_accumulator && (m16 || (m8 && (k == 32 || k == 128)));
    case PTX_TF32:
        return !is_accumulator && small;
    case PTX_S4:
    case PTX_U4:
        return !is_accumulator && m8 && k == 32;
    case PTX_B1:
        return !is_accumulator && m8 && k == 128;
    default:
        return !is_accumulator && m16 && (type == PTX_BF16 || is_int8(type));
    }
}
