#include "element_names.h"

#include "../simulator.h"
#include "control.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TENSORS = 32, MOST_DIMENSIONS = 5 };

// The most recently described tensors; an address is reused only after a long time.
struct tensor {
    uint64_t address;
    char name[32];
    unsigned element_bytes;
    int dimensions;
    int64_t size[MOST_DIMENSIONS], stride[MOST_DIMENSIONS];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct tensor tensor[MOST_TENSORS];
static unsigned next_tensor;
static simulator_shared_namer *name_shared;

void simulator_set_shared_namer(simulator_shared_namer *namer) {
    if (control_is_open())
        name_shared = namer;
}

void element_names_describe(uint64_t address, const char *name, unsigned element_bytes, int dimensions,
                            const int64_t *size, const int64_t *stride) {
    if (dimensions > MOST_DIMENSIONS || !element_bytes)
        return;
    pthread_mutex_lock(&lock);
    unsigned i = 0;
    while (i < MOST_TENSORS && tensor[i].address != address)
        i++;
    struct tensor *new = &tensor[i < MOST_TENSORS ? i : next_tensor++ % MOST_TENSORS];
    *new = (struct tensor){.address = address, .element_bytes = element_bytes, .dimensions = dimensions};
    snprintf(new->name, sizeof new->name, "%s", name);
    for (int d = 0; d < dimensions; d++) {
        new->size[d] = size[d];
        new->stride[d] = stride[d];
    }
    pthread_mutex_unlock(&lock);
}

// The remaining dimension with the largest stride, -1 if there is none.
static int next_dimension(const struct tensor *t, unsigned done) {
    int largest = -1;
    for (int d = 0; d < t->dimensions; d++)
        if (!(done & 1u << d) && (largest < 0 || t->stride[d] > t->stride[largest] ||
                                  (t->stride[d] == t->stride[largest] && t->size[d] == 1)))
            largest = d;
    return largest;
}

// False if the offset is between the rows, or past the last one.
static bool find_element(const struct tensor *t, size_t offset, int64_t index[MOST_DIMENSIONS]) {
    int64_t left = (int64_t)(offset / t->element_bytes);
    unsigned done = 0;
    for (int d; (d = next_dimension(t, done)) >= 0; done |= 1u << d) {
        index[d] = t->stride[d] > 0 && t->size[d] > 1 ? left / t->stride[d] : 0;
        left -= index[d] * t->stride[d];
        if (index[d] >= t->size[d])
            return false;
    }
    return left == 0;
}

static bool name_element(const struct sim_allocation *allocation, size_t offset, char text[ELEMENT_NAME_TEXT]) {
    int64_t index[MOST_DIMENSIONS];
    bool known = false;
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < MOST_TENSORS && !known; i++) {
        const struct tensor *t = &tensor[i];
        // A tensor may start a few bytes after its allocation.
        if (t->address < allocation->address || t->address >= allocation->address + allocation->size ||
            allocation->address + offset < t->address)
            continue;
        if (t->dimensions == 0) { // its elements are not described
            snprintf(text, ELEMENT_NAME_TEXT, "byte %zu of %s", (size_t)(allocation->address + offset - t->address),
                     t->name);
            known = true;
            continue;
        }
        if (!find_element(t, allocation->address + offset - t->address, index))
            continue;
        int length = snprintf(text, ELEMENT_NAME_TEXT, "%s", t->name);
        for (int d = 0; d < t->dimensions; d++)
            length += snprintf(text + length, ELEMENT_NAME_TEXT - (size_t)length, "[%lld]", (long long)index[d]);
        known = true;
    }
    pthread_mutex_unlock(&lock);
    return known;
}

void element_name_global(const struct sim_allocation *allocation, size_t offset, char text[ELEMENT_NAME_TEXT]) {
    if (!allocation->name && name_element(allocation, offset, text))
        return;
    if (allocation->name)
        snprintf(text, ELEMENT_NAME_TEXT, "byte %zu of variable %.100s", offset, allocation->name);
    else
        snprintf(text, ELEMENT_NAME_TEXT, "byte %zu of allocation %u (%zu bytes)", offset, allocation->id,
                 allocation->size);
}

