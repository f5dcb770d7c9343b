// The element types that a kernel's tensors can have, separate from attention.h for files that include no CUDA headers.
#ifndef ATTENTION_DTYPE_H
#define ATTENTION_DTYPE_H

// The last two are not types of a kernel's results: e4m3 (8 bits, 4 of exponent, 3 of mantissa, numbers up to 448) is
// one of caches of keys and values, int32 that of lengths and page numbers.
enum attention_dtype { ATTENTION_FP32, ATTENTION_FP16, ATTENTION_BF16, ATTENTION_E4M3, ATTENTION_INT32 };

#endif
