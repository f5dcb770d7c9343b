// setmaxnreg: registers go from one warpgroup to another through the pool of the block, which is what its launch
// allocated: .dec gives to it, .inc waits until there is enough in it.
//
// How many registers a thread begins with is the assembler's choice. Where it wrote it down (runtime/registers.h) that
// is taken. Else it is what ptxas 13.0 does, as seen for bounds of 256 and 384 threads: the share of the launch bounds'
// threads, but no more than the largest setmaxnreg.inc asks for. Without a least number of blocks in the launch bounds,
// and without .maxnreg, it leaves setmaxnreg out (C7508).
#include "setmaxnreg.h"

#include "../machine/block.h"
#include "families.h"

#define REGISTERS_OF_AN_SM 65536
#define MOST_REGISTERS 256 // of a thread, as they are allocated
#define REGISTERS_UNIT 8

static uint32_t smaller(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

// Whether the assembler knows how many registers a thread begins with.
static bool is_determined(const struct ptx_kernel *ptx) {
    return ptx->max_registers > 0 || (ptx->min_blocks > 0 && (ptx->max_threads[0] || ptx->required_threads[0]));
}

void setmaxnreg_begin(struct sim_kernel *kernel, int registers) {
    const struct ptx_kernel *ptx = kernel->ptx;
    const int *bounds = ptx->required_threads[0] ? ptx->required_threads : ptx->max_threads;
    uint32_t threads = 1, most = MOST_REGISTERS, largest = 0;
    kernel->registers = 0;
    if (!is_determined(ptx))
        return;
    for (int i = 0; i < ptx->instructions; i++) {
        const struct bound *bound = &kernel->code[i];
        if (bound->ptx->opcode == PTX_OP_SETMAXNREG_INC && bound->extra > largest)
            largest = bound->extra;
    }
    for (int i = 0; i < 3; i++)
        threads *= bounds[i] > 0 ? (uint32_t)bounds[i] : 1;
    threads = (threads + LANES - 1) / LANES * LANES;
    if (ptx->max_registers > 0)
        most = smaller(most, (uint32_t)ptx->max_registers);
    else
        most = smaller(most, REGISTERS_OF_AN_SM / (threads * (uint32_t)ptx->min_blocks));
    most = most / REGISTERS_UNIT * REGISTERS_UNIT;
    kernel->registers = largest ? smaller(most, largest) : most;
    if (registers > 0)
        kernel->registers = ((uint32_t)registers + REGISTERS_UNIT - 1) / REGISTERS_UNIT * REGISTERS_UNIT;
}

static enum step run_setmaxnreg(struct warp *warp, const struct bound *bound, uint32_t mask) {
    bool more = bound->ptx->opcode == PTX_OP_SETMAXNREG_INC;
    uint32_t wanted = bound->extra, held = warp->registers;
    if (mask != ALL_LANES) {
        warp_report(warp, SIM_FINDING_WARPGROUP, bound, NULL, first_lane(mask),
                    "{here} needs all 128 threads of warpgroup %u; not all lanes of this warp are there",
                    warp->index / 4);
        return warp_fatal(warp, SIM_LAUNCH_FAILURE);
    }
    if (!held) {
        warp_report(warp, SIM_FINDING_REMARK_REGISTERS, bound, NULL, 0, "{here} does nothing: ptxas leaves it out");
        return STEP_NEXT;
    }
    if (more ? wanted < held : wanted > held) {
        warp_report(warp, SIM_FINDING_REGISTER_POOL, bound, NULL, 0,
                    "{here} asks for %u registers a thread, %s than the %u that it has", wanted,
                    more ? "fewer" : "more", held);
        return warp_fatal(warp, SIM_LAUNCH_FAILURE);
    }
    if (more && (wanted - held) * LANES > warp->block->free_registers)
        return warp_wait(warp, mask);
    warp->block->free_registers += held * LANES;
    warp->block->free_registers -= wanted * LANES;
    warp->registers = wanted;
    block_event(warp->block);
    return STEP_NEXT;
}

bool bind_setmaxnreg(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    (void)binder;
    bound->kind = BOUND_RUN;
    bound->run = run_setmaxnreg;
    bound->extra = (uint32_t)ptx->src[0].bits;
    return ptx->src[0].kind == PTX_OPERAND_IMMEDIATE && bound->extra >= 24 && bound->extra <= 256 &&
           bound->extra % REGISTERS_UNIT == 0;
}
