#include "exec_driver.h"

#include "machine/report.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char findings[1 << 16];

static void fail(const char *what, const char *detail) {
    fprintf(stderr, "driver: %s: %s\n", what, detail);
    exit(2);
}

static char *read_file(const char *path, size_t *length) {
    FILE *file = fopen(path, "rb");
    if (!file)
        fail("cannot open", path);
    fseek(file, 0, SEEK_END);
    *length = (size_t)ftell(file);
    rewind(file);
    char *text = malloc(*length + 1);
    if (!text || fread(text, 1, *length, file) != *length)
        fail("cannot read", path);
    fclose(file);
    return text;
}

static void place_variable(struct driver *driver, int i) {
    const struct ptx_variable *variable = &driver->module->variable[i];
    if (variable->space != PTX_GLOBAL && variable->space != PTX_CONST)
        return;
    bool constant = variable->space == PTX_CONST;
    struct sim_allocation *allocation =
        sim_memory_allocate(variable->size ? variable->size : 1,
                            constant ? SIM_ALLOCATION_CONST_VARIABLE : SIM_ALLOCATION_GLOBAL_VARIABLE, variable->name);
    if (variable->init)
        memcpy(allocation->bytes, variable->init, variable->size);
    sim_memory_mark_written(allocation, 0, allocation->size);
    driver->variable_address[i] = allocation->address;
}

struct driver *driver_load(const char *path) {
    char error[512];
    size_t length;
    char *text = read_file(path, &length);
    struct driver *driver = calloc(1, sizeof *driver);
    driver->module = ptx_parse(text, length, error, sizeof error);
    free(text);
    if (!driver->module)
        fail(path, error);
    driver->variable_address = calloc((size_t)driver->module->variables + 1, sizeof *driver->variable_address);
    for (int i = 0; i < driver->module->variables; i++)
        place_variable(driver, i);
    return driver;
}

void driver_unload(struct driver *driver) {
    for (int i = 0; i < driver->module->variables; i++)
        if (driver->variable_address[i])
            sim_memory_free(driver->variable_address[i]);
    ptx_free_module(driver->module);
    free(driver->variable_address);
    free(driver);
}

static const char *find_entry(const struct driver *driver, const char *name) {
    for (int i = 0;; i++) {
        const char *entry = ptx_entry_name(driver->module, i);
        if (!entry)
            fail("no such kernel", name);
        const char *found = strstr(entry, name);
        size_t length = strlen(name);
        // In a mangled name the plain name follows its length.
        char digits[16];
        int width = snprintf(digits, sizeof digits, "%zu", length);
        if (strcmp(entry, name) == 0 ||
            (found && found - entry >= width && strncmp(found - width, digits, (size_t)width) == 0))
            return entry;
    }
}

static void begin_capture(int *saved, FILE **file) {
    fflush(stderr);
    *saved = dup(2);
    *file = tmpfile();
    dup2(fileno(*file), 2);
}

static void end_capture(int saved, FILE *file) {
    fflush(stderr);
    dup2(saved, 2);
    close(saved);
    rewind(file);
    size_t length = fread(findings, 1, sizeof findings - 1, file);
    findings[length] = 0;
    fclose(file);
}

enum sim_status driver_run(struct driver *driver, const char *name, unsigned grid, unsigned block, size_t shared,
                           int parameters, const uint64_t *parameter, struct sim_counts *counts) {
    static const struct sim_device device = {.name = "test", .compute_capability = 90, .sms = 132};
    char error[1024];
    uint8_t block_of_parameters[4096] = {0};
    const char *entry = find_entry(driver, name);
    struct ptx_kernel *ptx = ptx_link_kernel(driver->module, entry, error, sizeof error);
    if (!ptx)
        fail(entry, error);
    struct sim_kernel *kernel = sim_kernel_bind(ptx, driver->variable_address, error, sizeof error);
    if (!kernel)
        fail(entry, error);
    for (int i = 0; i < parameters && i < ptx->params; i++) {
        memcpy(block_of_parameters + ptx->param[i].offset, &parameter[i],
               ptx->param[i].size < 8 ? ptx->param[i].size : 8);
    }
    struct sim_launch launch = {
        .kernel = kernel,
        .grid = {grid, 1, 1},
        .block = {block, 1, 1},
        .dynamic_shared_bytes = shared,
        .parameters = block_of_parameters,
        .device = &device,
        .resident_blocks = driver->resident_blocks,
    };
    int saved;
    FILE *file;
    begin_capture(&saved, &file);
    enum sim_status status = sim_launch_run(&launch, counts);
    end_capture(saved, file);
    sim_kernel_free(kernel);
    ptx_free_kernel(ptx);
    return status;
}

uint64_t driver_variable(const struct driver *driver, const char *name) {
    for (int i = 0; i < driver->module->variables; i++)
        if (strcmp(driver->module->variable[i].name, name) == 0)
            return driver->variable_address[i];
    fail("no such variable", name);
    return 0;
}

uint64_t driver_alloc(size_t bytes) {
    struct sim_allocation *allocation = sim_memory_allocate(bytes, SIM_ALLOCATION_HEAP, NULL);
    if (!allocation)
        fail("cannot allocate", "device memory");
    return allocation->address;
}

uint64_t driver_upload(const void *from, size_t bytes) {
    uint64_t address = driver_alloc(bytes);
    struct sim_allocation *allocation = sim_memory_find(address, bytes);
    memcpy(allocation->bytes, from, bytes);
    sim_memory_mark_written(allocation, 0, bytes);
    return address;
}

void driver_download(void *to, uint64_t address, size_t bytes) {
    memcpy(to, sim_memory_find(address, bytes)->bytes, bytes);
}

void driver_free(uint64_t address) {
    sim_memory_free(address);
}

const char *driver_findings(void) {
    return findings;
}
