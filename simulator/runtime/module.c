// Modules: see module.h. Loading a module does the work of the CUDA driver for a cubin: it reads the code, allocates
// device memory for each variable, and stores initial values with relocated addresses.
#include "module.h"
#include "../fatbin/fatbin.h"
#include "../machine/kernel_name.h"
#include "device.h"
#include "registers.h"

#include <stdlib.h>
#include <string.h>

struct module {
    const void *fatbin_wrapper; // in the program's own memory
    struct ptx_module *code;    // NULL until the module is loaded
    uint64_t *address;          // [code->variables] device addresses; 0 for shared variables
    struct function *functions;
    struct variable *variables;
    struct module *next;
    struct module
        *on[SIM_DEVICES]; // of a registered module, the instance of each device; [0]: itself. NULL: not used yet
};

static struct module *modules;

struct module *module_register(const void *fatbin_wrapper) {
    struct module *module = calloc(1, sizeof *module);
    if (module) {
        module->fatbin_wrapper = fatbin_wrapper;
        module->on[0] = module;
        module->next = modules;
        modules = module;
    }
    return module;
}

static void free_function(struct function *function) {
    free(function->name);
    free(function->plain_name);
    free(function);
}

void module_add_function(struct module *module, const void *host, const char *name) {
    struct function *function = calloc(1, sizeof *function);
    if (!function)
        return;
    size_t length;
    const char *plain = kernel_plain_name(name, &length);
    function->name = strdup(name);
    function->plain_name = strndup(plain, length);
    if (!function->name || !function->plain_name) {
        free_function(function);
        return;
    }
    function->host = host;
    function->module = module;
    function->next = module->functions;
    module->functions = function;
}

static struct variable *add_variable(struct module *module, const char *name, size_t size) {
    struct variable *variable = calloc(1, sizeof *variable);
    if (!variable || !(variable->name = strdup(name))) {
        free(variable);
        return NULL;
    }
    variable->size = size;
    variable->module = module;
    variable->next = module->variables;
    module->variables = variable;
    return variable;
}

void module_add_variable(struct module *module, const void *host, const char *name, size_t size) {
    struct variable *variable = add_variable(module, name, size);
    if (variable)
        variable->host = host;
}

void module_add_managed(struct module *module, void **host_pointer, const char *name, size_t size) {
    struct variable *variable = add_variable(module, name, size);
    if (variable && (variable->managed = sim_memory_allocate(size, SIM_ALLOCATION_HOST, NULL))) {
        *host_pointer = variable->managed->bytes;
        variable->host = *host_pointer;
    }
}

// The module's instance on the calling thread's device; NULL: out of host memory.
static struct module *instance(struct module *module) {
    struct module **on = &module->on[device_ordinal()];
    if (*on || !(*on = calloc(1, sizeof **on)))
        return *on;
    (*on)->fatbin_wrapper = module->fatbin_wrapper;
    for (const struct function *function = module->functions; function; function = function->next)
        module_add_function(*on, function->host, function->name);
    for (const struct variable *variable = module->variables; variable; variable = variable->next) {
        struct variable *added = add_variable(*on, variable->name, variable->size);
        if (added) {
            added->host = variable->host;
            added->managed = variable->managed;
        }
    }
    return *on;
}

static struct function *function_named(const struct module *module, const char *name) {
    for (struct function *function = module && name ? module->functions : NULL; function; function = function->next)
        if (strcmp(function->name, name) == 0)
            return function;
    return NULL;
}

// The registered function; a handle may be of any instance.
static const struct function *registered_function(const struct module *module, const void *host_or_handle) {
    for (const struct function *function = module->functions; function; function = function->next) {
        if (function->host == host_or_handle)
            return function;
        for (int i = 0; i < SIM_DEVICES; i++)
            if (module->on[i] && function_named(module->on[i], function->name) == host_or_handle)
                return function;
    }
    return NULL;
}

