// wmma.load, wmma.mma, wmma.store: the tiles of nvcuda::wmma.
//
// PTX does not define which lane holds which element of a fragment; here it is as in the mma.sync instructions that the
// tile consists of: blocks of 16 x 8 results, of which an m8n32 tile has the upper half. A fragment of fp16 has
// registers for 512 elements, so that a smaller tile is stored several times.
#include "families.h"

#include "../lanes/fragment.h"
#include "../memory/spaces.h"
#include "matrix.h"
#include "sync.h"

#include <math.h>
#include <string.h>

enum use { MATRIX_A, MATRIX_B, MATRIX_C };
enum { MOST_ROWS = 32, MOST_K = 16 };

struct fragment {
    enum use use;
    enum ptx_type type;
    int m, n, k;
    int bits;      // bits per element
    int width;     // elements per register
    int registers; // distinct registers
    bool by_columns, loads;
    operand_ref stride;
};

static struct fragment fragment_of(enum use use, enum ptx_type type, const int shape[3]) {
    struct fragment f = {.use = use, .type = type, .m = shape[0], .n = shape[1], .k = shape[2]};
    f.bits = ptx_type_bits(type);
    f.width = f.bits >= 32 ? 1 : 32 / f.bits;
    int elements = use == MATRIX_A ? f.m * f.k : use == MATRIX_B ? f.k * f.n : f.m * f.n;
    f.registers = elements / (LANES * f.width);
    return f;
}

// Row and column in the tile of element e of a lane's register r.
static struct fragment_element element_at(const struct fragment *f, int lane, int r, int e) {
    int across = f->k / (4 * f->width); // registers of 8 rows, or 8 columns
    if (f->use == MATRIX_A) {
        int rows = f->m == 8 ? 1 : 2, block = r / (rows * across), in = r % (rows * across);
        struct fragment_element at = fragment_a(lane, f->m == 8 ? 2 * in : in, e, f->width);
        return (struct fragment_element){at.row + 16 * block, at.column};
    }
    if (f->use == MATRIX_B) {
        struct fragment_element at = fragment_b(lane, r % across, e, f->width);
        return (struct fragment_element){at.row, at.column + 8 * (r / across)};
    }
    int of_block = f->m == 8 ? 2 : 4, i = r * f->width + e, block = i / of_block;
    struct fragment_element at = fragment_c(lane, i % of_block);
    return (struct fragment_element){at.row + 16 * (block / (f->n / 8)), at.column + 8 * (block % (f->n / 8))};
}

// ---- Loads and stores --------------------------------------------------------------------------------------------

// The data of the current access, one register per lane; the action of an access has no other arguments.
static _Thread_local uint8_t moved[LANES][8];
static _Thread_local unsigned moved_at;

static void load_elements(struct warp *warp, const struct bound *bound, const struct access *access, uint8_t *origin) {
    (void)warp;
    (void)bound;
    access_copy(access, origin, moved[0] + moved_at, sizeof *moved, true);
}

static void store_elements(struct warp *warp, const struct bound *bound, const struct access *access, uint8_t *origin) {
    (void)warp;
    (void)bound;
    access_copy(access, origin, moved[0] + moved_at, sizeof *moved, false);
}

// Moves the elements of one register from e on that are consecutive in memory.
static enum step move_elements(struct warp *warp, const struct bound *bound, const struct fragment *f, int r, int e,
                               uint32_t bytes) {
    struct access access = {
        .space = (enum ptx_space)bound->space,
        .kind = f->loads ? ACCESS_MATRIX_LOAD : ACCESS_MATRIX_STORE,
        .mask = ALL_LANES,
        .bytes = bytes,
    };
    const uint32_t *stride = cells32(warp, f->stride);
    access_find(warp, &access, bound->a, bound->address_cell, bound->offset);
    access_fill(&access);
    for (int lane = 0; lane < LANES; lane++) {
        struct fragment_element at = element_at(f, lane, r, e);
        int64_t along = f->by_columns ? at.row : at.column, lines = f->by_columns ? at.column : at.row;
        access.address[lane] += (uint64_t)((lines * (int64_t)stride[lane] + along) * f->bits / 8);
    }
    access.span = warp->lanes->span64(access.address, bytes);
    moved_at = (unsigned)(e * f->bits / 8);
    enum step step = access_check_alignment(warp, bound, &access);
    return step == STEP_NEXT ? access_run_at(warp, bound, &access, f->loads ? load_elements : store_elements) : step;
}