void element_name_allocation(const struct sim_allocation *allocation, char text[ELEMENT_NAME_TEXT]) {
    bool known = false;
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < MOST_TENSORS && !known && !allocation->name; i++) {
        known = tensor[i].address >= allocation->address && tensor[i].address < allocation->address + allocation->size;
        if (known)
            snprintf(text, ELEMENT_NAME_TEXT, "%s", tensor[i].name);
    }
    pthread_mutex_unlock(&lock);
    if (!known && allocation->name)
        snprintf(text, ELEMENT_NAME_TEXT, "variable %.60s, allocation %u of %zu bytes", allocation->name,
                 allocation->id, allocation->size);
    else if (!known)
        snprintf(text, ELEMENT_NAME_TEXT, "allocation %u of %zu bytes", allocation->id, allocation->size);
}

// The variable in shared memory that contains the byte at *offset, which becomes the offset in the variable. NULL:
// none.
static const struct ptx_variable *find_shared(const struct ptx_kernel *kernel, size_t bytes, size_t *offset,
                                              size_t *size) {
    for (int i = 0; i < kernel->module->variables; i++) {
        const struct ptx_variable *variable = &kernel->module->variable[i];
        int64_t at = variable->space == PTX_SHARED ? kernel->shared_offset[i] : -1;
        *size = variable->size ? variable->size : at >= 0 ? bytes - (size_t)at : 0;
        if (at < 0 || *offset < (size_t)at || *offset >= (size_t)at + *size)
            continue;
        *offset -= (size_t)at;
        return variable;
    }
    return NULL;
}

// Asks the program's namer.
static bool ask_name(const struct ptx_kernel *kernel, const struct ptx_variable *variable, size_t size, size_t offset,
                     char text[ELEMENT_NAME_TEXT]) {
    char name[128];
    if (!variable || !name_shared)
        return false;
    element_name_demangle(variable->name, name, sizeof name);
    pthread_mutex_lock(&lock);
    bool known = name_shared(kernel->name, name, !variable->size, size, offset, text, ELEMENT_NAME_TEXT);
    pthread_mutex_unlock(&lock);
    return known;
}

void element_name_shared(const struct ptx_kernel *kernel, size_t bytes, size_t offset, char text[ELEMENT_NAME_TEXT]) {
    size_t size, inside = offset;
    const struct ptx_variable *variable = find_shared(kernel, bytes, &inside, &size);
    if (!ask_name(kernel, variable, size, inside, text))
        snprintf(text, ELEMENT_NAME_TEXT, "byte %zu of shared memory", offset);
}

void element_name_mbarrier(const struct ptx_kernel *kernel, size_t bytes, size_t offset, char text[ELEMENT_NAME_TEXT]) {
    enum { MBARRIER = 8, MOST_OF_AN_ARRAY = 64 * MBARRIER }; // a larger variable also has other members
    size_t size, inside = offset;
    char name[128];
    const struct ptx_variable *variable = find_shared(kernel, bytes, &inside, &size);
    if (ask_name(kernel, variable, size, inside, text))
        return;
    if (variable)
        element_name_demangle(variable->name, name, sizeof name);
    if (variable && variable->size == MBARRIER)
        snprintf(text, ELEMENT_NAME_TEXT, "%s", name);
    else if (variable && variable->size && variable->size <= MOST_OF_AN_ARRAY && variable->size % MBARRIER == 0)
        snprintf(text, ELEMENT_NAME_TEXT, "%s[%zu]", name, inside / MBARRIER);
    else if (variable && variable->size)
        snprintf(text, ELEMENT_NAME_TEXT, "at byte %zu of %s", inside, name);
    else
        snprintf(text, ELEMENT_NAME_TEXT, "at byte %zu of shared memory", offset);
}

void element_name_demangle(const char *mangled, char *text, size_t size) {
    const char *name = mangled;
    size_t letters = strlen(mangled);
    for (const char *at = mangled; !strncmp(mangled, "_Z", 2) && *at; at++) {
        if (*at < '1' || *at > '9' || (at > mangled && at[-1] >= '0' && at[-1] <= '9'))
            continue;
        char *end;
        const size_t length = strtoul(at, &end, 10);
        // A second variable of the same name has the suffix "_$_0".
        if (length && length <= strlen(end) && (!end[length] || !strncmp(end + length, "_$_", 3))) {
            name = end;
            letters = length;
        }
    }
    snprintf(text, size, "%.*s", (int)(letters < size ? letters : size - 1), name);
}
