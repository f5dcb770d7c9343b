// Reads of uninitialized memory, reported when they matter.
//
// A load of four floats that includes a row's padding does no harm if the padding is not used. So an ordinary load of
// uninitialized bytes makes the register invalid in that lane, without a report. Arithmetic with an invalid source has
// an invalid result; the result of a selection by a valid predicate is as valid as the selected source, and a valid
// zero in `and`, or a valid true in `or`, makes the other source irrelevant. A store to shared memory leaves the bytes
// as uninitialized as the value is. A finding with the lines of the load and of the use is reported if an invalid value
//   - decides a branch, or whether an instruction is executed,
//   - is an address,
//   - is stored to memory other than shared memory, or
//   - is an operand of anything but the lane's own arithmetic: a vote, an mma, an atomic, a barrier. A shuffle only
//     moves it, so that a scan of fewer sums than a warp has lanes is no finding if the rest is not used.
// The last rule keeps the scheme small and reports early rather than late; it never hides a use. In a kernel that calls
// itself, whose registers are saved and restored, a load reports at once.
//
// While a warp holds no invalid value, none of this costs anything: the interpreter calls validity_step() only if
// warp->invalid counts a register.
#include "validity.h"

#include "../machine/access.h"
#include "../machine/block.h"
#include "../machine/element_names.h"
#include "race_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ORIGINS = 32, UNIT = 4 }; // a predicate takes 4 bytes of the register file, and nothing takes less

// The source of an invalid value, for the message.
struct origin {
    const struct bound *load;
    enum sim_finding_kind kind;
    bool reported;
    char text[256];
};

struct validity {
    uint32_t *lanes; // [register file / UNIT] by a register's first byte: the lanes in which it is invalid
    uint8_t *origin; // [register file / UNIT] the index of the load in `of`
    struct origin of[MAX_ORIGINS];
    unsigned origins;
};

static bool validity_create(struct warp *warp) {
    size_t count = warp->run->kernel->register_bytes / UNIT + 1;
    struct validity *v = calloc(1, sizeof *v);
    if (!v)
        return false;
    v->lanes = calloc(count, sizeof *v->lanes);
    v->origin = calloc(count, sizeof *v->origin);
    warp->validity = v;
    if (v->lanes && v->origin)
        return true;
    validity_free(warp);
    return false;
}

void validity_free(struct warp *warp) {
    if (!warp->validity)
        return;
    free(warp->validity->lanes);
    free(warp->validity->origin);
    free(warp->validity);
    warp->validity = NULL;
}

void validity_start(struct warp *warp) {
    if (warp->invalid)
        memset(warp->validity->lanes, 0, (warp->run->kernel->register_bytes / UNIT + 1) * sizeof(uint32_t));
    if (warp->validity)
        warp->validity->origins = 0;
    warp->invalid = 0;
}

static bool is_load(const struct bound *bound) {
    return (bound->ptx->opcode == PTX_OP_LD || bound->ptx->opcode == PTX_OP_LDU) && !bound->is_volatile;
}

bool validity_defers(struct warp *warp, const struct bound *bound) {
    if (!is_load(bound) || warp->run->kernel->ptx->recursive || !(warp->validity || validity_create(warp)))
        return false;
    const struct validity *v = warp->validity;
    for (unsigned i = 0; i < v->origins; i++)
        if (v->of[i].load == bound)
            return true;
    return v->origins < MAX_ORIGINS;
}

static size_t unit_of(operand_ref where) {
    return (where >> 1) / UNIT;
}

// Makes a register invalid in some lanes and valid in others.
static void set_validity(struct warp *warp, operand_ref where, uint32_t invalid, uint32_t valid, uint8_t origin) {
    struct validity *v = warp->validity;
    uint32_t *lanes = &v->lanes[unit_of(where)], before = *lanes;
    *lanes = (before & ~valid) | invalid;
    if (invalid)
        v->origin[unit_of(where)] = origin;
    warp->invalid += (*lanes != 0) - (before != 0);
}

// ---- Loads and stores --------------------------------------------------------------------------------------------

static bool is_uninitialised(const struct warp *warp, const struct access *access, uint64_t address, unsigned bytes) {
    const struct race_shared *race = &warp->block->race;
    int shift = warp->run->kernel->shadow_shift;
    if (access->space != PTX_SHARED)
        return !sim_memory_is_written(access->allocation, address - access->allocation->address, bytes);
    for (size_t cell = address >> shift; cell < (address + bytes) >> shift; cell++)
        if (race->cells.write[cell] < race->first_epoch && !(race->pending_cells && race->pending[cell]))
            return true;
    return false;
}