static void put_register(struct warp *warp, operand_ref where, bool is_wide) {
    uint64_t wide[LANES];
    uint32_t narrow[LANES];
    for (int lane = 0; lane < LANES; lane++) {
        memcpy(&wide[lane], moved[lane], 8);
        memcpy(&narrow[lane], moved[lane], 4);
    }
    if (is_wide)
        warp_write64(warp, where, wide, ALL_LANES);
    else
        warp_write32(warp, where, narrow, ALL_LANES);
}

static void get_register(struct warp *warp, operand_ref where, bool is_wide) {
    for (int lane = 0; lane < LANES; lane++)
        if (is_wide)
            memcpy(moved[lane], &cells64(warp, where)[lane], 8);
        else
            memcpy(moved[lane], &cells32(warp, where)[lane], 4);
}

static enum step run_move(struct warp *warp, const struct bound *bound, uint32_t mask) {
    const struct fragment *f = operand_data(warp, bound->b);
    enum step step = STEP_NEXT;
    if (!sync_whole_warp(warp, bound, mask, &step))
        return step;
    // Elements of a register are consecutive in memory if they are along the matrix's major dimension.
    bool packed = f->width == 1 || (f->use == MATRIX_B) == f->by_columns;
    int parts = packed ? 1 : f->width;
    for (int r = 0; r < f->registers; r++) {
        if (!f->loads)
            get_register(warp, bound->elements[r], f->bits == 64);
        for (int e = 0; e < parts && step == STEP_NEXT; e++)
            step = move_elements(warp, bound, f, r, e, (uint32_t)(f->bits * (packed ? f->width : 1)) / 8);
        if (step != STEP_NEXT)
            return step;
        for (int copy = r; f->loads && copy < bound->vector; copy += f->registers)
            put_register(warp, bound->elements[copy], f->bits == 64);
    }
    return STEP_NEXT;
}

bool bind_wmma_move(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    bool loads = ptx->opcode != PTX_OP_WMMA_STORE_D;
    const struct ptx_operand *address = &ptx->src[0], *data = loads ? &ptx->dst[0] : &ptx->src[1];
    const struct ptx_operand *stride = &ptx->src[loads ? 1 : 2];
    enum use use = ptx->opcode == PTX_OP_WMMA_LOAD_A   ? MATRIX_A
                   : ptx->opcode == PTX_OP_WMMA_LOAD_B ? MATRIX_B
                                                       : MATRIX_C;
    struct fragment f = fragment_of(use, ptx->type, ptx->shape);
    f.loads = loads;
    f.by_columns = ptx->flags & PTX_COL_MAJOR;
    int line = use == MATRIX_A   ? (f.by_columns ? f.m : f.k)
               : use == MATRIX_B ? (f.by_columns ? f.k : f.n)
                                 : (f.by_columns ? f.m : f.n);
    f.stride = stride->kind == PTX_OPERAND_NONE ? bind_constant(binder, (uint64_t)line, PTX_U32)
                                                : bind_source(binder, stride, PTX_U32);
    bound->kind = BOUND_RUN;
    bound->run = run_move;
    bound->space = (uint8_t)(ptx->space == PTX_GENERIC && address->slot < 0 ? address->space : ptx->space);
    bound->bytes = (uint8_t)(f.bits < 8 ? 4 : f.bits / 8);
    bound->vector = (uint8_t)(data->kind == PTX_OPERAND_VECTOR ? data->count : 1);
    bound->elements = bind_operands(binder, data, f.bits == 64 ? PTX_B64 : PTX_B32, loads);
    bound->b = bind_data(binder, &f, sizeof f);
    bound->offset = address->offset;
    if (address->variable >= 0)
        bound->offset += (int64_t)binder->kernel->variable_address[address->variable];
    if (address->slot >= 0) {
        bound->a = bind_register(binder, address->slot);
        bound->address_cell = is_64_bit(address->reg_type) ? 8 : 4;
    }
    return bound->elements && f.stride != NO_OPERAND;
}

