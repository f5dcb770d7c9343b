// Parses and links PTX of a test, which fails with the front end's message if that is not possible.
#ifndef TESTS_SIMULATOR_PTX_TEXT_H
#define TESTS_SIMULATOR_PTX_TEXT_H

#include "ptx/program.h"

// The text of a module with the declarations and one kernel `k` with that body.
char *kernel_text(const char *declarations, const char *parameters, const char *body);

struct ptx_module *parse_text(const char *text);
struct ptx_kernel *link_text(const struct ptx_module *module, const char *name);

// The error message of parsing text or of linking its kernel `k`; "" without an error.
const char *error_of(const char *text);

#endif
