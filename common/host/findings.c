#include "host/diagnosis.h"

#include <stdio.h>
#include <string.h>

#include "findings.h"

// Kinds without an explanation are explained by the finding's own lines.
static const char *const explanation[SIM_FINDING_KINDS] = {
    [SIM_FINDING_OUT_OF_BOUNDS] =
        "The address is in no tensor, or past the end of the tensor that was meant. Put the shape of the case "
        "into the index: which thread computes the largest index, and does that element exist? An unused value "
        "is no excuse: on a GPU the address may belong to another tensor, or end the program.",
    [SIM_FINDING_SHARED_OUT_OF_BOUNDS] =
        "The index is past the end of the block's shared memory. Compare the largest index with the size of the array "
        "or, for extern __shared__, with the dynamic shared memory bytes of the launch: on which dimensions of the "
        "problem does each of the two sizes depend?",
    [SIM_FINDING_MISALIGNED] =
        "A 16-byte load needs an address that is a multiple of 16. A row starts at its index times its length: "
        "for which lengths is that a multiple of four floats, for every row?",
    [SIM_FINDING_UNINITIALIZED_GLOBAL] =
        "The kernel reads an element of device memory that no thread has written; its value is arbitrary. Which "
        "thread should have written it, and does the bound of the writing loop agree with the bound of the "
        "reading loop?",
    [SIM_FINDING_UNINITIALIZED_SHARED] =
        "Shared memory holds whatever the previous block left there. Which thread should write the element that "
        "is read here? Either no thread does, because the tile is not full or too few threads take part; or the "
        "thread that does has not reached its store yet; or the index of the read is wrong.",
    [SIM_FINDING_RACE_BLOCK] =
        "One thread writes an element that another one reads or writes, and no synchronization orders the two "
        "accesses. The warps of a block run in any order: a correct result only shows that this order was a "
        "lucky one. Which of the two accesses has to come first, and what makes the other thread wait?",
    [SIM_FINDING_RACE_WARP] = "Lanes of one warp exchange data through memory, and nothing makes the reading lane wait "
                              "for the writing lane. Since Volta the lanes of a warp need not run in lockstep, even if "
                              "the lanes mostly do: what synchronizes the two lanes?",
    [SIM_FINDING_RACE_GRID] =
        "Two blocks access the same element, and one of them writes it. Blocks run in any order and "
        "concurrently. Compute the first element of two neighbouring blocks: does every block own a separate "
        "range?",
    [SIM_FINDING_RACE_STREAMS] =
        "Two calls ran in two streams, each with its own tensors and workspace, and both access this element. On "
        "a GPU they run concurrently. What owns the element: the source file (a device variable, a buffer that "
        "is kept), instead of the call?",
    [SIM_FINDING_DIVERGENT_BARRIER] =
        "A barrier waits for all threads of the block, and here not all of them reach the same barrier. Which threads "
        "skip the barrier, because of which condition, and can the barrier move to a place that all threads reach?",
    [SIM_FINDING_DEADLOCK] = "Every thread waits, and the threads that it waits for wait as well. In the list of "
                             "threads: which thread has not arrived, and which branch did that thread take?",
    [SIM_FINDING_INACTIVE_LANES] =
        "A shuffle exchanges values among all lanes that its mask names, and some of these lanes do not execute the "
        "shuffle: such a lane has returned, or took the other branch. Can those lanes take part with a neutral value?",
    [SIM_FINDING_INSTRUCTION_LIMIT] = "The loop does not end. Write down the loop variable in the last iterations, in "
                                      "the type of the variable: does the condition ever become false?",
    [SIM_FINDING_MISSING_WAIT] =
        "An asynchronous copy is complete when the program has waited for it, and no earlier. Count the groups that "
        "were committed before this read: how many groups may still be in flight after the wait that precedes the "
        "read, and is the group with this data among them? A wait covers the thread's own copies: what makes the other "
        "threads' copies visible?",
    [SIM_FINDING_MISSING_PHASE_WAIT] =
        "A bulk copy to shared memory is complete when the phase of the mbarrier that it signals has completed; a bulk "
        "store has read its tile when its group has been waited for. Which mbarrier does this copy signal, which "
        "parity does the thread wait for in this iteration, and does each thread that accesses the data wait, or pass "
        "a barrier after one that did?",
    [SIM_FINDING_NOT_RESIDENT] =
        "A block of the grid waits for a block that has not started, and cannot start before another block "
        "exits: the GPU does not hold the whole grid at a time. How many blocks fit on an SM, by registers, "
        "shared memory and threads, and how many does the launch have? Blocks may only wait for each other if "
        "all of them are resident.",
    [SIM_FINDING_RACE_ASYNC] =
        "Bulk copies and wgmma read and write shared memory after the instruction that issues them. For each "
        "stage: which warp fills it, which warps release it, and by which barrier does each side know that the "
        "other has finished? Does a consumer release the stage after its wait, or before?",
    [SIM_FINDING_REDUCTION_ORDER] =
        "A bulk reduction ends twice: when it has read shared memory, which may then be overwritten, and when its sum "
        "has landed in global memory. A block that waits for this block's signal adds after the signal. Which of the "
        "two ends does the wait before the signal stand for?",
    [SIM_FINDING_MBARRIER] =
        "One thread initializes an mbarrier, and no other thread may use it before the initialization is "
        "visible. Then each phase takes exactly the expected arrival count. Count: which threads arrive, how "
        "often per phase, and which of them wait before they arrive again?",
    [SIM_FINDING_TRANSACTION_BYTES] =
        "A phase completes when exactly the expected transaction bytes have arrived. How many bytes does each "
        "copy of the phase write, and is their sum the byte count of expect-tx?",
    [SIM_FINDING_PROXY_FENCE] = "Bulk copies and wgmma access shared memory through the async proxy; ordinary stores "
                                "become visible to the async proxy by a proxy fence between them. Which threads store, "
                                "which thread issues the copy or wgmma, and where on the way between the two is the "
                                "fence: before the barrier in all threads that store, or after it?",
    [SIM_FINDING_TENSOR_MAP] =
        "The TMA unit reads the tensor map itself, from the kernel's parameters or from device memory. Where is "
        "the map that is used here stored, and which tensor does it describe?",
    [SIM_FINDING_WGMMA_REGISTERS] =
        "wgmma writes its accumulators while the warp continues. Which wgmma group writes the register that is "
        "accessed here, and how many groups may still be in flight after the wait that precedes the access?",
    [SIM_FINDING_WGMMA_FENCE] =
        "A wgmma sees earlier writes to its registers only after a wgmma.fence. Which instruction writes these "
        "registers last before the wgmma, and where is the fence?",
    [SIM_FINDING_WGMMA_OPERAND] =
        "A descriptor has the tile's start address, the byte offsets between its parts, and its swizzle mode. Compute "
        "the address of the tile's last row from the descriptor: is that row stored there?",
    [SIM_FINDING_SPARSE_METADATA] =
        "Two 2-bit indices name the elements of a chunk that a sparse A stores. Which lanes hold the metadata for this "
        "shape, and what is the value of the metadata there?",
    [SIM_FINDING_DIVERGENT_WARPGROUP] = "wgmma is one instruction of 128 threads. Which of these threads execute the "
                                        "instruction, and which condition excludes the other threads?",
    [SIM_FINDING_REGISTER_BUDGET] = "The launch allocates the block's registers, and setmaxnreg only moves registers "
                                    "from one warpgroup to another. Add up the registers that all warpgroups request, "
                                    "times 128 threads, and compare the sum with the launch's allocation.",
    [SIM_FINDING_RACE_CLUSTER] =
        "Two blocks of a cluster access the same element in the shared memory of one of them. Which barrier "
        "makes the second block wait for the first: barrier.cluster, or an mbarrier at which the other block "
        "arrives?",
    [SIM_FINDING_CLUSTER_LIFETIME] =
        "A block's shared memory exists from the block's first instruction to its last. What makes the other "
        "block wait until this block has started, and what makes this block wait before it exits?",
    [SIM_FINDING_CLUSTER_ADDRESS] =
        "mapa turns an address in the block's own shared memory and a rank into an address in another block of the "
        "cluster. What are the address and the rank here, and how many blocks does the cluster have?",
    [SIM_FINDING_CLUSTER_BARRIER] =
        "Each thread of the cluster alternates between arriving and waiting. Which threads execute this line "
        "twice, or never?",
};

static const char *const title[SIM_FINDING_KINDS] = {
#define FINDING(name, severity, code, title, cause) [name] = title,
#include "findings.def"
#undef FINDING
};

const struct advice *diagnosis_finding(int kind) {
    static struct advice advice;
    if (kind < 0 || kind >= SIM_FINDING_KINDS || !explanation[kind])
        return NULL;
    advice = (struct advice){title[kind], explanation[kind]};
    return &advice;
}

void advice_print(const char *heading, const struct advice *advice, const char *code, FILE *out) {
    enum { WIDTH = 100 };
    fprintf(out, "\n%s: %s", heading, advice->title);
    if (code)
        fprintf(out, " [%s]", code);
    fprintf(out, "\n ");
    int column = 1;
    for (const char *word = advice->reasoning; *word;) {
        int length = (int)strcspn(word, " ");
        if (column + 1 + length > WIDTH) {
            fprintf(out, "\n ");
            column = 1;
        }
        fprintf(out, " %.*s", length, word);
        column += 1 + length;
        word += length + (word[length] == ' ');
    }
    putc('\n', out);
    fflush(out);
}
