// Shared memory has 32 banks, each 4 bytes wide; the word at byte address a is in bank a / 4 % 32. One pass through the
// banks, a wavefront, returns one word per bank to all lanes that request it. Lanes that need different words of the
// same bank are serialized: a bank conflict.
//
// A wavefront moves at most 128 bytes to the lanes, so wide accesses are split first:
//   up to 4 bytes per lane  all 32 lanes at once
//   8 bytes                 lanes 0-15, then 16-31
//   16 bytes                lanes 0-7, 8-15, 16-23, 24-31
//   ldmatrix, stmatrix      the 8 rows of one matrix at a time
// Two neighbouring parts of a load (for 16 bytes: those of the same half of the warp) are combined if lanes share their
// data pairwise: each lane in both parts has the address of its neighbour (lane ^ 1), or each has the address of lane ^
// 2. An inactive lane agrees with any. Lanes of an atomic operation, and of cp.async of 4 or 8 bytes, never share a
// word: the largest number of lanes in one bank counts.
//
// Fitted to the counts of Nsight Compute on an H200 for the access patterns of tests/truth, and equal to all of them.
// Not measured: 8-byte atomics, which are treated like 4-byte ones, and the shared side of cp.async of 8 and 16 bytes.
#include "counts.h"

enum { BANKS = 32, BANK_BYTES = 4 };

// The next `count` wavefronts are one part of the request.
static void add_part(struct traffic_wavefronts *found, unsigned count) {
    for (unsigned i = 0; i < count && found->count < TRAFFIC_MOST_WAVEFRONTS; i++)
        found->part[found->count++] = (uint8_t)found->parts;
    found->parts++;
}

static void note(struct traffic_wavefronts *found, int lane, uint32_t word, unsigned turn) {
    if (word < TRAFFIC_MOST_WORDS)
        found->word[lane][word] = (uint8_t)(found->count + turn);
}

// Wavefronts of the lanes of mask together: the largest number of distinct words in one bank.
static unsigned shared_wavefronts(uint32_t bytes, uint32_t mask, const uint64_t *address,
                                  struct traffic_wavefronts *found) {
    uint32_t word_in_bank[BANKS][LANES * 4];
    uint8_t words[BANKS] = {0};
    unsigned most = 0;
    for (int lane = 0; lane < LANES; lane++) {
        if (!(mask >> lane & 1))
            continue;
        const uint32_t first = (uint32_t)address[lane] / BANK_BYTES;
        const uint32_t last = ((uint32_t)address[lane] + bytes - 1) / BANK_BYTES;
        for (uint32_t word = first; word <= last; word++) {
            const uint32_t bank = word % BANKS;
            unsigned i = 0;
            while (i < words[bank] && word_in_bank[bank][i] != word)
                i++;
            if (i == words[bank])
                word_in_bank[bank][words[bank]++] = word;
            if (words[bank] > most)
                most = words[bank];
            if (found)
                note(found, lane, word - first, i);
        }
    }
    if (found)
        add_part(found, most);
    return most;
}

// Wavefronts if each lane is serialized: the largest number of lanes in one bank.
static unsigned serialized_wavefronts(uint32_t bytes, uint32_t mask, const uint64_t *address,
                                      struct traffic_wavefronts *found) {
    unsigned lanes[BANKS] = {0}, most = 0;
    for (int lane = 0; lane < LANES; lane++) {
        for (uint32_t byte = 0; byte < bytes && (mask >> lane & 1); byte += BANK_BYTES) {
            const unsigned now = ++lanes[((uint32_t)address[lane] + byte) / BANK_BYTES % BANKS];
            most = now > most ? now : most;
            if (found)
                note(found, lane, byte / BANK_BYTES, now - 1);
        }
    }
    if (found)
        add_part(found, most);
    return most;
}

// Whether each lane of mask reads the same address as the lane whose index differs in the bits of difference.
static bool lanes_share(unsigned difference, uint32_t mask, const uint64_t *address) {
    for (unsigned lane = 0; lane < LANES; lane++) {
        const unsigned other = lane ^ difference;
        if ((mask >> lane & 1) && (mask >> other & 1) && address[lane] != address[other])
            return false;
    }
    return true;
}

// Lanes first .. first + count - 1.
static uint32_t lanes_from(unsigned first, unsigned count) {
    return (count == LANES ? 0xffffffffu : (1u << count) - 1) << first;
}

static void add(struct traffic_counts *counts, uint32_t bytes, uint32_t mask, const uint64_t *address,
                struct traffic_wavefronts *found) {
    counts->wavefronts += shared_wavefronts(bytes, mask, address, found);
    counts->ideal_wavefronts += mask != 0;
}

void traffic_find_wavefronts(struct traffic_counts *counts, enum access_kind kind, uint32_t bytes, uint32_t mask,
                             const uint64_t *address, struct traffic_wavefronts *found) {
    const unsigned part = bytes <= 4 ? 32 : bytes == 8 ? 16 : 8;
    if (kind == ACCESS_ATOMIC || kind == ACCESS_REDUCTION || (kind == ACCESS_ASYNC_COPY && bytes < 16)) {
        counts->wavefronts += serialized_wavefronts(bytes, mask, address, found);
        counts->ideal_wavefronts += LANES / part;
        return;
    }
    for (unsigned first = 0; first < LANES; first += 2 * part) {
        const uint32_t both = mask & lanes_from(first, 2 * part < LANES ? 2 * part : LANES);
        if (part == LANES ||
            (kind == ACCESS_LOAD && (lanes_share(1, both, address) || lanes_share(2, both, address)))) {
            add(counts, bytes, both, address, found);
        } else {
            add(counts, bytes, both & lanes_from(first, part), address, found);
            add(counts, bytes, both & lanes_from(first + part, part), address, found);
        }
    }
}

void traffic_count_wavefronts(struct traffic_counts *counts, enum access_kind kind, uint32_t bytes, uint32_t mask,
                              const uint64_t *address) {
    traffic_find_wavefronts(counts, kind, bytes, mask, address, NULL);
}
