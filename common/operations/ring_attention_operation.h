// Attention on several GPUs as operations: see common/ring_attention.h.
#ifndef OPERATIONS_RING_ATTENTION_H
#define OPERATIONS_RING_ATTENTION_H

#include "operation.h"

extern const struct operation ring_attention_operation, zigzag_attention_operation;

#endif
