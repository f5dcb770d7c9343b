#include "operations/attention_operation.h"
#include "operations/backward_operation.h"
#include "operations/decode_operation.h"
#include "operations/softmax_operation.h"

const struct operation *const operations[] = {&attention_operation, &softmax_operation, &decode_operation,
                                              &backward_operation, NULL};
