// Which lane of a warp holds which element of a matrix: the PTX manual's "Matrix fragments for mma", "for wgmma" and
// "ldmatrix". In all of them group = lane / 4 and t = lane % 4.
#ifndef SIMULATOR_LANES_FRAGMENT_H
#define SIMULATOR_LANES_FRAGMENT_H

struct fragment_element {
    int row, column;
};

// Element e of register r of A, 16 x k; width: elements to a register.
static inline struct fragment_element fragment_a(int lane, int r, int e, int width) {
    return (struct fragment_element){lane / 4 + 8 * (r % 2), lane % 4 * width + 4 * width * (r / 2) + e};
}

// The same of B, k x 8.
static inline struct fragment_element fragment_b(int lane, int r, int e, int width) {
    return (struct fragment_element){lane % 4 * width + 4 * width * r + e, lane / 4};
}

// Element i of C and D, 16 x 8 and, of wgmma, 16 x n: two neighbours of a row, then two eight rows below.
static inline struct fragment_element fragment_c(int lane, int i) {
    return (struct fragment_element){lane / 4 + 8 * (i / 2 % 2), 8 * (i / 4) + 2 * (lane % 4) + i % 2};
}

// Half h, 0 or 1, of a matrix's register as ldmatrix fills it; transposed: with .trans. Rows are those in memory.
static inline struct fragment_element fragment_m(int lane, int h, bool transposed) {
    const int across = 2 * (lane % 4) + h, down = lane / 4;
    return transposed ? (struct fragment_element){across, down} : (struct fragment_element){down, across};
}

#endif
