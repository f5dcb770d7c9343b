// Modules: the kernels and variables that a program registers before main(). A module is one fat binary, usually of one
// .cu file. The runtime parses its PTX at the first use of one of its kernels or variables. Each device has an instance
// of its own, with its own variables and its own attributes of kernels; the functions below use the instance of the
// calling thread's device.
#ifndef SIMULATOR_RUNTIME_MODULE_H
#define SIMULATOR_RUNTIME_MODULE_H

#include "../execution/launch.h"
#include "../instructions/bind.h"
#include "../machine/allocation.h"
#include "../ptx/program.h"
#include "api.h"

struct module;

// A kernel. The program identifies it by the address of its host stub; a cudaKernel_t is a pointer to this structure.
struct function {
    const void *host; // the host stub that <<< >>> calls
    char *name;       // mangled, as in PTX
    char *plain_name; // base name for messages
    struct module *module;
    struct ptx_kernel *kernel; // NULL until function_find_loaded
    struct sim_kernel *bound;
    size_t max_dynamic_shared; // set by cudaFuncSetAttribute, or the default
    int carveout;
    int cluster[3];            // cudaFuncAttributeRequiredClusterWidth ..., 0: not set
    bool non_portable_cluster; // allows more than 8 blocks
    int registers;             // per thread, from ptxas; 0: unknown
    struct function *next;
};

// A __device__ or __constant__ variable. The program identifies it by the address of a host variable of the same name.
struct variable {
    const void *host;
    char *name;
    size_t size;
    struct sim_allocation *managed; // of a __managed__ variable: the memory shared by host and device
    struct module *module;
    struct variable *next;
};

struct module *module_register(const void *fatbin_wrapper);
void module_unregister(struct module *module);
void module_add_function(struct module *module, const void *host, const char *name);
void module_add_variable(struct module *module, const void *host, const char *name, size_t size);

// A __managed__ variable, which the host accesses through *host_pointer. The host may do so before the first use of the
// device, so nvcc's code first calls module_initialise_managed for the initial values.
void module_add_managed(struct module *module, void **host_pointer, const char *name, size_t size);
void module_initialise_managed(struct module *module);

// Finds the kernel with that host address or handle, because CUDA accepts a cudaKernel_t as a host function.
// cudaErrorInvalidResourceHandle and *function NULL if there is none, for example after its library was unloaded.
cudaError_t function_find(const void *host_or_handle, struct function **function);

// Also loads the module and links and binds the kernel, if necessary. Further errors: no PTX for this device
// (cudaErrorNoKernelImageForDevice), invalid PTX (cudaErrorInvalidPtx), an unsupported instruction
// (cudaErrorNotSupported), no memory for the module's variables (cudaErrorMemoryAllocation).
cudaError_t function_find_loaded(const void *host_or_handle, struct function **function);

// The kernel of the same instance at a device address; NULL if there is none.
struct function *function_at_address(const struct function *of, uint64_t address);

// NULL if no variable with that host address is registered.
struct variable *variable_find(const void *host);

// Returns the device address of a variable; loads its module if necessary.
cudaError_t variable_address(struct variable *variable, uint64_t *address);

// Bytes of the module's __constant__ variables; the module must be loaded.
size_t module_const_bytes(const struct module *module);

// cudaDeviceReset: returns every module to its state before its first use.
void module_unload_all(void);

#endif
