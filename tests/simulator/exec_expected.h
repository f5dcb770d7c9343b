// What a kernel that runs on the interpreter alone has to be told, and what it must not be: for tests of the analyses.
#ifndef TESTS_SIMULATOR_EXEC_EXPECTED_H
#define TESTS_SIMULATOR_EXEC_EXPECTED_H

#include "exec_driver.h"

#include <stdbool.h>

// Where the kernels come from, and the file name in what is found: tests/simulator/NAME.cu, build/exec/NAME.ptx.
struct driver *expected_load(const char *name);
void expected_unload(void);

// A kernel's buffers: zeroed, each of this many floats.
enum { EXPECTED_FLOATS = 1024 };
uint64_t expected_zeros(void);

struct expected_launch {
    const char *kernel;
    unsigned grid, block;
    int parameters;
    uint64_t parameter[3];
};
#define RUN(...)                                                                                                       \
    &(struct expected_launch) {                                                                                        \
        __VA_ARGS__                                                                                                    \
    }

enum sim_status expected_run(const struct expected_launch *launch);

// The line of the source that carries the comment "// kernel mark".
int line_of(const char *kernel, const char *mark);

// Of what the last launch printed.
void must_mention(const char *kernel, const char *words);

// The launch ends well and nothing is found; it ends so, with a finding of this kind that names the line marked "here"
// and, with two_lines, "there".
void must_be_silent(const struct expected_launch *launch);
void must_find(const struct expected_launch *launch, enum sim_status expected, const char *kind, bool two_lines);

#endif
