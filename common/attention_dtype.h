// The element types that a kernel's tensors can have, separate from attention.h for files that include no CUDA headers.
#ifndef ATTENTION_DTYPE_H
#define ATTENTION_DTYPE_H

enum attention_dtype { ATTENTION_FP32, ATTENTION_FP16, ATTENTION_BF16 };

#endif