// ---- Products ----------------------------------------------------------------------------------------------------

struct product {
    struct fragment a, b, c, d;
    struct lane_mma mma; // of one block; k is 0 for bytes and doubles
    bool saturates;
};

static const uint32_t nothing[LANES];

// Blocks of 16 x 8 by mma. bound->elements: D, A, B, C, one operand per register of each.
static void multiply_blocks(struct warp *warp, const struct bound *bound, const struct product *p,
                            const operand_ref *first[4]) {
    int rows = p->a.m == 8 ? 1 : 2, across = p->a.k / (4 * p->a.width);
    int of_c = 2 * rows / p->c.width, of_d = 2 * rows / p->d.width, columns = p->a.n / 8;
    for (int block = 0; block < (p->a.m + 15) / 16 * columns; block++) {
        int down = block / columns, right = block % columns;
        const uint32_t *a[4], *b[4], *c[4];
        uint32_t result[4][LANES], *d[4] = {result[0], result[1], result[2], result[3]};
        for (int i = 0; i < 4; i++) {
            bool exists = (rows == 2 || i % 2 == 0) && i < 2 * across;
            a[i] = exists ? cells32(warp, first[1][rows * across * down + i * rows / 2]) : nothing;
            c[i] = i < of_c ? cells32(warp, first[3][of_c * block + i]) : nothing;
        }
        for (int i = 0; i < 4; i++)
            b[i] = i < across ? cells32(warp, first[2][across * right + i]) : nothing;
        if (p->mma.element >= ELEMENT_S4)
            warp->lanes->mma_each(&p->mma, d, a, b, c, NULL);
        else
            warp->lanes->mma(&p->mma, d, a, b, c);
        for (int i = 0; i < of_d; i++)
            warp_write32(warp, first[0][of_d * block + i], result[i], ALL_LANES);
    }
    (void)bound;
}

union number {
    int64_t whole;
    double real;
};

static union number number_of(const struct warp *warp, const struct fragment *f, operand_ref where, int lane, int e) {
    union number n = {0};
    if (f->type == PTX_F64) {
        memcpy(&n.real, &cells64(warp, where)[lane], 8);
        return n;
    }
    uint32_t word = cells32(warp, where)[lane];
    n.whole = f->type == PTX_S32  ? (int32_t)word
              : f->type == PTX_S8 ? (int8_t)(word >> 8 * e)
                                  : (uint8_t)(word >> 8 * e);
    return n;
}

