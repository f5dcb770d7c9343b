// The parameters of convert_any; its third source points to one of these.
#ifndef SIMULATOR_LANES_CONVERT_H
#define SIMULATOR_LANES_CONVERT_H

#include "../ptx/program.h"

// Flags in `extra` of conversions from and to pairs of fp8: the format is e5m2, not e4m3; negative numbers become 0.
enum { LANE_E5M2 = 1, LANE_F8_RELU = 2 };

struct lane_conversion {
    enum ptx_type from, to;
    enum ptx_rounding rounding;
    bool ftz, saturate, finite, relu, pair;
    int from_cell, to_cell; // bytes of a lane in the registers: 4 or 8
    int to_bits;            // width of the result's register
};

#endif