cudaError_t function_find(const void *host_or_handle, struct function **found) {
    for (struct module *module = modules; module; module = module->next) {
        const struct function *function = registered_function(module, host_or_handle);
        if (function) {
            *found = function_named(instance(module), function->name);
            return *found ? cudaSuccess : api_error(cudaErrorMemoryAllocation, "out of host memory");
        }
    }
    *found = NULL;
    // Measured with CUDA 13.0, which treats an unknown address as a kernel handle; CUDA 12 may return
    // cudaErrorInvalidDeviceFunction.
    return api_error(cudaErrorInvalidResourceHandle, "%p is not a kernel of the program", host_or_handle);
}

struct function *function_at_address(const struct function *of, uint64_t address) {
    return function_named(of->module, ptx_function_name(of->module->code, address));
}

static struct variable *variable_of(const struct module *module, const void *host) {
    for (struct variable *variable = module ? module->variables : NULL; variable; variable = variable->next)
        if (variable->host == host)
            return variable;
    return NULL;
}

struct variable *variable_find(const void *host) {
    for (struct module *module = modules; module; module = module->next)
        if (variable_of(module, host))
            return variable_of(instance(module), host);
    return NULL;
}

// The memory of a __managed__ variable; NULL for any other variable.
static struct sim_allocation *find_managed(const struct module *module, const char *name) {
    for (const struct variable *variable = module->variables; variable; variable = variable->next)
        if (variable->managed && strcmp(variable->name, name) == 0)
            return variable->managed;
    return NULL;
}

static void unload(struct module *module) {
    for (struct function *function = module->functions; function; function = function->next) {
        if (function->kernel) {
            sim_kernel_free(function->bound);
            ptx_free_kernel(function->kernel);
            function->bound = NULL;
            function->kernel = NULL;
        }
    }
    if (module->code) {
        for (int i = 0; i < module->code->variables; i++)
            if (module->address[i] != 0 && !find_managed(module, module->code->variable[i].name))
                sim_memory_free(module->address[i]);
        free(module->address);
        ptx_free_module(module->code);
        module->address = NULL;
        module->code = NULL;
    }
}

void module_unload_all(void) {
    for (struct module *module = modules; module; module = module->next)
        for (int i = 0; i < SIM_DEVICES; i++)
            if (module->on[i])
                unload(module->on[i]);
}

// own_managed: the memory of its managed variables is freed, too.
static void free_module(struct module *module, bool own_managed) {
    unload(module);
    while (module->functions) {
        struct function *function = module->functions;
        module->functions = function->next;
        free_function(function);
    }
    while (module->variables) {
        struct variable *variable = module->variables;
        module->variables = variable->next;
        if (variable->managed && own_managed)
            sim_memory_free(variable->managed->address);
        free(variable->name);
        free(variable);
    }
    free(module);
}

void module_unregister(struct module *module) {
    struct module **link = &modules;
    while (*link && *link != module)
        link = &(*link)->next;
    if (!*link)
        return;
    *link = module->next;
    for (int i = 1; i < SIM_DEVICES; i++)
        if (module->on[i])
            free_module(module->on[i], false);
    free_module(module, true);
}

static bool has_device_address(const struct ptx_variable *variable) {
    return variable->space == PTX_GLOBAL || variable->space == PTX_CONST;
}

static cudaError_t allocate_variable(const struct module *module, const struct ptx_variable *variable,
                                     uint64_t *address) {
    enum sim_allocation_kind kind =
        variable->space == PTX_CONST ? SIM_ALLOCATION_CONST_VARIABLE : SIM_ALLOCATION_GLOBAL_VARIABLE;
    struct sim_allocation *managed = find_managed(module, variable->name);
    struct sim_allocation *allocation = managed ? managed : sim_memory_allocate(variable->size, kind, variable->name);
    if (!allocation || allocation->size < variable->size) {
        return api_error(cudaErrorMemoryAllocation, "out of memory for the %zu bytes of device variable %s",
                         variable->size, variable->name);
    }
    // A variable without an initializer is 0, as in C.
    if (variable->init)
        memcpy(allocation->bytes, variable->init, variable->size);
    sim_memory_mark_written(allocation, 0, variable->size);
    *address = allocation->address;
    return cudaSuccess;
}

