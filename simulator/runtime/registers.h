// How many registers ptxas has given a kernel's threads.
#ifndef SIMULATOR_RUNTIME_REGISTERS_H
#define SIMULATOR_RUNTIME_REGISTERS_H

// From what `nvcc -Xptxas -v` said when the library was made that holds the host function: LIBRARY.ptxas, beside it.
// Of several architectures that of the simulated device counts, else the last one. 0 where nobody kept it.
int registers_of(const void *host_function, const char *kernel, int compute_capability);

#endif
