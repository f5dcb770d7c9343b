// How many cases a check has.
#ifndef HOST_MATRIX_H
#define HOST_MATRIX_H

enum { MAX_CASES = 256 };

enum matrix_kind {
    MATRIX_GPU,
    MATRIX_SIMULATOR, // smaller shapes: on two cores lesson 01 takes 4 seconds for a million pairs of query and key
    MATRIX_QUICK,     // a few cases that find most mistakes in a second or two, also on the simulator
};

#endif
