// Registration before main(). nvcc generates in each host object a constructor that calls the functions below: for one
// fat binary, then for each kernel and each device variable of the file, identified by the address of a host symbol. A
// shared library does the same when it is loaded, and unregisters when it is unloaded. These functions read no PTX,
// because a program uses only a small part of what it registers.
//
// NVIDIA declares these functions in crt/host_runtime.h, for C++ only; the handle is a void ** that is opaque to the
// program.
#include "module.h"

EXPORTED void **__cudaRegisterFatBinary(void *fatbin_wrapper) {
    api_lock();
    struct module *module = module_register(fatbin_wrapper);
    api_unlock();
    return (void **)module;
}

EXPORTED void __cudaRegisterFatBinaryEnd(void **handle) {
    (void)handle;
}

EXPORTED void __cudaUnregisterFatBinary(void **handle) {
    api_lock();
    module_unregister((struct module *)handle);
    api_unlock();
}

// host_function is the host stub that <<< >>> calls. The last five arguments are legacy and always NULL.
EXPORTED void __cudaRegisterFunction(void **handle, const char *host_function, char *device_function,
                                     const char *device_name, int thread_limit, uint3 *tid, uint3 *bid, dim3 *block,
                                     dim3 *grid, int *warp_size) {
    (void)device_function;
    (void)thread_limit;
    (void)tid;
    (void)bid;
    (void)block;
    (void)grid;
    (void)warp_size;
    if (handle) {
        api_lock();
        module_add_function((struct module *)handle, host_function, device_name);
        api_unlock();
    }
}

EXPORTED void __cudaRegisterVar(void **handle, char *host_variable, char *device_address, const char *device_name,
                                int external, size_t size, int constant, int global) {
    (void)device_address;
    (void)external;
    (void)constant;
    (void)global;
    if (handle) {
        api_lock();
        module_add_variable((struct module *)handle, host_variable, device_name, size);
        api_unlock();
    }
}

EXPORTED void __cudaRegisterManagedVar(void **handle, void **host_pointer, char *device_address,
                                       const char *device_name, int external, size_t size, int constant, int global) {
    (void)device_address;
    (void)external;
    (void)constant;
    (void)global;
    if (handle) {
        api_lock();
        module_add_managed((struct module *)handle, host_pointer, device_name, size);
        api_unlock();
    }
}

// nvcc's code calls it before the first access to a __managed__ variable and before the first launch.
EXPORTED char __cudaInitModule(void **handle) {
    if (api_enter(__func__) == cudaSuccess && handle)
        module_initialise_managed((struct module *)handle);
    api_unlock();
    return 1;
}
