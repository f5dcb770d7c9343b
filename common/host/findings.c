#include "host/diagnosis.h"

#include "findings.h"

static const struct mistake findings[SIM_FINDING_KINDS] = {
    [SIM_FINDING_OUT_OF_BOUNDS] = {"out of bounds", "The address lies in no tensor, or beyond the one that was meant. "
                                                    "Put the shape of the case into the index: which "
                                                    "thread computes the largest one, and is there an element for it? "
                                                    "That what was read is not used is no excuse: on "
                                                    "a GPU it may be another tensor, or end the program."},
    [SIM_FINDING_SHARED_OUT_OF_BOUNDS] = {"shared memory out of bounds",
                                          "The index goes past the shared memory of the block. Compare the largest "
                                          "index with the size of the array or, for "
                                          "extern __shared__, with the bytes that the launch asks for: on which "
                                          "numbers of the problem does each depend?"},
    [SIM_FINDING_MISALIGNED] = {"misaligned access", "One load of 16 bytes needs an address that is a multiple of 16. "
                                                     "A row begins at its index times its length: for "
                                                     "which lengths is that a multiple of four floats, for every row?"},
    [SIM_FINDING_UNINITIALISED_GLOBAL] = {"uninitialised read",
                                          "The kernel reads an element of device memory that nobody has written; what "
                                          "it holds is chance. Who was to write "
                                          "it, and does the bound of that loop agree with the bound of this one?"},
    [SIM_FINDING_UNINITIALISED_SHARED] = {"uninitialised shared memory",
                                          "Shared memory holds whatever the last block left there. Who was to write "
                                          "the element that is read here? Either no thread does, because the tile is "
                                          "not full or too few threads take part, or the one that does has not come to "
                                          "it yet, or it is not the element that was to be read."},
    [SIM_FINDING_RACE_SHARED] = {"race", "One thread writes what another one reads or writes, and nothing between the "
                                         "two makes one wait for the other. "
                                         "The warps of a block run in any order: a right result shows only that this "
                                         "order was kind. Which of the two has "
                                         "to come first, and what makes the other wait?"},
    [SIM_FINDING_RACE_WARP] =
        {"race within a warp",
         "Lanes of one warp exchange data through memory, and nothing makes the reader wait for the writer. Since "
         "Volta "
         "the "
         "lanes of a warp need not run in step, even where they mostly do: what brings them together?"},
    [SIM_FINDING_RACE_GLOBAL] =
        {"race between blocks",
         "Two blocks touch the same element, and one of them writes it. Blocks run in any order and "
         "at the same time. Work out "
         "the first element of two neighbouring blocks: does every block have a part of its own?"},
    [SIM_FINDING_RACE_STREAMS] =
        {"race between streams",
         "Two calls were made in two streams, each with tensors and a workspace of its own, and both touch this "
         "element. On a GPU they run at the same time. Whose is it: does it belong to the file, and not to the call?"},
    [SIM_FINDING_DIVERGENT_BARRIER] =
        {"divergent barrier", "A barrier waits for all threads of the block, and here not all of them come to the same "
                              "one. Which threads skip "
                              "it, by which condition, and does the barrier have to stand where they do not come?"},
    [SIM_FINDING_DEADLOCK] =
        {"deadlock",
         "Everyone waits, and those who are waited for wait too. Look at the listing: who has not come, and "
         "which way did it "
         "take?"},
    [SIM_FINDING_ABSENT_LANES] =
        {"absent lanes", "A shuffle exchanges values among all the lanes that its mask names, and some of them are not "
                         "there: they returned, "
                         "or took the other branch. May those lanes take part with a value that does no harm?"},
    [SIM_FINDING_INSTRUCTION_LIMIT] = {"instruction limit",
                                       "The loop goes round and round. Write down what its variable is in the last "
                                       "rounds, in the type that it has: does "
                                       "the condition ever become false?"},
    [SIM_FINDING_MISSING_WAIT] =
        {"missing wait", "An asynchronous copy lands when the program waits for it, and no sooner. Count the groups "
                         "that were committed "
                         "before this read: how many of them may still be on their way after the wait before it, and "
                         "is the one that is "
                         "read among them? A wait is each thread's own: what makes the other threads' copies visible?"},
    [SIM_FINDING_NOT_RESIDENT] =
        {"waits for a block that is not resident",
         "A block of the grid waits for one that has not begun, and cannot begin before a block ends: not all of them "
         "fit "
         "on the GPU at a time. How many blocks does an SM hold, by registers, shared memory and threads, and how many "
         "does the launch ask for? Blocks may only wait for each other where all of them fit."},
    [SIM_FINDING_RACE_ASYNC] =
        {"race with an asynchronous unit",
         "Bulk copies and wgmma read and write shared memory after the instruction that starts them. Of each stage: "
         "who "
         "fills it, who empties it, and by which barrier does each know that the other is done? When does a reader "
         "say that it is: after its wait, or before?"},
    [SIM_FINDING_MBARRIER] = {"misuse of an mbarrier",
                              "A barrier in shared memory is set up by one thread, and no other may touch it before "
                              "that is known. Then each phase takes exactly as many arrivals as it was set up for. "
                              "Count them: who arrives, how often in a phase, and who waits before arriving again?"},
    [SIM_FINDING_BYTES] =
        {"wrong number of bytes",
         "A phase ends when the bytes that were announced have come, no sooner and no later. What does "
         "each copy of the phase bring, in bytes, and is that what is announced?"},
    [SIM_FINDING_PROXY_FENCE] =
        {"missing proxy fence",
         "Bulk copies and wgmma see shared memory by a way of their own, and what ordinary stores wrote is not there "
         "until a fence says so. Which threads store, and what do they execute between the store and the barrier?"},
    [SIM_FINDING_TENSOR_MAP] = {"bad tensor map",
                                "The copy engine reads the map itself, from the kernel's parameters or from device "
                                "memory. Where does the one that is used here lie, and which tensor does it describe?"},
    [SIM_FINDING_WGMMA_REGISTERS] =
        {"wgmma's registers used too early",
         "wgmma writes its accumulators while the warp goes on. Which group is the product in that is read here, and "
         "how many groups may still be on their way after the wait before it?"},
    [SIM_FINDING_WGMMA_OPERAND] = {"bad operand of wgmma",
                                   "A descriptor says where the tile begins, how far apart its parts are, and how it "
                                   "is swizzled. Write down the address of the tile's last row by it: is it there?"},
    [SIM_FINDING_SPARSE_METADATA] = {"undefined metadata",
                                     "Two places of two bits say which elements of a chunk a sparse A holds. Which "
                                     "lanes have the metadata of this shape, and what do they hold?"},
    [SIM_FINDING_WARPGROUP] = {"divergent warpgroup",
                               "wgmma is one instruction of 128 threads. Which of them are here, and which condition "
                               "keeps the others away?"},
    [SIM_FINDING_REGISTER_POOL] =
        {"registers that are not there",
         "The launch allots a block its registers, and setmaxnreg only moves them from one warpgroup to another. Add "
         "up "
         "what all of them ask for, times 128 threads, and compare it with what the launch gave."},
    [SIM_FINDING_RACE_CLUSTER] =
        {"race between blocks of a cluster",
         "Two blocks of a cluster touch the same place in the shared memory of one of them. Which barrier makes the "
         "second wait for the first: barrier.cluster, or an mbarrier at which the other block arrives?"},
    [SIM_FINDING_CLUSTER_ABSENT] =
        {"shared memory of a block that need not be there",
         "A block's shared memory is there from its first instruction to its last. What makes the other block wait "
         "before it begins, and this one before it ends?"},
    [SIM_FINDING_CLUSTER_BARRIER] = {"misuse of barrier.cluster",
                                     "Each thread of the cluster arrives, and waits, in turn. Which threads come to "
                                     "this line twice, or not at all?"},
};

const struct mistake *diagnosis_finding(int kind) {
    return kind >= 0 && kind < SIM_FINDING_KINDS && findings[kind].title ? &findings[kind] : NULL;
}
