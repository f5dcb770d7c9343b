// Readable names of kernels: `attention_kernel` instead of `_ZN12_GLOBAL__N_116attention_kernelILi64EEEvPKfPfi`.
#include "kernel_name.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

// In names that C++ compilers mangle (Itanium C++ ABI), an identifier is its length in decimal and its letters. A name
// starts with _Z; N precedes a list of nested names, the last of which is the function's own; L precedes a name that is
// local to its file. The types of template arguments and parameters follow.
const char *kernel_plain_name(const char *mangled, size_t *length) {
    *length = strlen(mangled);
    if (strncmp(mangled, "_Z", 2) != 0)
        return mangled;
    const char *plain = mangled, *at = mangled + 2;
    const bool nested = *at == 'N'; // else the parameters follow the name
    while (*at == 'N' || *at == 'L' || *at == 'K')
        at++;
    while (isdigit((unsigned char)*at)) {
        char *name;
        size_t letters = strtoul(at, &name, 10);
        if (letters == 0 || letters > strlen(name))
            break;
        plain = name;
        *length = letters;
        at = name + letters;
        if (!nested)
            break;
    }
    return plain;
}
