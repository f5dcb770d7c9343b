// Prints the linked kernels of a PTX file: ptx-dump FILE [KERNEL]; or the parse time in milliseconds of CPU time, with
// the time to sort its lines for comparison: ptx-dump --time FILE. FILE may also be a kernel's shared library.
#include "fatbin/fatbin.h"
#include "ptx/program.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *const TYPES[] = {"",       "pred", "b8",  "b16", "b32",   "b64",   "b128", "u8",    "u16",
                                    "u32",    "u64",  "s8",  "s16", "s32",   "s64",   "f16",  "f16x2", "bf16",
                                    "bf16x2", "tf32", "f32", "f64", "u16x2", "s16x2", "f32x2"};
static const char *const SPACES[] = {"generic", "param", "local", "shared", "const", "global", "call-param"};

static void print_operand(const struct ptx_kernel *kernel, const struct ptx_operand *operand) {
    switch (operand->kind) {
    case PTX_OPERAND_NONE:
        printf(" -");
        break;
    case PTX_OPERAND_REGISTER:
        printf(" %s%s@%d", operand->negated ? "!" : "", TYPES[operand->reg_type], operand->slot);
        break;
    case PTX_OPERAND_IMMEDIATE:
        printf(" 0x%" PRIx64, operand->bits);
        break;
    case PTX_OPERAND_SPECIAL:
        printf(" special:%d", operand->special);
        break;
    case PTX_OPERAND_ADDRESS:
        printf(" %s[", SPACES[operand->space]);
        if (operand->slot >= 0)
            printf("%s@%d", TYPES[operand->reg_type], operand->slot);
        if (operand->variable >= 0)
            printf("&%s", kernel->module->variable[operand->variable].name);
        printf("%+" PRId64, operand->offset);
        for (int i = 0; i < operand->count; i++)
            print_operand(kernel, &operand->elements[i]);
        printf("]");
        break;
    case PTX_OPERAND_TARGET:
        printf(" ->%d", operand->target);
        break;
    case PTX_OPERAND_FUNCTION:
        if (operand->target >= 0)
            printf(" %s()", kernel->function[operand->target].name);
        else
            printf(" builtin:%d", operand->builtin);
        break;
    case PTX_OPERAND_VECTOR:
        printf(" {");
        for (int i = 0; i < operand->count; i++)
            print_operand(kernel, &operand->elements[i]);
        printf(" }");
        break;
    case PTX_OPERAND_SINK:
        printf(" _");
        break;
    }
}

static void print_instruction(const struct ptx_kernel *kernel, int index) {
    const struct ptx_instruction *instruction = &kernel->instruction[index];
    const struct ptx_location *location = &kernel->module->location[instruction->location];
    const char *file = strrchr(kernel->module->file[location->file], '/');
    printf("%6d  %s:%d\t%s", index, file ? file + 1 : kernel->module->file[location->file], location->line,
           ptx_opcode_name(instruction->opcode));
    if (instruction->type)
        printf(" %s", TYPES[instruction->type]);
    if (instruction->source_type != instruction->type)
        printf(" %s", TYPES[instruction->source_type]);
    if (instruction->guard >= 0)
        printf(" if %s@%d", instruction->guard_negated ? "!" : "", instruction->guard);
    for (int i = 0; i < 2; i++)
        if (instruction->dst[i].kind != PTX_OPERAND_NONE)
            print_operand(kernel, &instruction->dst[i]);
    printf(instruction->nsrc ? " <-" : "");
    for (int i = 0; i < instruction->nsrc; i++)
        print_operand(kernel, &instruction->src[i]);
    printf("\t; %s\n", instruction->text);
}

static void print_kernel(const struct ptx_kernel *kernel) {
    printf(
        "kernel %s: %d instructions, %zu parameter bytes, %zu static shared, %zu local, %zu call-param, %zu register "
        "bytes a warp\n",
        kernel->name, kernel->instructions, kernel->param_bytes, kernel->static_shared_bytes, kernel->local_bytes,
        kernel->call_param_bytes, kernel->register_bytes);
    for (int i = 0; i < kernel->functions; i++) {
        const struct ptx_frame *frame = &kernel->function[i];
        printf("function %s: registers at %d, %d bytes; local at %d, %d bytes; call base %d%s\n", frame->name,
               frame->register_base, frame->frame_bytes, frame->local_base, frame->local_bytes, frame->call_base,
               frame->recursive ? "; recursive" : "");
        for (int j = 0; j < frame->params; j++)
            printf("    parameter %s: offset %zu, %zu bytes\n", frame->param[j].name, frame->param[j].offset,
                   frame->param[j].size);
        for (int j = frame->entry; j < frame->entry + frame->instructions; j++)
            print_instruction(kernel, j);
    }
}