static uint8_t origin_of(struct warp *warp, const struct bound *bound, const struct access *access, uint64_t address) {
    struct validity *v = warp->validity;
    unsigned i = 0;
    while (i < v->origins && v->of[i].load != bound)
        i++;
    if (i < v->origins)
        return (uint8_t)i;
    struct origin *o = &v->of[v->origins++];
    char element[ELEMENT_NAME_TEXT];
    *o = (struct origin){.load = bound};
    if (access->space == PTX_SHARED) {
        o->kind = SIM_FINDING_UNINITIALIZED_SHARED;
        element_name_shared(warp->run->kernel->ptx, warp->run->own_shared, address, element);
        snprintf(o->text, sizeof o->text, "%s, %s", element,
                 race_uninitialized_text(&warp->block->race, address >> warp->run->kernel->shadow_shift));
    } else {
        const struct sim_allocation *a = access->allocation;
        o->kind = SIM_FINDING_UNINITIALIZED_GLOBAL;
        element_name_global(a, address - a->address, element);
        snprintf(o->text, sizeof o->text, "%s, which neither the host nor a kernel has written", element);
    }
    return (uint8_t)i;
}

void validity_load(struct warp *warp, const struct bound *bound, const struct access *access) {
    struct access filled = *access;
    warp->read_uninitialized = false;
    if (access->space != PTX_SHARED && !access->allocation)
        return;
    access_fill(&filled);
    for (uint32_t left = access->mask; left; left &= left - 1) {
        int lane = first_lane(left);
        for (unsigned k = 0; k < bound->vector; k++) {
            uint64_t address = filled.address[lane] + k * bound->bytes;
            if (bound->elements[k] == NO_OPERAND || !is_uninitialised(warp, access, address, bound->bytes))
                continue;
            set_validity(warp, bound->elements[k], 1u << lane, 0, origin_of(warp, bound, access, address));
        }
    }
}

static void report(struct warp *warp, const struct bound *use, size_t unit, uint32_t lanes, const char *how) {
    struct validity *v = warp->validity;
    struct origin *o = &v->of[v->origin[unit]];
    if (!o->reported)
        warp_report(warp, o->kind, o->load, use, first_lane(lanes), "{here} reads %s; {there} %s", o->text, how);
    o->reported = true;
}

void validity_store(struct warp *warp, const struct bound *bound, const struct access *access) {
    const struct race_shared *race = &warp->block->race;
    const struct validity *v = warp->validity;
    int shift = warp->run->kernel->shadow_shift;
    struct access filled = *access;
    access_fill(&filled);
    for (unsigned k = 0; k < bound->vector; k++) {
        operand_ref where = bound->elements[k];
        uint32_t invalid = where & 1 ? 0 : v->lanes[unit_of(where)] & access->mask; // a constant is valid
        if (invalid && access->space != PTX_SHARED)
            report(warp, bound, unit_of(where), invalid, "stores the value");
        for (; invalid && access->space == PTX_SHARED; invalid &= invalid - 1) {
            uint64_t address = filled.address[first_lane(invalid)] + k * bound->bytes;
            for (size_t cell = address >> shift; cell < (address + bound->bytes) >> shift; cell++)
                race->cells.write[cell] = EPOCH_OF_UNINITIALIZED;
        }
    }
}

void validity_exchange(struct warp *warp, operand_ref to, operand_ref from, const uint8_t source[LANES],
                       uint32_t mask) {
    const struct validity *v = warp->validity;
    uint32_t before = from & 1 ? 0 : v->lanes[unit_of(from)], invalid = 0; // a constant is valid
    uint8_t origin = before ? v->origin[unit_of(from)] : 0;
    for (uint32_t left = mask; left; left &= left - 1)
        invalid |= (before >> source[first_lane(left)] & 1) << first_lane(left);
    set_validity(warp, to, invalid, mask & ~invalid, origin);
}

// ---- Other instructions ------------------------------------------------------------------------------------------

// The offset in the register file at which the registers of the instruction's function start.
static int32_t register_base(const struct warp *warp, const struct bound *bound) {
    const struct ptx_kernel *ptx = warp->run->kernel->ptx;
    int32_t pc = pc_of(warp, bound);
    for (int i = 0; i < ptx->functions; i++)
        if (pc >= ptx->function[i].entry && pc < ptx->function[i].entry + ptx->function[i].instructions)
            return ptx->function[i].register_base;
    return 0;
}

// The lanes in which a register of the operand is invalid; *unit is one of those registers.
static uint32_t invalid_in(const struct warp *warp, const struct ptx_operand *operand, int32_t base, size_t *unit) {
    const struct validity *v = warp->validity;
    uint32_t invalid = 0;
    for (int i = -1; i < operand->count; i++) {
        const struct ptx_operand *one = i < 0 ? operand : &operand->elements[i];
        bool holds = one->kind == PTX_OPERAND_REGISTER || (one->kind == PTX_OPERAND_ADDRESS && one->slot >= 0);
        size_t at = (size_t)(one->slot + base) / UNIT;
        if (!holds || !v->lanes[at])
            continue;
        invalid |= v->lanes[at];
        *unit = at;
    }
    return invalid;
}

