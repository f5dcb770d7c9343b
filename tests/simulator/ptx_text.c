#include "ptx_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

char *kernel_text(const char *declarations, const char *parameters, const char *body) {
    static const char format[] = ".version 8.0\n.target sm_90\n.address_size 64\n%s\n.entry k(%s)\n{\n%s\n}\n";
    size_t size = sizeof format + strlen(declarations) + strlen(parameters) + strlen(body);
    char *text = malloc(size);
    assert_non_null(text);
    snprintf(text, size, format, declarations, parameters, body);
    return text;
}

struct ptx_module *parse_text(const char *text) {
    char error[512] = "";
    struct ptx_module *module = ptx_parse(text, strlen(text), error, sizeof error);
    if (!module)
        fail_msg("%s", error);
    return module;
}

struct ptx_kernel *link_text(const struct ptx_module *module, const char *name) {
    char error[512] = "";
    struct ptx_kernel *kernel = ptx_link_kernel(module, name, error, sizeof error);
    if (!kernel)
        fail_msg("%s", error);
    return kernel;
}

const char *error_of(const char *text) {
    static char error[512];
    error[0] = 0;
    struct ptx_module *module = ptx_parse(text, strlen(text), error, sizeof error);
    ptx_free_kernel(module ? ptx_link_kernel(module, "k", error, sizeof error) : NULL);
    ptx_free_module(module);
    return error;
}