// Bytes and doubles, one result after the other.
static void multiply_numbers(struct warp *warp, const struct product *p, const operand_ref *first[4]) {
    union number a[MOST_ROWS][MOST_K], b[MOST_K][MOST_ROWS];
    for (int lane = 0; lane < LANES; lane++) {
        for (int i = 0; i < p->a.registers * p->a.width; i++) {
            int r = i / p->a.width, e = i % p->a.width;
            struct fragment_element at = element_at(&p->a, lane, r, e);
            a[at.row][at.column] = number_of(warp, &p->a, first[1][r], lane, e);
        }
        for (int i = 0; i < p->b.registers * p->b.width; i++) {
            int r = i / p->b.width, e = i % p->b.width;
            struct fragment_element at = element_at(&p->b, lane, r, e);
            b[at.row][at.column] = number_of(warp, &p->b, first[2][r], lane, e);
        }
    }
    for (int r = 0; r < p->d.registers; r++) {
        uint64_t wide[LANES];
        uint32_t narrow[LANES];
        for (int lane = 0; lane < LANES; lane++) {
            struct fragment_element at = element_at(&p->d, lane, r, 0);
            union number sum = number_of(warp, &p->c, first[3][r], lane, 0);
            for (int k = 0; k < p->a.k; k++)
                if (p->c.type == PTX_F64)
                    sum.real = fma(a[at.row][k].real, b[k][at.column].real, sum.real);
                else
                    sum.whole += a[at.row][k].whole * b[k][at.column].whole;
            if (p->saturates && p->c.type == PTX_S32)
                sum.whole = sum.whole > INT32_MAX ? INT32_MAX : sum.whole < INT32_MIN ? INT32_MIN : sum.whole;
            memcpy(&wide[lane], &sum, 8);
            narrow[lane] = (uint32_t)sum.whole;
        }
        if (p->d.type == PTX_F64)
            warp_write64(warp, first[0][r], wide, ALL_LANES);
        else
            warp_write32(warp, first[0][r], narrow, ALL_LANES);
    }
}

static enum step run_product(struct warp *warp, const struct bound *bound, uint32_t mask) {
    const struct product *p = operand_data(warp, bound->b);
    enum step step;
    if (!sync_whole_warp(warp, bound, mask, &step))
        return step;
    const operand_ref *first[4];
    for (int i = 0; i < 4; i++)
        first[i] = bound->elements + 8 * i;
    if (p->mma.k)
        multiply_blocks(warp, bound, p, first);
    else
        multiply_numbers(warp, p, first);
    return STEP_NEXT;
}

static bool bind_eight(struct binder *binder, const struct ptx_operand *operand, enum ptx_type type,
                       operand_ref places[8], bool result) {
    for (int i = 0; i < operand->count && i < 8; i++) {
        places[i] =
            result ? bind_result(binder, &operand->elements[i]) : bind_source(binder, &operand->elements[i], type);
        if (!result && places[i] == NO_OPERAND)
            return false;
    }
    return operand->kind == PTX_OPERAND_VECTOR && operand->count <= 8;
}

bool bind_wmma(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    bool half = ptx->mma_type[2] == PTX_NO_TYPE; // .dtype.ctype alone
    enum ptx_type d = ptx->mma_type[0], a = half ? PTX_F16 : ptx->mma_type[1], c = ptx->mma_type[half ? 1 : 3];
    struct product p = {
        .a = fragment_of(MATRIX_A, a, ptx->shape),
        .b = fragment_of(MATRIX_B, a, ptx->shape),
        .c = fragment_of(MATRIX_C, c, ptx->shape),
        .d = fragment_of(MATRIX_C, d, ptx->shape),
        .saturates = ptx->flags & PTX_SAT,
    };
    enum lane_element element = matrix_element(a);
    if (a != PTX_F64 && element != ELEMENT_S8 && element != ELEMENT_U8)
        p.mma = (struct lane_mma){.element = element,
                                  .element_b = element,
                                  .k = ptx->shape[2],
                                  .half_sum = d == PTX_F16,
                                  .saturates = p.saturates,
                                  .exclusive = ptx->variant == PTX_V_XOR};
    operand_ref *places = bind_allocate(binder, 32 * sizeof *places);
    enum ptx_type held = a == PTX_F64 ? PTX_B64 : PTX_B32;
    bound->kind = BOUND_RUN;
    bound->run = run_product;
    bound->b = bind_data(binder, &p, sizeof p);
    bound->elements = places;
    return places && c == d && bind_eight(binder, &ptx->dst[0], held, places, true) &&
           bind_eight(binder, &ptx->src[0], held, places + 8, false) &&
           bind_eight(binder, &ptx->src[1], held, places + 16, false) &&
           bind_eight(binder, &ptx->src[2], held, places + 24, false);
}