static void set_results(struct warp *warp, const struct bound *bound, int32_t base, uint32_t invalid, uint32_t mask,
                        uint8_t origin) {
    for (int d = 0; d < 2; d++) {
        const struct ptx_operand *to = &bound->ptx->dst[d];
        for (int i = -1; i < to->count; i++) {
            const struct ptx_operand *one = i < 0 ? to : &to->elements[i];
            if (one->kind == PTX_OPERAND_REGISTER)
                set_validity(warp, (operand_ref)(one->slot + base) << 1, invalid, mask & ~invalid, origin);
        }
    }
}

// Returns whether the instruction computes each lane from the lane's own sources.
static bool is_arithmetic(const struct bound *bound) {
    switch (bound->ptx->opcode) {
    case PTX_OP_MOV:
    case PTX_OP_CVT:
    case PTX_OP_CVTA:
        return true;
    default:
        return bound->kind == BOUND_LANES;
    }
}

// The lanes of a selp whose selected source is invalid.
static uint32_t invalid_choice(struct warp *warp, const struct bound *bound, int32_t base, size_t *unit) {
    const struct ptx_operand *src = bound->ptx->src;
    uint32_t undecided = invalid_in(warp, &src[2], base, unit);
    if (src[2].kind != PTX_OPERAND_REGISTER)
        return ALL_LANES;
    uint32_t first = *predicate(warp, (operand_ref)(src[2].slot + base) << 1) ^ (src[2].negated ? ALL_LANES : 0);
    return undecided | (invalid_in(warp, &src[0], base, unit) & first) |
           (invalid_in(warp, &src[1], base, unit) & ~first);
}

// The lanes in which one source of an `and` or `or` determines the result.
static uint32_t result_is_determined(struct warp *warp, const struct bound *bound, int32_t base) {
    uint32_t lanes = 0;
    for (int i = 0; i < 2; i++) {
        const struct ptx_operand *src = &bound->ptx->src[i];
        operand_ref where = (operand_ref)(src->slot + base) << 1;
        size_t unit = 0;
        uint32_t valid = ~invalid_in(warp, src, base, &unit);
        if (src->kind != PTX_OPERAND_REGISTER)
            continue;
        if (bound->result_cell == 0)
            lanes |= valid & (bound->ptx->opcode == PTX_OP_OR ? *predicate(warp, where) : ~*predicate(warp, where));
        for (int lane = 0; lane < LANES && bound->result_cell && bound->ptx->opcode == PTX_OP_AND; lane++) {
            bool zero = bound->result_cell == 8 ? !cells64(warp, where)[lane] : !cells32(warp, where)[lane];
            lanes |= (uint32_t)(valid >> lane & zero) << lane;
        }
    }
    return lanes;
}

void validity_step(struct warp *warp, const struct bound *bound, uint32_t active, uint32_t mask) {
    const struct ptx_instruction *ptx = bound->ptx;
    const struct validity *v = warp->validity;
    int32_t base = register_base(warp, bound);
    size_t unit = 0;
    uint32_t invalid = 0;
    if (ptx->guard >= 0) {
        size_t guard = (size_t)(ptx->guard + base) / UNIT;
        if (v->lanes[guard] & active)
            report(warp, bound, guard, v->lanes[guard] & active, "branches on the value");
    }
    if (ptx->opcode == PTX_OP_LD || ptx->opcode == PTX_OP_LDU || ptx->opcode == PTX_OP_ST) {
        invalid = invalid_in(warp, &ptx->src[0], base, &unit) & mask;
        if (invalid)
            report(warp, bound, unit, invalid, "uses the value as an address");
        if (ptx->opcode != PTX_OP_ST) // validity_load() sets the validity of the loaded values
            set_results(warp, bound, base, 0, mask, 0);
        return;
    }
    bool moves = ptx->opcode == PTX_OP_SHFL; // validity_exchange() sets the validity of the result
    for (int i = moves; i < ptx->nsrc; i++)
        invalid |= invalid_in(warp, &ptx->src[i], base, &unit);
    if (ptx->opcode == PTX_OP_SELP && invalid)
        invalid &= invalid_choice(warp, bound, base, &unit);
    if (invalid && bound->kind == BOUND_LANES && (ptx->opcode == PTX_OP_AND || ptx->opcode == PTX_OP_OR))
        invalid &= ~result_is_determined(warp, bound, base);
    invalid &= mask;
    uint8_t origin = v->origin[unit];
    if (invalid && !is_arithmetic(bound)) {
        report(warp, bound, unit, invalid, "uses the value");
        invalid = 0;
    }
    if (!moves)
        set_results(warp, bound, base, invalid, mask, origin);
}
