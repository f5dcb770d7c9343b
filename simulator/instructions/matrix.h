// What mma and wmma share.
#ifndef SIMULATOR_INSTRUCTIONS_MATRIX_H
#define SIMULATOR_INSTRUCTIONS_MATRIX_H

#include "../lanes/matrix.h"
#include "../ptx/program.h"

enum lane_element matrix_element(enum ptx_type type);

#endif
