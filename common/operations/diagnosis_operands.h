// Operands that a kernel takes from another place: what the output is then, in double precision.
#ifndef OPERATIONS_DIAGNOSIS_OPERANDS_H
#define OPERATIONS_DIAGNOSIS_OPERANDS_H

#include "operations/diagnosis_maps.h"

#include <stdint.h>

enum operand_change {
    OPERAND_UNCHANGED,
    OPERAND_ROWS,       // by the map, within a head
    OPERAND_COLUMNS,    // by the map
    OPERAND_HEADS,      // by n: enum head_rule
    OPERAND_TENSORS,    // n: which of them are exchanged, or read in place of another
    OPERAND_TRANSPOSED, // read or stored as [head_dim][n]
    OPERAND_STRIDES,    // at the addresses of another layout; n: enum stride_rule
    OPERAND_FRAGMENT,   // n: enum fragment_rule; of a swizzle map.n has the bits of the row
    OPERAND_PANELS,     // panels of 64 columns, in tiles of n rows, map.n elements apart
    OPERAND_TIMES       // elements of the dot product count times[] times
};

enum head_rule { HEAD_FIRST, HEAD_OF_FIRST_BATCH, HEAD_FIRST_OF_BATCH, HEAD_MODULO, HEAD_OF_QUERY, HEAD_STRIDE, HEADS };
enum stride_rule { STRIDES_CONTIGUOUS, ROWS_CONTIGUOUS, STRIDES_OF }; // of Q, and then of K, V and O
enum fragment_rule { FRAGMENT_TRANSPOSED, FRAGMENT_MATRICES, FRAGMENT_ROWS, FRAGMENT_SWIZZLE, FRAGMENTS };

enum { PANEL = 64 };

// Bits of tensors: 1 << Q, 1 << K, 1 << V, 1 << O.
struct operand_rule {
    enum operand_change change;
    unsigned tensors;
    int n;
    struct index_map map;
    const int16_t *from; // [rows or columns], in place of the map; the case's
    const float *times;  // [head_dim], the case's
};

#endif
