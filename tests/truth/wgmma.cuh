// How operands of wgmma lie in shared memory, and a kernel around one product.
#ifndef WGMMA_CUH
#define WGMMA_CUH

#include "hopper.cuh"

// A row is 32 bytes of K. K-major, a tile has them in rows of `span` bytes; MN-major, `span` bytes are neighbours in M
// or N, and 16 of them follow each other in K. A span of 16 is no swizzle: the PTX ISA's canonical layouts, "Shared
// Memory Matrix Layout" of wgmma.
template <int BYTES>
DEVICE int place(int row, int k, int rows, int span, bool mn_major) {
    int byte;
    if (!mn_major) {
        const int in_row = k * BYTES;
        byte = span == 16 ? row / 8 * 128 + row % 8 * 16 + in_row / 16 * rows * 16 + in_row % 16 : row * span + in_row;
    } else if (span == 16) {
        byte = row / 8 * 256 + row % 8 * 2 + k / 8 * 128 + k % 8 * 16;
    } else {
        const int run = span / 2;
        byte = row / run * 16 * span + row % run * 2 + k * span;
    }
    return span == 16 ? byte : byte ^ (byte >> 7 & (span / 16 - 1)) << 4;
}

// Leading and stride in bytes; the modes are numbered 1 for 128 bytes, 2 for 64, 3 for 32.
DEVICE uint64_t descriptor(const void *tile, int rows, int span, bool mn_major) {
    const uint64_t mode = span == 128 ? 1 : span == 64 ? 2 : span == 32 ? 3 : 0;
    const uint32_t leading = mn_major ? (span == 16 ? 128 : 16 * span) : span == 16 ? rows * 16 : 16;
    const uint32_t stride = mn_major ? (span == 16 ? 256 : 8 * span) : span == 16 ? 128 : 8 * span;
    return (smem(tile) & 0x3ffff) >> 4 | (uint64_t)(leading >> 4) << 16 | (uint64_t)(stride >> 4) << 32 | mode << 62;
}

template <int BYTES>
DEVICE void lay_out(char *tile, const unsigned *words, int rows, int span, bool mn_major, unsigned (*map)(unsigned)) {
    for (int i = threadIdx.x % 128; i < rows * 8; i += 128) {
        const unsigned word = map(words[i % TRUTH_ELEMENTS]);
        for (int e = 0; e < 4 / BYTES; e++) {
            char *to = tile + place<BYTES>(i / 8, i % 8 * 4 / BYTES + e, rows, span, mn_major);
            const unsigned part = word >> 8 * BYTES * e;
            if (BYTES == 1) {
                *to = part;
            } else if (BYTES == 2) {
                *reinterpret_cast<unsigned short *>(to) = part;
            } else {
                *reinterpret_cast<unsigned *>(to) = part;
            }
        }
    }
}

// Sums of fewer than 8 registers per thread are all results. Of more, what is exact is added up with weights, of the
// rest every so manieth is taken.
template <int REGISTERS, typename SUM>
DEVICE void write(SUM *result, const SUM (&d)[REGISTERS]) {
    constexpr int RESULTS = REGISTERS < 8 ? REGISTERS : 8, OF = REGISTERS / RESULTS;
#pragma unroll
    for (int j = 0; j < RESULTS; j++) {
        SUM value = d[j * OF];
#pragma unroll
        for (int i = 1; i < OF; i++) {
            value = threadIdx.x % OF == i ? d[j * OF + i] : value;
        }
        result[threadIdx.x * RESULTS + j] = value;
    }
}

template <int REGISTERS>
DEVICE void write(unsigned *result, const float (&d)[REGISTERS]) {
#pragma unroll
    for (int j = 0; j < 8; j++) {
        unsigned sum = 0;
#pragma unroll
        for (int i = j; i < REGISTERS; i += 8) {
            sum += (2 * i + 1) * static_cast<unsigned>(static_cast<int>(d[i]));
        }
        result[threadIdx.x * 8 + j] = sum;
    }
}

