// PTX written in a test: parsed and linked, or the test fails with the front end's own words.
#ifndef TESTS_SIMULATOR_PTX_TEXT_H
#define TESTS_SIMULATOR_PTX_TEXT_H

#include "ptx/program.h"

// A module with one kernel `k` around that body, after the declarations.
char *kernel_text(const char *declarations, const char *parameters, const char *body);

struct ptx_module *parse_text(const char *text);
struct ptx_kernel *link_text(const struct ptx_module *module, const char *name);

// The error that parsing text, or else linking its kernel `k`, ends with; "" where there is none.
const char *error_of(const char *text);

#endif
