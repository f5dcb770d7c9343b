// The calls of a group before they run: who sends how much to whom. match.c finds what belongs together.
#ifndef SIMULATOR_NCCL_CALLS_H
#define SIMULATOR_NCCL_CALLS_H

#pragma GCC visibility push(default)
#include <nccl.h>
#pragma GCC visibility pop

#include <stdbool.h>
#include <stddef.h>

enum { MOST_RANKS = 16 };

// The ranks that were created together.
struct clique {
    int ranks, alive;
    struct ncclComm *comm[MOST_RANKS];
};

struct ncclComm {
    struct clique *clique;
    int rank, device;
    ncclResult_t error; // of a group that failed
};

enum call_kind { CALL_SEND, CALL_RECEIVE, CALL_ALL_GATHER };

struct call {
    enum call_kind kind;
    struct ncclComm *comm;
    const void *from; // of a send and an all-gather
    void *to;         // of a receive and an all-gather
    size_t bytes;     // of one rank
    int peer;         // of a send or receive
    cudaStream_t stream;
    bool matched;        // its counterparts are there
    ncclResult_t result; // once it is matched
    struct call *next;   // in the order of the calls
};

// Runs whatever has its counterparts among the calls, and sets matched and result of these.
void match_calls(struct call *first);

// Reports the calls that have none: which rank waits for whom, both sides.
void report_deadlock(const struct call *first);

#endif
