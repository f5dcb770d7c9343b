// Names of kernels for people: `attention_kernel` instead of `_ZN12_GLOBAL__N_116attention_kernelILi64EEEvPKfPfi`.
#include "kernel_name.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

// In the names that C++ compilers make (Itanium C++ ABI), an identifier is its length in decimal and its letters. A
// name starts with _Z; N before a list of nested names, of which the last is the function's own; L before one that is
// local to its file. What follows is the types of template arguments and parameters.
const char *kernel_plain_name(const char *mangled, size_t *length) {
    *length = strlen(mangled);
    if (strncmp(mangled, "_Z", 2) != 0)
        return mangled;
    const char *plain = mangled, *at = mangled + 2;
    const bool nested = *at == 'N'; // else what follows the name is its parameters
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