// Initializers may contain addresses of other variables, which are known only after all variables are allocated.
static cudaError_t relocate(const struct module *module, int index) {
    const struct ptx_variable *variable = &module->code->variable[index];
    for (int i = 0; i < variable->relocations; i++) {
        const struct ptx_relocation *relocation = &variable->relocation[i];
        const uint64_t target = module->address[relocation->variable] + (uint64_t)relocation->addend;
        const uint64_t bits = target >> relocation->shift;
        const size_t bytes = (size_t)relocation->bytes;
        struct sim_allocation *at = sim_memory_find(module->address[index] + relocation->offset, bytes);
        if (!at) {
            return api_error(cudaErrorInvalidPtx, "the initializer of %s has a relocation past its end",
                             variable->name);
        }
        memcpy(at->bytes + relocation->offset, &bits, bytes); // the low bytes: the host is little-endian
    }
    return cudaSuccess;
}

static cudaError_t allocate_variables(struct module *module) {
    const struct ptx_module *code = module->code;
    module->address = calloc((size_t)code->variables + 1, sizeof *module->address);
    if (!module->address)
        return api_error(cudaErrorMemoryAllocation, "out of host memory");
    cudaError_t error = cudaSuccess;
    for (int i = 0; i < code->variables && error == cudaSuccess; i++) {
        const struct ptx_variable *variable = &code->variable[i];
        if (!has_device_address(variable))
            continue;
        if (variable->external) {
            return api_error(cudaErrorNotSupported,
                             "device variable %s is undefined; a variable of another file needs nvcc -rdc=true",
                             variable->name);
        }
        if (variable->size > 0)
            error = allocate_variable(module, variable, &module->address[i]);
    }
    for (int i = 0; i < code->variables && error == cudaSuccess; i++)
        error = relocate(module, i);
    return error;
}

static cudaError_t read_fat_binary(struct module *module) {
    char text[512];
    struct fatbin_ptx ptx;
    if (!fatbin_read_wrapper(module->fatbin_wrapper, device_current()->simulated.compute_capability, &ptx, text,
                             sizeof text))
        return api_error(cudaErrorNoKernelImageForDevice, "%s", text);
    module->code = ptx_parse(ptx.text, ptx.length, text, sizeof text);
    fatbin_free(&ptx);
    return module->code ? cudaSuccess : api_error(cudaErrorInvalidPtx, "%s", text);
}

// Reads the object files of a program that was linked with -rdc=true. It skips files without PTX for this device if
// others have some: those of NVIDIA's device runtime, which the simulator implements itself.
static cudaError_t read_linked(struct module *module) {
    const void *const *parts = fatbin_members(module->fatbin_wrapper);
    int count = 0, read = 0;
    char text[512] = "the program has no device code";
    while (parts[count])
        count++;
    struct fatbin_ptx *ptx = calloc((size_t)count + 1, sizeof *ptx);
    struct ptx_text *texts = calloc((size_t)count + 1, sizeof *texts);
    for (int i = 0; ptx && texts && i < count; i++) {
        if (fatbin_read_member(parts[i], device_current()->simulated.compute_capability, &ptx[read], text,
                               sizeof text)) {
            texts[read] = (struct ptx_text){ptx[read].text, ptx[read].length};
            read++;
        }
    }
    cudaError_t error = cudaErrorNoKernelImageForDevice;
    if (read > 0) {
        module->code = ptx_parse_linked(texts, read, text, sizeof text);
        error = module->code ? cudaSuccess : cudaErrorInvalidPtx;
    }
    for (int i = 0; i < read; i++)
        fatbin_free(&ptx[i]);
    free(ptx);
    free(texts);
    return error == cudaSuccess ? error : api_error(error, "%s", text);
}

