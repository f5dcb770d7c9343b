// Shared memory is 32 banks, each 4 bytes wide; the word at byte address a lies in bank a / 4 % 32. One pass through
// the banks, a wavefront, gives every bank's word of one row to all lanes that ask for it. Lanes that need different
// words of the same bank take turns: a bank conflict.
//
// A pass moves at most 128 bytes to the lanes, so wide accesses are split first:
//   up to 4 bytes a lane   all 32 lanes at once
//   8 bytes                lanes 0-15, then 16-31
//   16 bytes               lanes 0-7, 8-15, 16-23, 24-31
//   ldmatrix, stmatrix     the 8 rows of one matrix at a time
// Two neighbouring parts (of 16 bytes: within the same half of the warp) go in one pass where the words that they need
// lie in different banks or are the same.
#include "counts.h"

enum { BANKS = 32, BANK_BYTES = 4, LANES = 32 };

// Passes that the lanes of mask need together: the most distinct words in one bank.
static unsigned passes(uint32_t bytes, uint32_t mask, const uint64_t *address) {
    uint32_t word_in_bank[BANKS][LANES * 4];
    uint8_t words[BANKS] = {0};
    unsigned most = 0;
    for (int lane = 0; lane < LANES; lane++) {
        if (!(mask >> lane & 1)) {
            continue;
        }
        const uint32_t first = (uint32_t)address[lane] / BANK_BYTES;
        const uint32_t last = ((uint32_t)address[lane] + bytes - 1) / BANK_BYTES;
        for (uint32_t word = first; word <= last; word++) {
            const uint32_t bank = word % BANKS;
            unsigned i = 0;
            while (i < words[bank] && word_in_bank[bank][i] != word) {
                i++;
            }
            if (i == words[bank]) {
                word_in_bank[bank][words[bank]++] = word;
            }
            if (words[bank] > most) {
                most = words[bank];
            }
        }
    }
    return most;
}

// Lanes first .. first + count - 1.
static uint32_t lanes_from(unsigned first, unsigned count) {
    return (count == LANES ? 0xffffffffu : (1u << count) - 1) << first;
}

void traffic_count_wavefronts(struct traffic_counts *counts, enum traffic_kind kind, uint32_t bytes, uint32_t mask,
                              const uint64_t *address) {
    const unsigned part = bytes <= 4 ? 32 : bytes == 8 ? 16 : 8;
    const bool is_matrix = kind == TRAFFIC_MATRIX_LOAD || kind == TRAFFIC_MATRIX_STORE;
    for (unsigned first = 0; first < LANES; first += 2 * part) {
        const uint32_t one = mask & lanes_from(first, part);
        const uint32_t other = first + part < LANES ? mask & lanes_from(first + part, part) : 0;
        const unsigned together = passes(bytes, one | other, address);
        if (together <= 1 && !is_matrix) {
            counts->wavefronts += together;
            counts->ideal_wavefronts += together;
        } else {
            counts->wavefronts += passes(bytes, one, address) + passes(bytes, other, address);
            counts->ideal_wavefronts += (one != 0) + (other != 0);
        }
    }
}