static char *read_file(const char *path, size_t *length) {
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    size_t capacity = 0;
    *length = 0;
    while (file && !feof(file) && !ferror(file)) {
        if (*length == capacity) {
            capacity = capacity ? 2 * capacity : 65536;
            char *larger = realloc(text, capacity);
            if (!larger)
                break;
            text = larger;
        }
        *length += fread(text + *length, 1, capacity - *length, file);
    }
    if (!file || ferror(file))
        perror(path);
    if (file)
        fclose(file);
    return text;
}

// Replaces a shared library by its PTX for compute capability 9.0: that of the first fat binary with any, because nvcc
// adds a fat binary of the device linker.
static char *extract_ptx(char *library, size_t *length) {
    static const unsigned char MAGIC[] = {0x50, 0xED, 0x55, 0xBA};
    char error[1024] = "no fat binary is in it";
    struct fatbin_ptx ptx = {0};
    char *end = library + *length;
    char *found = library;
    while (!ptx.text && (found = memmem(found, (size_t)(end - found), MAGIC, sizeof MAGIC))) {
        fatbin_read(found, (size_t)(end - found), 90, &ptx, error, sizeof error);
        found += sizeof MAGIC;
    }
    if (!ptx.text)
        fprintf(stderr, "%s\n", error);
    free(library);
    *length = ptx.length;
    return ptx.text;
}

static int compare_lines(const void *left, const void *right) {
    const char *a = *(const char *const *)left, *b = *(const char *const *)right;
    while (*a == *b && *a && *a != '\n')
        a++, b++;
    return (*a > *b) - (*a < *b);
}

// Sorts the text's lines and returns their number. Its time measures the current speed of this machine, because
// sorting, like parsing, is made of branches and reads from all over the text.
static int sort_lines(const char *text, size_t length) {
    int lines = 0;
    const char **line = malloc((length + 1) * sizeof *line);
    if (!line)
        return 0;
    for (const char *c = text; c < text + length; c = strchrnul(c, '\n') + 1)
        line[lines++] = c;
    qsort(line, (size_t)lines, sizeof *line, compare_lines);
    free(line);
    return lines;
}

static double milliseconds(void) {
    return 1e3 * (double)clock() / CLOCKS_PER_SEC;
}

// Links each kernel of the module, or the one named `only`. Returns the number of kernels that could not be linked.
static int link_kernels(const struct ptx_module *module, const char *only, bool print) {
    char error[1024];
    const char *name;
    int failed = 0;
    for (int i = 0; (name = ptx_entry_name(module, i)); i++) {
        if (only && strcmp(only, name) != 0)
            continue;
        struct ptx_kernel *kernel = ptx_link_kernel(module, name, error, sizeof error);
        if (kernel && print)
            print_kernel(kernel);
        if (!kernel)
            fprintf(stderr, "%s: %s\n", name, error);
        failed += !kernel;
        ptx_free_kernel(kernel);
    }
    return failed;
}

int main(int argc, char **argv) {
    char error[1024];
    size_t length;
    bool timed = argc > 1 && strcmp(argv[1], "--time") == 0;
    if (argc < 2 + timed) {
        fprintf(stderr, "usage: ptx-dump FILE [KERNEL], ptx-dump --time FILE\n");
        return 2;
    }
    char *text = read_file(argv[1 + timed], &length);
    if (text && length > 4 && memcmp(text, "\177ELF", 4) == 0)
        text = extract_ptx(text, &length);
    double start = milliseconds();
    struct ptx_module *module = text ? ptx_parse(text, length, error, sizeof error) : NULL;
    double parsed = milliseconds();
    if (text && !module)
        fprintf(stderr, "%s\n", error);
    int failed = module ? link_kernels(module, !timed && argc > 2 ? argv[2] : NULL, !timed) : 0;
    double linked = milliseconds();
    if (module && timed) {
        int lines = sort_lines(text, length);
        printf("%.1f to parse, %.1f to link all kernels, %.1f to sort the lines, %d lines\n", parsed - start,
               linked - parsed, milliseconds() - linked, lines);
    }
    ptx_free_module(module);
    free(text);
    return !module ? 2 : failed > 0;
}
