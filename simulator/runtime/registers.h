// Registers per thread of a kernel, from the output of ptxas.
#ifndef SIMULATOR_RUNTIME_REGISTERS_H
#define SIMULATOR_RUNTIME_REGISTERS_H

// Reads the output of `nvcc -Xptxas -v` from LIBRARY.ptxas, next to the library or program that contains the host
// function. Of several architectures it prefers the simulated device's, else the last one. 0: no such output.
int ptxas_registers(const void *host_function, const char *kernel, int compute_capability);

#endif
