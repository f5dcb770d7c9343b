// Kernels that run on the interpreter alone and the findings that are expected of them: for tests of the analyses.
#ifndef TESTS_SIMULATOR_EXEC_EXPECTED_H
#define TESTS_SIMULATOR_EXEC_EXPECTED_H

#include "exec_driver.h"

#include <stdbool.h>

// Loads the kernels of build/exec/NAME.ptx; findings name tests/simulator/NAME.cu.
struct driver *expected_load(const char *name);
void expected_unload(void);

// Allocates a zeroed buffer of this many floats.
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

// The output of the last launch has to contain the words.
void must_mention(const char *kernel, const char *words);

// The launch succeeds and nothing is found; it ends with this status and a finding with this code, for example
// "[block-race]", that names the line marked "here" and, with two_lines, "there".
void must_be_silent(const struct expected_launch *launch);
void must_find(const struct expected_launch *launch, enum sim_status expected, const char *code, bool two_lines);

#endif
