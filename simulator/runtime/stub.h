// Macros of the stubs that scripts/cudart-stubs generates for unsupported calls.
#ifndef SIMULATOR_RUNTIME_STUB_H
#define SIMULATOR_RUNTIME_STUB_H

#include "runtime/unsupported.h"

#if defined(__x86_64__)
#define JUMP "jmp "
#define PLT "@PLT"
#elif defined(__aarch64__)
#define JUMP "b "
#define PLT ""
#else
#error "the runtime library is for x86-64 and aarch64, as CUDA is"
#endif

// Weak: if the simulator defines the function, the linker takes that definition.
#define STUB(name)                                                                                                     \
    __attribute__((weak, visibility("default"))) cudaError_t name(void);                                               \
    cudaError_t name(void) {                                                                                           \
        return api_unsupported_call(#name);                                                                            \
    }

// An alias of a call.
#define SAME(name, plain)                                                                                              \
    __asm__(".text\n.globl " #name "\n.type " #name ", %function\n" #name ": " JUMP #plain PLT "\n"                    \
            ".size " #name ", . - " #name "\n");

#endif
