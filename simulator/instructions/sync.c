// Waits for the lanes that a mask names: see sync.h.
#include "sync.h"

#include "../analyses/race_shared.h"
#include "../machine/warp.h"
#include "../recording/recording.h"

void sync_retry_waiting(struct warp *warp) {
    for (int i = 0; i < warp->splits; i++)
        if (warp->split[i].state == SPLIT_AT_SYNC)
            warp->split[i].state = SPLIT_READY;
}

// Merges the lanes that wait at the same instruction.
static bool join_holding(struct warp *warp) {
    struct split *now = warp->now;
    bool joined = false;
    for (int i = 0; i < warp->splits; i++) {
        struct split *other = &warp->split[i];
        if (other->state == SPLIT_AT_SYNC && other->pc == now->pc && other->depth == now->depth) {
            other->state = SPLIT_READY; // execution/interpret.c merges the two
            joined = true;
        }
    }
    return joined;
}

// A mask may name lanes that have exited (PTX ISA, shfl.sync: all non-exited threads of the mask are waited for), but a
// lane that executes the instruction must be in its own mask.
static void check_own_mask(struct warp *warp, const struct bound *bound, int lane, uint32_t members) {
    if (!(members >> lane & 1)) {
        warp_report(warp, SIM_FINDING_INACTIVE_LANES, bound, NULL, lane,
                    "{op} is executed by lane %d, but the mask %08x does not contain lane %d", lane, members, lane);
    }
}

bool sync_converge(struct warp *warp, const struct bound *bound, uint32_t *mask, operand_ref members, enum step *step) {
    const uint32_t *named = members == NO_OPERAND ? NULL : cells32(warp, members);
    struct split *now = warp->now;
    *step = STEP_MOVED;
    if (warp->splits > 1 && join_holding(warp))
        return false;
    uint32_t complete = 0;
    for (uint32_t left = *mask; left; left &= left - 1) {
        int lane = first_lane(left);
        uint32_t wants = named ? named[lane] : ALL_LANES;
        check_own_mask(warp, bound, lane, wants);
        complete |= (uint32_t)((wants & warp->live & ~*mask) == 0) << lane;
    }
    if (complete == *mask)
        return true;
    // Lanes that the guard excludes continue; the others wait.
    if (*mask != now->mask)
        warp_add_split(warp, now->mask & ~*mask, now->pc + 1);
    if (complete) {
        struct split *waiting = warp_add_split(warp, *mask & ~complete, now->pc);
        waiting->state = SPLIT_AT_SYNC;
    } else {
        now->state = SPLIT_AT_SYNC;
    }
    return false;
}

// Lanes at different instructions may participate in a __syncwarp() if their masks agree.
enum step run_sync_warp(struct warp *warp, const struct bound *bound, uint32_t mask) {
    struct split *now = warp->now;
    uint32_t wants = cells32(warp, bound->a)[first_lane(mask)];
    recording_event(warp, bound, RECORDING_SYNCWARP, wants, 0);
    if (mask == ALL_LANES && wants == ALL_LANES) {
        race_sync_lanes(warp, mask);
        return STEP_NEXT;
    }
    check_own_mask(warp, bound, first_lane(mask), wants);
    wants |= 1u << first_lane(mask);
    // Lanes with another mask, or that the guard excludes, become a separate split.
    uint32_t same = 0;
    for (uint32_t left = mask; left; left &= left - 1) {
        int lane = first_lane(left);
        same |= (uint32_t)(lane == first_lane(mask) || cells32(warp, bound->a)[lane] == wants) << lane;
    }
    if (mask != now->mask)
        warp_add_split(warp, now->mask & ~mask, now->pc + 1);
    if (same != mask)
        warp_add_split(warp, mask & ~same, now->pc);
    now->state = SPLIT_AT_SYNC;
    uint32_t here = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < warp->splits; i++) {
            struct split *split = &warp->split[i];
            const struct bound *its = &warp->code[split->pc];
            if (split->state != SPLIT_AT_SYNC || its->ptx->opcode != bound->ptx->opcode ||
                (cells32(warp, its->a)[first_lane(split->mask)] | 1u << first_lane(split->mask)) != wants)
                continue;
            if (pass == 0) {
                here |= split->mask;
            } else {
                split->state = SPLIT_READY;
                split->pc++;
            }
        }
        if (pass == 0 && wants & warp->live & ~here)
            return STEP_MOVED;
    }
    race_sync_lanes(warp, here);
    return STEP_MOVED;
}

bool sync_whole_warp(struct warp *warp, const struct bound *bound, uint32_t mask, enum step *step) {
    if (mask == ALL_LANES)
        return true;
    if (sync_converge(warp, bound, &mask, NO_OPERAND, step)) {
        warp_report(warp, SIM_FINDING_INACTIVE_LANES, bound, NULL, first_lane(mask),
                    "{op} must be executed by all 32 lanes of the warp; lanes %08x have exited or do not exist", ~mask);
        *step = warp_fatal(warp, SIM_LAUNCH_FAILURE);
    }
    return false;
}
