// Shared memory as the asynchronous proxy reads and writes it: bulk copies, wgmma. race_proxy.c explains the rules.
#ifndef SIMULATOR_ANALYSES_RACE_PROXY_H
#define SIMULATOR_ANALYSES_RACE_PROXY_H

#include "../machine/bound.h"

struct block;

// Whether the instruction reads or writes shared memory through it.
bool race_is_asynchronous(const struct bound *bound);

// The agents whose reads are in flight until somebody waits: see struct block. false: there is no room for them, and
// what they read goes unwatched.
bool race_agent_of_wgmma(const struct block *block, unsigned warp, unsigned *agent);
bool race_agent_of_bulk(const struct block *block, unsigned *agent);
bool race_agent_of_loads(const struct block *block, unsigned *agent); // bulk copies that land before anybody waits

// The agent is given something to do; returns the clock by which it is waited for.
uint32_t race_agent_issue(struct block *block, unsigned agent);
void race_agent_wait(struct warp *warp, unsigned agent, uint32_t clock);

// Of what was read: whether copies wrote all of it, and of each of few agents the latest that has to be known of.
#define RACE_COPIES 4
struct race_copied {
    bool all;
    unsigned count;
    uint32_t key[RACE_COPIES]; // clock << 5 | agent
};

// The agent, asked by a lane of this warp, reads bytes of shared memory from now until it is waited for. copied: what
// was read is added to it; NULL: nobody asks.
void race_proxy_read(struct warp *warp, const struct bound *bound, int lane, unsigned agent, uint32_t clock,
                     uint32_t offset, uint32_t bytes, struct race_copied *copied);
// Whether another warp, for which the same agent reads the same, would find nothing either.
bool race_proxy_knows(const struct warp *warp, const struct race_copied *copied);
// The same where there is no agent: only what is there already is looked at.
void race_proxy_look(struct warp *warp, const struct bound *bound, int lane, uint32_t offset, uint32_t bytes);

// A bulk copy to these bytes is issued; it lands. key: as whose write, the warp's that has waited or the agent's.
void race_proxy_issue(struct warp *warp, const struct bound *bound, int lane, uint32_t offset, uint32_t bytes);
void race_proxy_land(struct block *block, uint32_t key, int32_t pc, uint32_t offset, uint32_t bytes);

// These bytes are filled by a copy with this swizzle, of which a program that reads them by another gets the wrong
// order; -1: none is known. As it was filled last, and by which instruction.
void race_proxy_note_swizzle(struct block *block, uint32_t offset, uint32_t bytes, int swizzle);
int race_proxy_swizzle(const struct block *block, uint32_t offset, int32_t *pc);

// fence.proxy.async: ordinary writes that this warp knows of may be read by the asynchronous proxy.
void race_proxy_fence(struct warp *warp);

#endif