static cudaError_t load(struct module *module) {
    if (module->code)
        return cudaSuccess;
    cudaError_t error = fatbin_members(module->fatbin_wrapper) ? read_linked(module) : read_fat_binary(module);
    if (error == cudaSuccess)
        error = allocate_variables(module);
    if (error != cudaSuccess)
        unload(module);
    return error;
}

void module_initialise_managed(struct module *module) {
    for (const struct variable *variable = module->variables; variable; variable = variable->next) {
        if (variable->managed) {
            load(module);
            return;
        }
    }
}

static bool has_kernel(const struct ptx_module *code, const char *name) {
    const char *entry;
    for (int i = 0; (entry = ptx_entry_name(code, i)); i++)
        if (strcmp(entry, name) == 0)
            return true;
    return false;
}

static cudaError_t link_and_bind(struct function *function) {
    const struct module *module = function->module;
    const struct sim_device *gpu = &device_current()->simulated;
    char text[512];
    struct ptx_kernel *kernel = ptx_link_kernel(module->code, function->name, text, sizeof text);
    if (!kernel)
        return api_error(cudaErrorNotSupported, "%s", text);
    cudaError_t error = cudaSuccess;
    struct sim_kernel *bound = NULL;
    if (kernel->static_shared_bytes > gpu->shared_per_block) {
        error = api_error(cudaErrorInvalidPtx,
                          "kernel %s declares %zu bytes of static shared memory; the limit is %zu: use dynamic shared "
                          "memory (extern __shared__) and cudaFuncSetAttribute",
                          function->plain_name, kernel->static_shared_bytes, gpu->shared_per_block);
    } else if (!(bound = sim_kernel_bind(kernel, module->address, text, sizeof text))) {
        error = api_error(cudaErrorNotSupported, "%s", text);
    }
    if (error != cudaSuccess) {
        ptx_free_kernel(kernel);
        return error;
    }
    function->kernel = kernel;
    function->bound = bound;
    function->registers = ptxas_registers(function->host, function->name, gpu->compute_capability);
    sim_kernel_registers(bound, function->registers);
    function->max_dynamic_shared = gpu->shared_per_block - kernel->static_shared_bytes;
    return cudaSuccess;
}

cudaError_t function_find_loaded(const void *host_or_handle, struct function **function) {
    cudaError_t error = function_find(host_or_handle, function);
    if (error != cudaSuccess || (*function)->kernel)
        return error;
    error = load((*function)->module);
    if (error != cudaSuccess)
        return error;
    if (!has_kernel((*function)->module->code, (*function)->name))
        return api_error(cudaErrorInvalidDeviceFunction, "the program's PTX has no kernel %s", (*function)->plain_name);
    return link_and_bind(*function);
}

cudaError_t variable_address(struct variable *variable, uint64_t *address) {
    cudaError_t error = load(variable->module);
    if (error != cudaSuccess)
        return error;
    const struct ptx_module *code = variable->module->code;
    for (int i = 0; i < code->variables; i++) {
        if (has_device_address(&code->variable[i]) && strcmp(code->variable[i].name, variable->name) == 0) {
            *address = variable->module->address[i];
            return cudaSuccess;
        }
    }
    return api_error(cudaErrorInvalidSymbol, "the program's PTX has no variable %s", variable->name);
}

size_t module_const_bytes(const struct module *module) {
    size_t bytes = 0;
    for (int i = 0; module->code && i < module->code->variables; i++) {
        const struct ptx_variable *variable = &module->code->variable[i];
        bytes += variable->space == PTX_CONST ? variable->size : 0;
    }
    return bytes;
}
