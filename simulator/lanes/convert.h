// What convert_any is to do; its third source points to one of these.
#ifndef SIMULATOR_LANES_CONVERT_H
#define SIMULATOR_LANES_CONVERT_H

#include "../ptx/program.h"

struct lane_conversion {
    enum ptx_type from, to;
    enum ptx_rounding rounding;
    bool ftz, saturate, finite, relu, pair;
    int from_cell, to_cell; // bytes of a lane in the registers: 4 or 8
    int to_bits;            // width of the result's register
};

#endif
