// Global and local memory are accessed in sectors: aligned ranges of 32 bytes. A request costs the number of distinct
// sectors that its lanes access. So 32 lanes that read 32 consecutive floats cost 4 sectors, and 32 lanes that read a
// column of a matrix cost 32.
//
// In atomic operations, lanes with the same address are serialized, and each repetition accesses its sectors again: 32
// lanes that increment one counter cost 32.
//
// Compared with an H200 (tests/truth): requests and sectors are equal for loads, stores, atomics and reductions of 1 to
// 16 bytes per lane.
#include "counts.h"

enum { SECTOR_BYTES = 32, WORD_BYTES = 4, SHARED_LINE = 128, LINE_BYTES = 128, COPY_BYTES = 16 };

// Inserts value into sorted[0 .. count) if it is new. Lanes are mostly in order, so the search starts at the end.
static int insert_distinct(uint64_t *sorted, int count, uint64_t value) {
    int position = count;
    while (position > 0 && sorted[position - 1] > value)
        position--;
    if (position > 0 && sorted[position - 1] == value)
        return count;
    for (int i = count; i > position; i--)
        sorted[i] = sorted[i - 1];
    sorted[position] = value;
    return count + 1;
}

// Local memory is interleaved so that the same word of 32 threads is one line of 128 bytes: word w of lane l is at (32
// w + l) words. A thread's consecutive words are therefore one line apart.
static int local_sectors(uint32_t bytes, uint32_t mask, const uint64_t *address, uint64_t *sector) {
    int sectors = 0;
    const uint32_t words = (bytes + WORD_BYTES - 1) / WORD_BYTES;
    for (uint32_t word = 0; word < words; word++) {
        for (int lane = 0; lane < LANES; lane++) {
            if (mask >> lane & 1) {
                const uint64_t index = (uint32_t)address[lane] / WORD_BYTES + word;
                sectors =
                    insert_distinct(sector, sectors, (index * LANES + (unsigned)lane) * WORD_BYTES / SECTOR_BYTES);
            }
        }
    }
    return sectors;
}

// The number of distinct aligned ranges of memory in which the lanes start.
static int distinct_ranges(uint32_t mask, const uint64_t *address, uint64_t piece_bytes) {
    uint64_t piece[LANES];
    int pieces = 0;
    for (int lane = 0; lane < LANES; lane++)
        if (mask >> lane & 1)
            pieces = insert_distinct(piece, pieces, address[lane] / piece_bytes);
    return pieces;
}

// The first lane of each address in mask; the other lanes are serialized after them.
static uint32_t first_of_each_address(uint32_t mask, const uint64_t *address) {
    uint32_t firsts = 0;
    for (int lane = 0; lane < LANES; lane++) {
        bool is_first = mask >> lane & 1;
        for (int before = 0; before < lane && is_first; before++)
            is_first = !(mask >> before & 1) || address[before] != address[lane];
        firsts |= (uint32_t)is_first << lane;
    }
    return firsts;
}

// cp.async with 16 bytes per lane: each 32 bytes of shared memory take one sector of each line that they come from. If
// rows have the same layout in both memories, these are the accessed sectors; if a row starts or ends within a sector,
// they are more or fewer. Fitted to an H200: single warps, rows of 16 to 256 bytes; lanes that copy nothing count for
// nothing, whatever their addresses.
static int sectors_of_copies(uint32_t mask, const uint64_t *from, const uint64_t *to) {
    uint64_t piece[LANES];
    int pieces = 0;
    for (int lane = 0; lane < LANES; lane++)
        if (mask >> lane & 1)
            pieces = insert_distinct(piece, pieces,
                                     (uint64_t)((uint32_t)to[lane] / SECTOR_BYTES) << 48 | from[lane] / LINE_BYTES);
    return pieces;
}

void traffic_count_sectors(struct traffic_counts *counts, enum ptx_space space, enum access_kind kind, uint32_t bytes,
                           uint32_t mask, const uint64_t *address, const uint64_t *to) {
    int sectors = 0, starts = __builtin_popcount(mask); // no two threads share a local word
    if (space == PTX_LOCAL) {
        uint64_t sector[4 * LANES];
        sectors = local_sectors(bytes, mask, address, sector);
    } else {
        // Accesses are aligned to their size, so one of up to 32 bytes is within the sector in which it starts.
        starts = distinct_ranges(mask, address, 1);
        if (to && bytes == COPY_BYTES)
            sectors = sectors_of_copies(mask, address, to);
        const bool in_turns = kind == ACCESS_ATOMIC || kind == ACCESS_REDUCTION;
        for (uint32_t left = sectors ? 0 : mask, turn; left != 0; left &= ~turn) {
            turn = in_turns ? first_of_each_address(left, address) : left;
            sectors += distinct_ranges(turn, address, SECTOR_BYTES);
        }
    }
    counts->sectors += (uint64_t)sectors;
    counts->ideal_sectors += ((uint64_t)starts * bytes + SECTOR_BYTES - 1) / SECTOR_BYTES;
}

uint64_t traffic_row_sectors(uint64_t address, uint32_t bytes) {
    return (address + bytes + SECTOR_BYTES - 1) / SECTOR_BYTES - address / SECTOR_BYTES;
}

// A bulk copy in either direction. If a row crosses into the next 128 bytes of shared memory, a new range starts there,
// and each range takes the sectors that it accesses: a sector that two ranges share counts twice. ncu counts filled
// bytes as if they came from memory, each range starting at a sector. An H200 counts boxes with rows of 16, 80 and 128
// bytes in this way, contiguous or not, within their tensor and out of bounds. address: NULL if the range is filled.
static uint64_t sectors_of_ranges(uint64_t to, const uint64_t *address, uint32_t bytes) {
    uint64_t sectors = 0;
    for (uint32_t done = 0, piece; done < bytes; done += piece) {
        piece = SHARED_LINE - (uint32_t)((to + done) % SHARED_LINE);
        piece = piece < bytes - done ? piece : bytes - done;
        sectors += traffic_row_sectors(address ? *address + done : 0, piece);
    }
    return sectors;
}

uint64_t traffic_bulk_sectors(uint64_t to, uint64_t address, uint32_t bytes) {
    return sectors_of_ranges(to, &address, bytes);
}

uint64_t traffic_filled_sectors(uint64_t to, uint32_t bytes) {
    return sectors_of_ranges(to, NULL, bytes);
}
