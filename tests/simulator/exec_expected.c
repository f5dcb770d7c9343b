#include "exec_expected.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct driver *driver;
static char source[64];

struct driver *expected_load(const char *name) {
    char ptx[64];
    setenv("SIMULATOR_INSTRUCTION_LIMIT", "500000", 1);
    snprintf(source, sizeof source, "tests/simulator/%s.cu", name);
    snprintf(ptx, sizeof ptx, "build/exec/%s.ptx", name);
    return driver = driver_load(ptx);
}

void expected_unload(void) {
    driver_unload(driver);
}

int line_of(const char *kernel, const char *mark) {
    char line[512], comment[128];
    FILE *file = fopen(source, "r");
    assert_non_null(file);
    snprintf(comment, sizeof comment, "// %s %s", kernel, mark);
    for (int number = 1; fgets(line, sizeof line, file); number++) {
        const char *found = strstr(line, comment);
        if (found && strchr(" \n", found[strlen(comment)])) {
            fclose(file);
            return number;
        }
    }
    fclose(file);
    fail_msg("no line of %s has the comment \"%s\"", source, comment);
    return 0;
}

void must_mention(const char *kernel, const char *words) {
    if (!strstr(driver_findings(), words))
        fail_msg("%s: \"%s\" is not in what was found:\n%s", kernel, words, driver_findings());
}

static void must_name(const char *kernel, const char *mark) {
    char place[128];
    snprintf(place, sizeof place, "%s:%d", strrchr(source, '/') + 1, line_of(kernel, mark));
    must_mention(kernel, place);
}

uint64_t expected_zeros(void) {
    static const float zero[EXPECTED_FLOATS];
    return driver_upload(zero, sizeof zero);
}

enum sim_status expected_run(const struct expected_launch *launch) {
    return driver_run(driver, launch->kernel, launch->grid, launch->block, 0, launch->parameters, launch->parameter,
                      NULL);
}

static void must_be_golden(const char *kernel) {
    FILE *golden = popen("tests/simulator/golden", "w");
    assert_non_null(golden);
    fputs(driver_findings(), golden);
    if (pclose(golden) != 0)
        fail_msg("%s: a message is not in tests/simulator/findings.golden", kernel);
}

void must_be_silent(const struct expected_launch *launch) {
    enum sim_status status = expected_run(launch);
    if (status != SIM_OK || driver_findings()[0])
        fail_msg("%s: status %d, found:\n%s", launch->kernel, status, driver_findings());
}

void must_find(const struct expected_launch *launch, enum sim_status expected, const char *code, bool two_lines) {
    enum sim_status status = expected_run(launch);
    if (status != expected)
        fail_msg("%s: status %d where %d is meant, found:\n%s", launch->kernel, status, expected, driver_findings());
    must_mention(launch->kernel, code);
    must_be_golden(launch->kernel);
    must_name(launch->kernel, "here");
    if (two_lines)
        must_name(launch->kernel, "there");
    must_mention(launch->kernel, "Usual cause: ");
}