// What reads these registers stays behind the wait: a compiler knows only that the product has written them.
template <int REGISTERS>
DEVICE void hold(float (&d)[REGISTERS]) {
#pragma unroll
    for (int i = 0; i < REGISTERS; i++) {
        asm volatile("" : "+f"(d[i])::"memory");
    }
}
template <int REGISTERS>
DEVICE void hold(unsigned (&d)[REGISTERS]) {
#pragma unroll
    for (int i = 0; i < REGISTERS; i++) {
        asm volatile("" : "+r"(d[i])::"memory");
    }
}

template <class P, typename RESULT>
__global__ void product(RESULT *result, const unsigned *a, const unsigned *b, const typename P::sum *c) {
    __shared__ alignas(1024) char a_tiles[2][64 * P::A_SPAN < 2048 ? 2048 : 64 * P::A_SPAN];
    __shared__ alignas(1024) char b_tiles[2][P::N * P::B_SPAN < 32 * P::N ? 32 * P::N : P::N * P::B_SPAN];
    if (blockIdx.x > 0) {
        return;
    }
    const int group = threadIdx.x / 128, row = threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4;
    lay_out<P::BYTES>(a_tiles[group], a + 512 * group, 64, P::A_SPAN, P::A_MN, P::map_a);
    lay_out<P::BYTES>(b_tiles[group], b + 8 * P::N * group % TRUTH_ELEMENTS, P::N, P::B_SPAN, P::B_MN, P::map_b);
    fence_proxy_async();
    __syncthreads();
    typename P::sum d[P::REGISTERS];
    for (int i = 0; i < P::REGISTERS; i++) {
        d[i] = c[(threadIdx.x * P::REGISTERS + i) % TRUTH_ELEMENTS];
    }
    unsigned fragment[4];
    for (int r = 0; r < 4; r++) {
        fragment[r] = P::map_a(a[512 * group + (row + r % 2 * 8) * 8 + threadIdx.x % 4 + r / 2 * 4]);
    }
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    P::multiply(d, fragment, descriptor(a_tiles[group], 64, P::A_SPAN, P::A_MN),
                descriptor(b_tiles[group], P::N, P::B_SPAN, P::B_MN));
    asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
    hold(d);
    write(result, d);
}

// ---- Values --------------------------------------------------------------------------------------------------------

DEVICE unsigned as_it_is(unsigned word) {
    return word;
}

// Four numbers of 8 bits: integers from -4 to 4; sizes from 2^-4 to 1, as unit_half() in inputs.c has them.
template <int MANTISSA, int BIAS>
DEVICE unsigned small_8(unsigned word) {
    unsigned result = 0;
    for (int i = 0; i < 4; i++) {
        const int number = static_cast<int>((mixed(word) >> 8 * i & 0xff) % 9) - 4;
        const unsigned size = number < 0 ? -number : number, power = size >= 4 ? 2 : size >= 2 ? 1 : 0;
        const unsigned code = (BIAS + power) << MANTISSA | (size << MANTISSA >> power & ((1 << MANTISSA) - 1));
        result |= (size == 0 ? 0 : code | (number < 0 ? 0x80 : 0)) << 8 * i;
    }
    return result;
}
template <int MANTISSA, int BIAS>
DEVICE unsigned unit_8(unsigned word) {
    const unsigned fields = (1u << MANTISSA) * 0x01010101u;
    return (mixed(word) & 0x80808080u) | (mixed(word) & (fields - 0x01010101u)) |
           ((BIAS - 4) * fields + (mixed(word) >> 5 & 0x03030303u) * (1 << MANTISSA));
}
DEVICE unsigned small_e4m3(unsigned word) {
    return small_8<3, 7>(word);
}
DEVICE unsigned small_e5m2(unsigned word) {
    return small_8<2, 15>(word);
}
DEVICE unsigned unit_e4m3(unsigned word) {
    return unit_8<3, 7>(word);
}
DEVICE unsigned unit_e5m2(unsigned word) {
    return unit_8<2, 15>(word);
}

#endif
