// Global and local memory move in sectors: aligned pieces of 32 bytes. A request costs as many sectors as its lanes
// touch, each sector once, however many lanes share it. So 32 lanes that read 32 neighbouring floats cost 4 sectors,
// and 32 lanes that read a column of a matrix cost 32.
//
// Of atomic operations, lanes with the same address take turns, and each turn touches its sectors anew: 32 lanes that
// add to one counter cost 32.
//
// Held against an H200 (tests/truth): requests and sectors are equal for loads, stores, atomics and reductions of 1 to
// 16 bytes a lane.
#include "counts.h"

enum { SECTOR_BYTES = 32, WORD_BYTES = 4, SHARED_LINE = 128, LINE_BYTES = 128, COPY_BYTES = 16 };

// Puts value into sorted[0 .. count), unless it is there. Lanes mostly come in order, so the search starts at the end.
static int insert_distinct(uint64_t *sorted, int count, uint64_t value) {
    int place = count;
    while (place > 0 && sorted[place - 1] > value)
        place--;
    if (place > 0 && sorted[place - 1] == value)
        return count;
    for (int i = count; i > place; i--)
        sorted[i] = sorted[i - 1];
    sorted[place] = value;
    return count + 1;
}

// Local memory is laid out so that the same word of 32 threads makes one line of 128 bytes: word w of lane l lies at
// (32 w + l) words. A thread's neighbouring words are therefore a whole line apart.
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

// Distinct aligned pieces of memory of so many bytes that the lanes start in.
static int distinct_pieces(uint32_t mask, const uint64_t *address, uint64_t piece_bytes) {
    uint64_t piece[LANES];
    int pieces = 0;
    for (int lane = 0; lane < LANES; lane++)
        if (mask >> lane & 1)
            pieces = insert_distinct(piece, pieces, address[lane] / piece_bytes);
    return pieces;
}

// The lanes of mask that come first with their address; the others wait for the next turn.
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

// Of cp.async with 16 bytes a lane: 32 bytes of shared memory take one sector of each line that they come from. Where
// rows lie in both memories alike these are the sectors touched; where a row begins or ends within a sector they are
// more or fewer. Fitted to an H200: single warps, rows of 16 to 256 bytes, any lanes of which copied nothing; those
// count for nothing, wherever they point.
static int copied_sectors(uint32_t mask, const uint64_t *from, const uint64_t *to) {
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
        // Accesses are aligned to their size, so one of up to 32 bytes lies in the sector that it starts in.
        starts = distinct_pieces(mask, address, 1);
        if (to && bytes == COPY_BYTES)
            sectors = copied_sectors(mask, address, to);
        const bool in_turns = kind == ACCESS_ATOMIC || kind == ACCESS_REDUCTION;
        for (uint32_t left = sectors ? 0 : mask, turn; left != 0; left &= ~turn) {
            turn = in_turns ? first_of_each_address(left, address) : left;
            sectors += distinct_pieces(turn, address, SECTOR_BYTES);
        }
    }
    counts->sectors += (uint64_t)sectors;
    counts->ideal_sectors += ((uint64_t)starts * bytes + SECTOR_BYTES - 1) / SECTOR_BYTES;
}

uint64_t traffic_row_sectors(uint64_t address, uint32_t bytes) {
    return (address + bytes + SECTOR_BYTES - 1) / SECTOR_BYTES - address / SECTOR_BYTES;
}

// Of a bulk copy in either direction. Where a row crosses into the next 128 bytes of shared memory a new piece of it
// begins, and each piece takes the sectors that it touches: a sector that two pieces share comes twice. ncu counts what
// is filled in as if it came from memory, each piece beginning with a sector. So an H200 counts boxes of rows of 16, 80
// and 128 bytes, side by side or apart, inside of their tensor and beyond its edges. address: NULL where it is filled
// in.
static uint64_t sectors_of_pieces(uint64_t to, const uint64_t *address, uint32_t bytes) {
    uint64_t sectors = 0;
    for (uint32_t done = 0, piece; done < bytes; done += piece) {
        piece = SHARED_LINE - (uint32_t)((to + done) % SHARED_LINE);
        piece = piece < bytes - done ? piece : bytes - done;
        sectors += traffic_row_sectors(address ? *address + done : 0, piece);
    }
    return sectors;
}

uint64_t traffic_bulk_sectors(uint64_t to, uint64_t address, uint32_t bytes) {
    return sectors_of_pieces(to, &address, bytes);
}

uint64_t traffic_filled_sectors(uint64_t to, uint32_t bytes) {
    return sectors_of_pieces(to, NULL, bytes);
}
