// Accesses to shared memory through the async proxy: bulk copies and wgmma. race_proxy.c explains the rules.
#ifndef SIMULATOR_ANALYSES_RACE_PROXY_H
#define SIMULATOR_ANALYSES_RACE_PROXY_H

#include "../machine/bound.h"

struct block;

// Returns whether the instruction accesses shared memory through the async proxy.
bool race_uses_async_proxy(const struct bound *bound);

// The agents whose reads are in flight until a warp waits for them: see struct block. false: there are too many agents,
// and their reads are not checked.
bool race_agent_of_wgmma(const struct block *block, unsigned warp, unsigned *agent);
bool race_agent_of_bulk(const struct block *block, unsigned *agent);
bool race_agent_of_loads(const struct block *block, unsigned *agent); // bulk copies that land before any warp waits

// Issues an operation of the agent; returns the clock by which a warp waits for it.
uint32_t race_agent_issue(struct block *block, unsigned agent);
void race_agent_wait(struct warp *warp, unsigned agent, uint32_t clock);

// The sources of a read: whether copies wrote all bytes, and the latest epoch of each of a few agents that wrote them.
#define MOST_RACE_COPIES 4
struct race_copies {
    bool all;
    unsigned count;
    uint32_t epoch[MOST_RACE_COPIES]; // clock << 5 | agent
};

// The agent reads bytes of shared memory from now until a warp waits for it; a lane of this warp has issued the read.
// copied: the sources of the bytes are added to it, unless it is NULL.
void race_proxy_read(struct warp *warp, const struct bound *bound, int lane, unsigned agent, uint32_t clock,
                     uint32_t offset, uint32_t bytes, struct race_copies *copied);
// Returns whether the same read for another warp would be without findings.
bool race_proxy_is_ordered(const struct warp *warp, const struct race_copies *copied);
// Checks the same read if there is no agent: only completed writes are checked.
void race_proxy_check(struct warp *warp, const struct bound *bound, int lane, uint32_t offset, uint32_t bytes);

// A bulk copy to these bytes is issued; it lands. epoch: of the write, which is that of the waiting warp or of the
// agent.
void race_proxy_issue(struct warp *warp, const struct bound *bound, int lane, uint32_t offset, uint32_t bytes);
void race_proxy_land(struct block *block, uint32_t epoch, int32_t pc, uint32_t offset, uint32_t bytes);

// A copy with this swizzle mode fills these bytes; reading them with another mode gives the wrong order. -1: the mode
// is not known. The second function returns the mode of the last copy, and its instruction.
void race_proxy_note_swizzle(struct block *block, uint32_t offset, uint32_t bytes, int swizzle);
int race_proxy_swizzle(const struct block *block, uint32_t offset, int32_t *pc);

// Returns whether a copy has written the byte, and the warp has acquired the write.
bool race_proxy_is_copied(const struct warp *warp, uint32_t offset);

// fence.proxy.async: makes ordinary writes that this warp has acquired visible to the async proxy.
void race_proxy_fence(struct warp *warp);

#endif
