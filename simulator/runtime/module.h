// Modules: what a program registered before main(), and what became of it. A module is one fat binary, in general that
// of one .cu file. Its PTX is read when one of its kernels or variables is used for the first time.
#ifndef SIMULATOR_RUNTIME_MODULE_H
#define SIMULATOR_RUNTIME_MODULE_H

#include "../execution/launch.h"
#include "../instructions/bind.h"
#include "../machine/allocation.h"
#include "../ptx/program.h"
#include "api.h"

struct module;

// A kernel. The program knows it by the address of its host function; cudaKernel_t is a pointer to this.
struct function {
    const void *host; // the host stub that <<< >>> calls
    char *name;       // mangled, as in PTX
    char *plain_name; // for messages
    struct module *module;
    struct ptx_kernel *kernel; // NULL until function_find_loaded
    struct sim_kernel *bound;
    size_t max_dynamic_shared; // what cudaFuncSetAttribute allowed, or the default
    int carveout;
    int cluster[3];            // cudaFuncAttributeRequiredClusterWidth ..., 0: not set
    bool non_portable_cluster; // more than 8 blocks are allowed
    int registers;             // of a thread, by ptxas; 0: not known
    struct function *next;
};

// A __device__ or __constant__ variable. The program knows it by the address of a host variable of the same name.
struct variable {
    const void *host;
    char *name;
    size_t size;
    struct sim_allocation *managed; // of a __managed__ variable: the memory that host and device share
    struct module *module;
    struct variable *next;
};

struct module *module_register(const void *fatbin_wrapper);
void module_unregister(struct module *module);
void module_add_function(struct module *module, const void *host, const char *name);
void module_add_variable(struct module *module, const void *host, const char *name, size_t size);

// A __managed__ variable, which the host reads and writes through *host_pointer. The host may do so before the device
// is used, so it asks first for the initial values: module_initialise_managed.
void module_add_managed(struct module *module, void **host_pointer, const char *name, size_t size);
void module_initialise_managed(struct module *module);

// The kernel with that host address or, since CUDA takes a cudaKernel_t in place of a host function, with that handle.
// cudaErrorInvalidResourceHandle and *function NULL where there is none (any more: the library that it came from may
// have been unloaded).
cudaError_t function_find(const void *host_or_handle, struct function **function);

// The same, and ready to run: the module's PTX is read where that is still to be done, the kernel linked and bound.
// More errors: no PTX for this device (cudaErrorNoKernelImageForDevice), PTX that is wrong (cudaErrorInvalidPtx), an
// instruction that the simulator lacks (cudaErrorNotSupported), no memory for the module's variables
// (cudaErrorMemoryAllocation).
cudaError_t function_find_loaded(const void *host_or_handle, struct function **function);

// The kernel of the same module that a pointer on the device holds; NULL where it holds none.
struct function *function_at(const struct function *of, uint64_t address);

// NULL where no variable with that host address is registered.
struct variable *variable_find(const void *host);

// The device address of a variable, its module loaded first.
cudaError_t variable_address(struct variable *variable, uint64_t *address);

// Bytes of __constant__ variables in the function's module, which is loaded.
size_t module_const_bytes(const struct module *module);

// cudaDeviceReset: every module goes back to its state before its first use.
void module_unload_all(void);

#endif
