#include "runner/names.h"

#include "runner/device.h"

#include "layout.h"
#include "shared.h"
#include "simulator.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct kernel_argument *named;

// The structure that was asked for last.
static struct {
    char kernel[1024];
    size_t bytes;
    bool found;
    struct shared_layout layout;
} last;

static const struct shared_layout *layout_of(const char *kernel, size_t bytes) {
    if (strcmp(last.kernel, kernel) || last.bytes != bytes) {
        const char *folder = getenv("TMPDIR");
        char scratch[256];
        snprintf(scratch, sizeof scratch, "%.200s/layout-%d", folder && *folder ? folder : "/tmp", (int)getpid());
        snprintf(last.kernel, sizeof last.kernel, "%s", kernel);
        last.bytes = bytes;
        last.found = layout_read(named->library, scratch, kernel, (int64_t)bytes, &last.layout);
    }
    return last.found ? &last.layout : NULL;
}

// "name[3][17]": an element of an array whose inner dimensions are known; the first one may be 0.
static void name_element(const char *name, int64_t element, const int64_t *dimension, int dimensions, char *text,
                         size_t size) {
    int64_t inner = 1;
    for (int d = 1; d < dimensions; d++)
        inner *= dimension[d];
    size_t length = (size_t)snprintf(text, size, "%s", name);
    for (int d = 0; d < dimensions && length < size; d++) {
        length += (size_t)snprintf(text + length, size - length, "[%lld]", (long long)(element / inner));
        element %= inner;
        inner /= d + 1 < dimensions ? dimension[d + 1] : 1;
    }
}

static bool name_member(const char *kernel, size_t bytes, size_t offset, char *text, size_t size) {
    const struct shared_layout *layout = layout_of(kernel, bytes);
    for (int m = 0; layout && m < layout->members; m++) {
        const struct layout_member *member = &layout->member[m];
        int64_t inside = (int64_t)offset - member->offset;
        if (inside < 0 || inside >= member->bytes)
            continue;
        name_element(member->name, inside / member->element_bytes, member->dimension, member->dimensions, text, size);
        return true;
    }
    return false;
}

static bool name_variable(const char *variable, size_t offset, char *text, size_t size) {
    struct shared_declaration declaration = {.dimensions = 0};
    struct lines source;
    int64_t dimension[6];
    if (!*named->source || !lines_read(named->source, &source))
        return false;
    bool known = find_shared_declaration(variable, &source, 1, &declaration) && declaration.element_bytes;
    lines_free(&source);
    for (int d = 0; known && d < declaration.dimensions; d++) {
        dimension[d] = declaration.dimension[d];
        known = d == 0 || dimension[d] > 0;
    }
    if (known)
        name_element(variable, (int64_t)offset / declaration.element_bytes, dimension, declaration.dimensions, text,
                     size);
    else
        snprintf(text, size, "byte %zu of %s", offset, variable);
    return true;
}

static bool name(const char *kernel, const char *variable, bool dynamic, size_t bytes, size_t offset, char *text,
                 size_t size) {
    return (dynamic && name_member(kernel, bytes, offset, text, size)) || name_variable(variable, offset, text, size);
}

void names_register(const struct kernel_argument *kernel) {
    void (*register_namer)(simulator_shared_namer *) =
        (void (*)(simulator_shared_namer *))device_control_function("simulator_set_shared_namer");
    named = kernel;
    void (*once)(void) = (void (*)(void))device_control_function("simulator_print_findings_once");
    if (register_namer)
        register_namer(name);
    if (once)
        once();
    device_control_end();
}
