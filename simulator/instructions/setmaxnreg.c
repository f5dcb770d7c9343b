// setmaxnreg moves registers from one warpgroup to another through the block's pool, whose total is the launch's
// allocation: .dec returns registers to the pool, .inc waits until the pool has enough.
//
// The assembler chooses the number of registers that a thread starts with. If it is known (runtime/registers.h), it is
// used. Otherwise it is computed as ptxas 13.0 does, observed for bounds of 256 and 384 threads: the SM's registers
// divided by the threads of the launch bounds, but at most the largest setmaxnreg.inc. If the launch bounds have no
// minimum number of blocks and there is no .maxnreg, ptxas ignores setmaxnreg (C7508).
#include "setmaxnreg.h"

#include "../machine/block.h"
#include "families.h"

#define REGISTERS_OF_AN_SM 65536
#define MOST_REGISTERS 256 // per thread, as they are allocated
#define REGISTERS_UNIT 8

static uint32_t smaller(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

// Returns whether the assembler knows the number of registers that a thread starts with.
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
        char active[LANE_LIST_TEXT];
        lane_list(mask, active);
        warp_report(warp, SIM_FINDING_DIVERGENT_WARPGROUP, bound, NULL, first_lane(mask),
                    "{op} must be executed by all 128 threads of warpgroup %u, but in warp %u only %s %s active",
                    warp->index / 4, warp->index, active, mask & (mask - 1) ? "are" : "is");
        return warp_fatal(warp, SIM_LAUNCH_FAILURE);
    }
    if (!held) {
        warp_report(warp, SIM_FINDING_SETMAXNREG_IGNORED, bound, NULL, 0,
                    "{op} has no effect, because ptxas ignores the instruction");
        return STEP_NEXT;
    }
    if (more ? wanted < held : wanted > held) {
        warp_report(warp, SIM_FINDING_REGISTER_BUDGET, bound, NULL, 0,
                    "{op} requests %u registers per thread, which is %s than the %u that each thread has", wanted,
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
