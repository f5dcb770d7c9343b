#include "operations/attention_operation.h"
#include "operations/backward_operation.h"
#include "operations/decode_operation.h"
#include "operations/ring_attention_operation.h"
#include "operations/softmax_operation.h"

const struct operation *const operations[] = {&attention_operation,
                                              &softmax_operation,
                                              &decode_operation,
                                              &backward_operation,
                                              &ring_attention_operation,
                                              &zigzag_attention_operation,
                                              NULL};
