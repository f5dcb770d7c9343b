#include "cause.h"

#include <string.h>

static const char *const usual_cause[SIM_FINDING_KINDS] = {
#define FINDING(name, severity, code, title, cause) [name] = cause,
#include "../findings.def"
#undef FINDING
};

#define MIXED_BARRIER                                                                                                  \
    "two groups of warps use one barrier number, and each counts for the other: a group that waits at its own time "   \
    "needs a number of its own."

// Causes of findings whose details contain these words: they show more than the kind does. The first one counts.
static const struct {
    enum sim_finding_kind kind;
    const char *words, *cause;
} shown_cause[] = {
    {SIM_FINDING_RACE_STREAMS, " the launch between the two ",
     "in a chain of programmatic dependent launches each kernel must execute griddepcontrol.wait "
     "(cudaGridDependencySynchronize()), also one that needs nothing of the kernel before: a wait covers only the "
     "launch before, and what that launch has waited for."},
    {SIM_FINDING_RACE_STREAMS, " frees ",
     "cudaFreeAsync() frees in the order of its stream: that stream must wait (cudaStreamWaitEvent()) for all work of "
     "other streams that uses the memory."},
    {SIM_FINDING_RACE_STREAMS, " nodes of a graph",
     "an edge of the graph is missing: the node that needs the data must depend on the node that writes them, directly "
     "or through other nodes."},
    {SIM_FINDING_RACE_STREAMS, " griddepcontrol.wait ",
     "griddepcontrol.wait (cudaGridDependencySynchronize()) must come before the first access to what the kernel "
     "before "
     "writes; only work that does not depend on that kernel may precede it."},
    {SIM_FINDING_RACE_STREAMS, " nothing orders ",
     "an event is missing: cudaEventRecord() after the first in its stream and cudaStreamWaitEvent() before the second "
     "in the other stream. A stream created with cudaStreamNonBlocking does not wait for the default stream."},
    {SIM_FINDING_DEADLOCK, " every block of the grid waits",
     "blocks wait for each other in a circle: each holds a lock and waits for another block's (all must take locks in "
     "the same order), or a flag is never set, or was set before the block began to wait for its change."},
    {SIM_FINDING_DEADLOCK, " arrivals and ",
     "fewer threads arrive in this phase than mbarrier.init expects; or the waiting thread is ahead by one phase: it "
     "waits for the wrong parity, or another thread arrived before this one had seen the last phase end."},
    {SIM_FINDING_DEADLOCK, "(named barrier ",
     "fewer threads reach the barrier than it expects, or groups of threads that wait for each other use different "
     "barrier numbers."},
    {SIM_FINDING_RACE_ASYNC, "; named barrier ", MIXED_BARRIER},
    {SIM_FINDING_RACE_BLOCK, " of another lane of that thread's warp",
     "one thread signals for others that may still be at work: all whose reads or writes the signal covers must meet "
     "at a "
     "barrier (or __syncwarp(), within a warp) before it, or arrive themselves."},
    {SIM_FINDING_RACE_BLOCK, "; named barrier ", MIXED_BARRIER},
    {SIM_FINDING_RACE_ASYNC, " may still ",
     "the wait is missing, comes after this access or after the arrival that releases the stage, or leaves too many "
     "groups in flight."},
    {SIM_FINDING_RACE_ASYNC, " waited for ",
     "one thread waits for the copy, and no barrier follows: each thread that accesses the data must wait on the "
     "mbarrier, or pass a barrier after the wait."},
    {SIM_FINDING_RACE_ASYNC, "",
     "the thread that issues the asynchronous operation does not wait until all other threads have arrived after their "
     "accesses: consumers at the stage's empty mbarrier, threads that store a tile at a barrier."},
    {SIM_FINDING_MISSING_PHASE_WAIT, " when the block exits",
     "cp.async.bulk.wait_group.read 0 is missing before the end of the block, in the thread that issued the store."},
    {SIM_FINDING_OUT_OF_BOUNDS, " (0 = innermost)",
     "an index is not checked before the TMA store or reduction: a TMA load fills elements outside of the tensor with "
     "zeros, but a TMA store must start inside the tensor."},
    {SIM_FINDING_MISALIGNED, " the tensor map ",
     "a CUtensorMap needs alignas(64), also as a member of a structure that is a kernel parameter."},
    {SIM_FINDING_MISALIGNED, " (innermost)",
     "the innermost coordinate, times the element size, must be a multiple of 16 bytes."},
    {SIM_FINDING_MISALIGNED, " of 0x",
     "a bulk copy needs 16-byte aligned addresses and a size that is a multiple of 16 bytes; a TMA box needs a "
     "128-byte "
     "aligned address in shared memory."},
    {SIM_FINDING_INACTIVE_LANES, " does not contain lane ",
     "a lane may only name itself and others: the mask was computed for other lanes, for example by __ballot_sync() of "
     "a "
     "condition that is false here."},
    {SIM_FINDING_INACTIVE_LANES, " has exited ",
     "the lane has returned early: all lanes that the mask names take part."},
    {SIM_FINDING_INACTIVE_LANES, " does not execute ", "the lane took the other branch, or its loop ended earlier."},
    {SIM_FINDING_WGMMA_OPERAND, " outside of the tile ",
     "the descriptor takes the tile for another layout: panels as wide as the swizzle lie one behind the other, each "
     "as "
     "long as the tile has rows; K advances within a panel, then to the next one."},
    {SIM_FINDING_WGMMA_OPERAND, " swizzle",
     "the swizzle mode in the wgmma descriptor (bits 62 and 63) must be that of the tensor map "
     "(CU_TENSOR_MAP_SWIZZLE_...)."},
    {SIM_FINDING_WGMMA_OPERAND, " sparsity metadata ", "the metadata belongs to other elements, or to other lanes."},
    {SIM_FINDING_WGMMA_OPERAND, " descriptor ",
     "the start address or a byte offset of the descriptor does not match the layout of the tile in shared memory."},
    {SIM_FINDING_MBARRIER, " never initialized ",
     "mbarrier.init is missing, or initializes an mbarrier at another address."},
    {SIM_FINDING_MBARRIER, " has ended ",
     "a thread still uses the mbarrier after mbarrier.inval: a barrier is missing between the last wait and "
     "mbarrier.inval, or mbarrier.init before the next use."},
    {SIM_FINDING_MBARRIER, " initialized again ",
     "a barrier is missing between the waits of all threads and mbarrier.inval or mbarrier.init; an mbarrier that is "
     "used for phase after phase need not be initialized again."},
    {SIM_FINDING_MBARRIER, " after the initialization ",
     "a __syncthreads(), or cluster.sync() for an mbarrier of another block, is missing after mbarrier.init."},
    {SIM_FINDING_MBARRIER, " one arrival too many ",
     "the arrival count of mbarrier.init is less than the number of arrivals per phase, or the transaction byte count "
     "of the phase is too large, so that the phase does not complete."},
};

// The cause that the details show, or else the usual one of the kind. Two threads that write one element by one
// instruction compute the same index.
const char *finding_cause(enum sim_finding_kind kind, bool same, const char *words) {
    bool races = kind == SIM_FINDING_RACE_BLOCK || kind == SIM_FINDING_RACE_WARP;
    if (races && same && strstr(words, " writes ") && strstr(words, " wrote "))
        return "the index is the same for two threads: a barrier would not help.";
    for (size_t i = 0; i < sizeof shown_cause / sizeof *shown_cause; i++)
        if (shown_cause[i].kind == kind && strstr(words, shown_cause[i].words))
            return shown_cause[i].cause;
    return usual_cause[kind];
}
