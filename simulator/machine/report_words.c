#include "report_words.h"

const char *const report_kind_name[SIM_FINDING_KINDS] = {
    [SIM_FINDING_OUT_OF_BOUNDS] = "out of bounds",
    [SIM_FINDING_SHARED_OUT_OF_BOUNDS] = "shared memory out of bounds",
    [SIM_FINDING_LOCAL_OUT_OF_BOUNDS] = "local memory out of bounds",
    [SIM_FINDING_MISALIGNED] = "misaligned access",
    [SIM_FINDING_UNINITIALISED_GLOBAL] = "uninitialised read",
    [SIM_FINDING_UNINITIALISED_SHARED] = "uninitialised shared memory",
    [SIM_FINDING_RACE_SHARED] = "race",
    [SIM_FINDING_RACE_WARP] = "race within a warp",
    [SIM_FINDING_RACE_GLOBAL] = "race between blocks",
    [SIM_FINDING_RACE_STREAMS] = "race between streams",
    [SIM_FINDING_MIXED] = "remark",
    [SIM_FINDING_DIVERGENT_BARRIER] = "divergent barrier",
    [SIM_FINDING_DEADLOCK] = "deadlock",
    [SIM_FINDING_ABSENT_LANES] = "absent lanes",
    [SIM_FINDING_MISSING_WAIT] = "missing wait",
    [SIM_FINDING_INSTRUCTION_LIMIT] = "instruction limit",
    [SIM_FINDING_NOT_RESIDENT] = "waits for a block that is not resident",
    [SIM_FINDING_ASSERT] = "assertion failed",
    [SIM_FINDING_TRAP] = "trap",
    [SIM_FINDING_UNKNOWN_INSTRUCTION] = "unknown instruction",
    [SIM_FINDING_READ_ONLY] = "write to read-only memory",
    [SIM_FINDING_RACE_ASYNC] = "race with an asynchronous unit",
    [SIM_FINDING_MBARRIER] = "misuse of an mbarrier",
    [SIM_FINDING_BYTES] = "wrong number of bytes",
    [SIM_FINDING_PROXY_FENCE] = "missing proxy fence",
    [SIM_FINDING_TENSOR_MAP] = "bad tensor map",
    [SIM_FINDING_WGMMA_REGISTERS] = "wgmma's registers used too early",
    [SIM_FINDING_WGMMA_OPERAND] = "bad operand of wgmma",
    [SIM_FINDING_SPARSE_METADATA] = "undefined metadata",
    [SIM_FINDING_WARPGROUP] = "divergent warpgroup",
    [SIM_FINDING_REGISTER_POOL] = "registers that are not there",
    [SIM_FINDING_RACE_CLUSTER] = "race between blocks of a cluster",
    [SIM_FINDING_CLUSTER_ABSENT] = "shared memory of a block that need not be there",
    [SIM_FINDING_CLUSTER_BARRIER] = "misuse of barrier.cluster",
    [SIM_FINDING_REMARK_FENCE] = "remark, a fence is missing",
    [SIM_FINDING_REMARK_SET_UP] = "remark",
    [SIM_FINDING_REMARK_REGISTERS] = "remark",
    [SIM_FINDING_REMARK_STALE] = "remark, a __syncwarp() is missing",
};

