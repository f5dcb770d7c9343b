// What flags and counters order, and what they do not. A line that a finding has to name carries the comment "here",
// the other line of the race "there".
#define KERNEL extern "C" __global__ void

// ---- Between blocks: a part of each block, a counter, and the last block adds up -----------------------------------

enum Reader { PLAIN, FENCED, FENCED_BY_ALL, VOLATILE };

template <Reader READER, bool MEET, bool OF_BLOCK>
__device__ void last_adds_up(float *part, unsigned *count, float *out) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        if (READER == VOLATILE) {
            ((volatile float *)part)[blockIdx.x] = blockIdx.x;
        } else {
            part[blockIdx.x] = blockIdx.x;
        }
        __threadfence();
        const unsigned before = OF_BLOCK ? atomicAdd_block(count, 1) : atomicAdd(count, 1); // counts_for_its_block here
        if (READER == FENCED) {
            __threadfence();
        }
        last = before == gridDim.x - 1;
    }
    if (MEET) {
        __syncthreads();
    }
    if (READER == FENCED_BY_ALL) {
        __threadfence();
    }
    if (threadIdx.x == (MEET ? 32 : 0) && (OF_BLOCK || last)) {
        float sum = 0;
        for (int i = 0; i < gridDim.x; i++) {
            if (READER == VOLATILE) {
                sum += ((volatile float *)part)[i];
            } else {
                sum += part[i]; // counts_and_meets here // counts_and_reads here
            }
        }
        *out = sum;
        *count = 0;
    }
}

KERNEL counts_and_meets(float *part, unsigned *count, float *out) {
    last_adds_up<PLAIN, true, false>(part, count, out);
}

KERNEL counts_and_reads(float *part, unsigned *count, float *out) {
    last_adds_up<PLAIN, false, false>(part, count, out);
}

KERNEL counts_and_fences(float *part, unsigned *count, float *out) {
    last_adds_up<FENCED, true, false>(part, count, out);
}

KERNEL counts_and_all_fence(float *part, unsigned *count, float *out) {
    last_adds_up<FENCED_BY_ALL, true, false>(part, count, out);
}

KERNEL counts_volatile(float *part, unsigned *count, float *out) {
    last_adds_up<VOLATILE, true, false>(part, count, out);
}

KERNEL counts_for_its_block(float *part, unsigned *count, float *out) {
    last_adds_up<FENCED, true, true>(part, count, out);
}

// ---- Between blocks in a chain: a lane passes on its own value, while the others have stored theirs elsewhere ------

template <bool OF_OTHERS, bool MEET>
__device__ void chain(float *own, int *flag, float *theirs) {
    const int before = blockIdx.x - 1, base = 32 * blockIdx.x;
    theirs[base + threadIdx.x % 32] = threadIdx.x % 32; // chain_of_others there
    if (MEET) {
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        float sum = 1;
        if (before >= 0) {
            while (atomicAdd(&flag[before], 0) == 0) {
            }
            __threadfence();
            sum += OF_OTHERS ? theirs[base - 27] : own[before]; // chain_of_others here
        }
        own[blockIdx.x] = sum;
        __threadfence();
        atomicExch(&flag[blockIdx.x], 1);
    }
}

KERNEL chain_of_own(float *own, int *flag, float *theirs) {
    chain<false, false>(own, flag, theirs);
}

KERNEL chain_of_others(float *own, int *flag, float *theirs) {
    chain<true, false>(own, flag, theirs);
}

KERNEL chain_of_others_met(float *own, int *flag, float *theirs) {
    chain<true, true>(own, flag, theirs);
}

// ---- Between blocks: a flag, for which the second block waits
// --------------------------------------------------------

enum Flag { RELAXED, RELAXED_AND_FENCED, ACQUIRED, ACQUIRED_OF_BLOCK, BY_ATOMIC, FENCE_OF_BLOCK, FENCED_OF_BLOCK };

template <Flag HOW>
__device__ int look(int *flag) {
    int value;
    if (HOW == ACQUIRED) {
        asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(value) : "l"(flag) : "memory");
    } else if (HOW == ACQUIRED_OF_BLOCK) {
        asm volatile("ld.acquire.cta.global.s32 %0, [%1];" : "=r"(value) : "l"(flag)); // acquires_of_block here
    } else if (HOW == BY_ATOMIC) {
        value = atomicAdd(flag, 0);
    } else {
        value = *(volatile int *)flag;
    }
    return value;
}

template <Flag HOW>
__device__ void pass_on(int *data, int *flag, int *out) {
    if (blockIdx.x == 0) {
        *data = 7; // releases_for_its_block there
        if (HOW == ACQUIRED) {
            asm volatile("st.release.gpu.global.s32 [%0], 1;" ::"l"(flag) : "memory");
        } else if (HOW == FENCE_OF_BLOCK) {
            __threadfence_block();
            *(volatile int *)flag = 1;
        } else {
            __threadfence();
            *(volatile int *)flag = 1; // acquires_of_block there
        }
    } else {
        while (look<HOW>(flag) == 0) {
        }
        if (HOW == RELAXED_AND_FENCED || HOW == FENCE_OF_BLOCK) {
            __threadfence();
        } else if (HOW == FENCED_OF_BLOCK) {
            __threadfence_block();
        }
        *out = *data; // looks here // looks_by_atomic here // releases_for_its_block here // fences_for_its_block here
    }
}

KERNEL looks(int *data, int *flag, int *out) {
    pass_on<RELAXED>(data, flag, out);
}

KERNEL looks_by_atomic(int *data, int *flag, int *out) {
    pass_on<BY_ATOMIC>(data, flag, out);
}

KERNEL looks_and_fences(int *data, int *flag, int *out) {
    pass_on<RELAXED_AND_FENCED>(data, flag, out);
}

KERNEL acquires(int *data, int *flag, int *out) {
    pass_on<ACQUIRED>(data, flag, out);
}

KERNEL acquires_of_block(int *data, int *flag, int *out) {
    pass_on<ACQUIRED_OF_BLOCK>(data, flag, out);
}

KERNEL releases_for_its_block(int *data, int *flag, int *out) {
    pass_on<FENCE_OF_BLOCK>(data, flag, out);
}

KERNEL fences_for_its_block(int *data, int *flag, int *out) {
    pass_on<FENCED_OF_BLOCK>(data, flag, out);
}

// ---- Within a block: lane 0 tells the other warp what its whole warp has stored
// --------------------------------------

enum Signal { FLAG, COUNTER, RELEASE, MBARRIER };

template <Signal SIGNAL, bool MEET, bool FENCED, bool ITS_OWN>
__device__ void tell_other_warp(int *out) {
    __shared__ int row[32];
    __shared__ int ready;
    __shared__ alignas(8) unsigned long long full;
    const int lane = threadIdx.x % 32;
    const unsigned barrier = __cvta_generic_to_shared(&full), word = __cvta_generic_to_shared(&ready);
    if (threadIdx.x == 0) {
        ready = 0;
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier) : "memory");
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        row[lane] = lane; // flag_of_a_lane there // counter_of_a_lane there // mbarrier_of_a_lane there
        if (SIGNAL == FLAG || SIGNAL == COUNTER) {
            __threadfence_block();
        }
        if (MEET) {
            __syncwarp();
        }
        if (lane == 0 && SIGNAL == FLAG) {
            *(volatile int *)&ready = 1;
        } else if (lane == 0 && SIGNAL == COUNTER) {
            atomicAdd(&ready, 1);
        } else if (lane == 0 && SIGNAL == RELEASE) {
            asm volatile("st.release.cta.shared::cta.s32 [%0], 1;" ::"r"(word) : "memory");
        } else if (lane == 0) {
            asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
        }
    } else if (SIGNAL == MBARRIER) {
        for (unsigned done = 0; !done;) {
            asm volatile("{\n"
                         ".reg .pred done;\n"
                         "mbarrier.try_wait.parity.shared::cta.b64 done, [%1], 0;\n"
                         "selp.u32 %0, 1, 0, done;\n"
                         "}"
                         : "=r"(done)
                         : "r"(barrier)
                         : "memory");
        }
        out[lane] = row[ITS_OWN ? 0 : 31 - lane]; // mbarrier_of_a_lane here
    } else {
        while (SIGNAL == COUNTER ? atomicAdd(&ready, 0) == 0 : *(volatile int *)&ready == 0) {
        }
        if (FENCED) {
            __threadfence_block();
        }
        out[lane] =
            row[ITS_OWN ? 0 : 31 - lane]; // flag_of_a_lane here // counter_of_a_lane here // release_of_a_lane here
    }
}

KERNEL flag_of_a_warp(int *out) {
    tell_other_warp<FLAG, true, true, false>(out);
}

KERNEL flag_of_a_lane(int *out) {
    tell_other_warp<FLAG, false, true, false>(out);
}

KERNEL flag_of_a_lane_for_itself(int *out) {
    tell_other_warp<FLAG, false, true, true>(out);
}

KERNEL flag_not_acquired(int *out) {
    tell_other_warp<FLAG, true, false, false>(out);
}

KERNEL counter_of_a_warp(int *out) {
    tell_other_warp<COUNTER, true, true, false>(out);
}

KERNEL counter_of_a_lane(int *out) {
    tell_other_warp<COUNTER, false, true, false>(out);
}

KERNEL release_of_a_warp(int *out) {
    tell_other_warp<RELEASE, true, true, false>(out);
}

KERNEL release_of_a_lane(int *out) {
    tell_other_warp<RELEASE, false, true, false>(out);
}

KERNEL release_of_a_lane_for_itself(int *out) {
    tell_other_warp<RELEASE, false, true, true>(out);
}

KERNEL mbarrier_of_a_warp(int *out) {
    tell_other_warp<MBARRIER, true, true, false>(out);
}

KERNEL mbarrier_of_a_lane(int *out) {
    tell_other_warp<MBARRIER, false, true, false>(out);
}

KERNEL mbarrier_of_a_lane_for_itself(int *out) {
    tell_other_warp<MBARRIER, false, true, true>(out);
}