const char *const report_usual_cause[SIM_FINDING_KINDS] = {
    [SIM_FINDING_OUT_OF_BOUNDS] =
        "an index is not checked against the size where n is not a multiple of the tile, or a host "
        "pointer was given to the kernel.",
    [SIM_FINDING_SHARED_OUT_OF_BOUNDS] =
        "the array is smaller than the tile, or the launch asks for too few bytes of dynamic "
        "shared memory.",
    [SIM_FINDING_LOCAL_OUT_OF_BOUNDS] = "an index into an array of the thread's own is past its end.",
    [SIM_FINDING_MISALIGNED] = "a pointer was cast to a vector type, such as float4, where its offset is not a "
                               "multiple of the vector's size; or a copy in bulk begins there.",
    [SIM_FINDING_UNINITIALISED_GLOBAL] =
        "the buffer was not filled by the host or by an earlier kernel, or only partly.",
    [SIM_FINDING_UNINITIALISED_SHARED] =
        "the part of a tile past the end of the data was never filled, or a __syncthreads() is "
        "missing after it is.",
    [SIM_FINDING_RACE_SHARED] = "a __syncthreads() is missing between the two lines.",
    [SIM_FINDING_RACE_WARP] = "a __syncwarp() is missing between the two lines.",
    [SIM_FINDING_RACE_GLOBAL] =
        "blocks run in any order and do not wait for each other: two of them must not touch the same "
        "element, unless by atomics.",
    [SIM_FINDING_RACE_STREAMS] =
        "two calls in different streams run at the same time and share memory: a variable of the device, or a buffer "
        "that is kept from call to call.",
    [SIM_FINDING_MIXED] =
        "a guess that atomicCAS or another atomic then tests, which works; read through a volatile pointer or "
        "cuda::atomic_ref to say so to the compiler, too.",
    [SIM_FINDING_DIVERGENT_BARRIER] =
        "a __syncthreads() stands inside an if or a loop that not all threads of the block go "
        "through in the same way.",
    [SIM_FINDING_DEADLOCK] = "a barrier or a .sync operation waits for threads that wait elsewhere.",
    [SIM_FINDING_ABSENT_LANES] = "the mask names lanes that returned early or took the other branch.",
    [SIM_FINDING_MISSING_WAIT] =
        "cp.async.wait_group (or __pipeline_wait_prior) is missing before the data is used, or it leaves "
        "too many groups on their way; of a bulk copy, the wait for the barrier that it signals, or "
        "cp.async.bulk.wait_group.",
    [SIM_FINDING_INSTRUCTION_LIMIT] =
        "the loop's condition never becomes false, or it waits for something that no other thread "
        "does.",
    [SIM_FINDING_NOT_RESIDENT] =
        "a barrier among all blocks of a grid that is larger than what the GPU holds at a time: the blocks that wait "
        "keep "
        "the others from starting. cudaOccupancyMaxActiveBlocksPerMultiprocessor says how many fit.",
    [SIM_FINDING_ASSERT] = "the condition in the source is false.",
    [SIM_FINDING_TRAP] = "the kernel ends itself where something is wrong.",
    [SIM_FINDING_UNKNOWN_INSTRUCTION] = "the simulator does not cover this instruction.",
    [SIM_FINDING_RACE_ASYNC] =
        "whoever fills a stage does not wait until all of its readers have arrived at its barrier, a reader arrives "
        "before its wgmma.wait_group or cp.async.bulk.wait_group.read, or does not wait for the barrier that the copy "
        "signals.",
    [SIM_FINDING_MBARRIER] =
        "the barrier is not set up by one thread and made known to the others (mbarrier.init, fence.mbarrier_init, "
        "__syncthreads()) before it is used, or its count is not the number of arrivals of a phase.",
    [SIM_FINDING_BYTES] =
        "the bytes of mbarrier.arrive.expect_tx are not the sum of what the copies of that phase bring: whole boxes, "
        "the part beyond the tensor included.",
    [SIM_FINDING_PROXY_FENCE] =
        "every thread that stores to shared memory has to execute fence.proxy.async after it and before the barrier "
        "behind which a bulk copy or wgmma reads it.",
    [SIM_FINDING_TENSOR_MAP] =
        "a tensor map has to be a const __grid_constant__ parameter, or lie in global or constant memory, at a "
        "multiple of 64 bytes, as cuTensorMapEncodeTiled wrote it, and its tensor within one allocation. One that the "
        "kernel changes is copied to global memory by tensormap.cp_fenceproxy, or followed by "
        "fence.proxy.tensormap::generic.release, and who uses it executes fence.proxy.tensormap::generic.acquire on it "
        "before.",
    [SIM_FINDING_WGMMA_REGISTERS] = "wgmma writes its accumulators, and reads A where it is in registers, until "
                                    "wgmma.wait_group says that its group "
                                    "is done; the wait is missing, or it leaves too many groups on their way. What "
                                    "others wrote to these registers it "
                                    "finds behind a wgmma.fence.",
    [SIM_FINDING_WGMMA_OPERAND] =
        "the descriptor's address, offsets or swizzle are not those of the tile in shared memory; of a sparse A, the "
        "metadata are not those of its elements, or those of other lanes.",
    [SIM_FINDING_SPARSE_METADATA] = "the metadata is laid out for another shape, or other lanes have it than the "
                                    "sparsity selector names. Four bits "
                                    "say which two of a chunk are there, the first one's place in the lower two bits.",
    [SIM_FINDING_WARPGROUP] =
        "wgmma stands inside an if or a loop that not all 128 threads of the warpgroup go through in the same way.",
    [SIM_FINDING_REGISTER_POOL] =
        "setmaxnreg shares out what the launch allocated, threads times registers of a thread, and the sum of what "
        "the warpgroups ask for is more.",
    [SIM_FINDING_RACE_CLUSTER] = "a barrier of the cluster (barrier.cluster, cluster.sync()), or an arrival at the "
                                 "other block's mbarrier that it "
                                 "waits for, is missing between the two lines.",
    [SIM_FINDING_CLUSTER_ABSENT] =
        "blocks of a cluster begin and end by themselves: cluster.sync() has to stand before the first access to "
        "another block's shared memory and after the last one.",
    [SIM_FINDING_CLUSTER_BARRIER] = "each thread of the cluster arrives once and then waits once, over and over.",
    [SIM_FINDING_REMARK_FENCE] =
        "an atomic alone orders nothing: by PTX's memory model a __threadfence() belongs between it and the reads of "
        "what other blocks wrote. CUDA's samples leave it out where a __syncthreads() stands there, so this fails "
        "nothing.",
    [SIM_FINDING_REMARK_SET_UP] =
        "CUTLASS and the programming guide have that fence behind mbarrier.init; a bulk copy reaches its barrier "
        "through "
        "the generic proxy (PTX ISA 9.3), so that a __syncthreads() is enough, as in cuda::barrier, and this fails "
        "nothing.",
    [SIM_FINDING_REMARK_STALE] =
        "code from before Volta, when the lanes of a warp ran in step. Since then a __syncwarp() has to stand between "
        "the store and the load; volatile orders nothing.",
    [SIM_FINDING_REMARK_REGISTERS] =
        "the launch bounds say no least number of blocks, as __launch_bounds__(256, 1) does, so that ptxas does not "
        "know "
        "how many registers a thread begins with; the kernel works, with the same registers for all.",
    [SIM_FINDING_READ_ONLY] = "a kernel writes to __constant__ memory or to a parameter.",
};
