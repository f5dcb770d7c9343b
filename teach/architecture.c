// The GPUs that a kernel file supports, by its line
//     // architecture: sm_80
// which is the minimum compute capability. With the suffix a, as in sm_90a, it is the only one: architecture-specific
// features exist on no other GPU, not even on newer ones (PTX ISA, .target). Without the line any GPU is supported.
#include "commands.h"

#include "text.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum {
    SIMULATOR = 90,           // simulator/runtime/device.c
    FIRST_ARCH_SPECIFIC = 90, // nvcc does not list sm_NNa targets; they exist from 9.0 on
    MAX_KNOWN = 64,
};

// The output of find-cuda --architectures: NVCC FOLDER VERSION COMPILE_CAPABILITY GPU KNOWN...
struct toolkit {
    const char *nvcc, *version;
    int compile_capability, gpu, known[MAX_KNOWN], count; // gpu: 0 if none responds
};

struct requirement {
    int min_capability; // 0: any
    bool exact;
    bool several_gpus;    // the file includes ring.cuh: on GPUs it needs two of them, and NCCL
    struct message error; // "" if the line is valid
};

static struct toolkit parse_toolkit(char *text) {
    struct toolkit toolkit = {.nvcc = strtok(text, " ")};
    strtok(NULL, " ");
    toolkit.version = strtok(NULL, " ");
    const char *compile_capability = strtok(NULL, " "), *gpu = strtok(NULL, " ");
    if (!gpu)
        message_exit(EXIT_BAD_INPUT, "architecture needs the output of scripts/find-cuda --architectures [usage]");
    toolkit.compile_capability = atoi(compile_capability);
    toolkit.gpu = atoi(gpu);
    for (const char *word; (word = strtok(NULL, " ")) && toolkit.count < MAX_KNOWN;)
        toolkit.known[toolkit.count++] = atoi(word);
    return toolkit;
}

static bool toolkit_knows(const struct toolkit *toolkit, const struct requirement *requirement) {
    for (int i = 0; i < toolkit->count; i++)
        if (toolkit->known[i] == requirement->min_capability)
            return !requirement->exact || requirement->min_capability >= FIRST_ARCH_SPECIFIC;
    return false;
}

// Exactly "sm_80" or "sm_90a".
static bool parse_architecture(const char *text, struct requirement *requirement) {
    char *end;
    const char *digits = text_after_prefix(text, "sm_");
    if (!digits || !isdigit((unsigned char)*digits))
        return false;
    requirement->min_capability = (int)strtol(digits, &end, 10);
    requirement->exact = *end == 'a';
    return !end[requirement->exact];
}

static bool is_architecture_line(const char *line) {
    line += strspn(line, " \t");
    const char *words = text_after_prefix(line, "//");
    return words && !strncasecmp(words + strspn(words, " \t"), "architecture:", strlen("architecture:"));
}

static struct requirement read_requirement(const char *file, const struct toolkit *toolkit) {
    struct requirement requirement = {.min_capability = 0};
    struct lines lines;
    int lines_found = 0;
    lines_read(file, &lines);
    for (int i = 0; i < lines.count; i++) {
        char *line = lines.line[i];
        if (text_after_prefix(line, "#include \"ring.cuh\""))
            requirement.several_gpus = true;
        if (!is_architecture_line(line))
            continue;
        line[strcspn(line, "\r")] = 0;
        for (size_t length = strlen(line); length && isspace((unsigned char)line[length - 1]);)
            line[--length] = 0;
        const char *architecture = text_after_prefix(line, "// architecture: ");
        if (lines_found++)
            message_set(&requirement.error, "%s:%d: second architecture line; a file has only one [architecture-line]",
                        file, i + 1);
        else if (!architecture || !parse_architecture(architecture, &requirement))
            message_set(&requirement.error,
                        "%s:%d: '%.200s' is not an architecture line; write '// architecture: sm_80', or sm_90a "
                        "[architecture-line]",
                        file, i + 1, line);
        else if (!toolkit_knows(toolkit, &requirement))
            message_set(
                &requirement.error,
                "%s:%d: CUDA %s does not support %s; %s --list-gpu-code lists what it supports [architecture-line]",
                file, i + 1, toolkit->version, architecture, toolkit->nvcc);
    }
    lines_free(&lines);
    return requirement;
}

static bool runs_on(const struct requirement *requirement, int compute_capability) {
    return requirement->exact ? compute_capability == requirement->min_capability
                              : compute_capability >= requirement->min_capability;
}

static bool has_nccl(void) {
    return dlopen("libnccl.so.2", RTLD_LAZY) || access("toolchain/nccl/libnccl.so.2", R_OK) == 0;
}

// What the machine lacks for several GPUs; NULL: nothing.
static const char *lacking(const struct requirement *requirement) {
    if (!requirement->several_gpus)
        return NULL;
    if (access("/dev/nvidia1", F_OK) != 0)
        return "the file requires two GPUs, and there are fewer";
    return has_nccl() ? NULL : "the file requires NCCL, and there is no libnccl.so.2: ./setup --nccl fetches it";
}

static void print_facts(const char *file, const struct requirement *requirement, const struct toolkit *toolkit) {
    // If no GPU responds, the launcher reports it when the kernel is run.
    // A machine without a GPU is the launcher's to report.
    bool gpu = runs_on(requirement, toolkit->gpu ? toolkit->gpu : SIMULATOR) && !(toolkit->gpu && lacking(requirement)),
         simulator = runs_on(requirement, SIMULATOR), error = *requirement->error.text;
    char line[32] = "any";
    if (requirement->min_capability && !error)
        snprintf(line, sizeof line, "sm_%d%s", requirement->min_capability, requirement->exact ? "a" : "");
    printf("%s|%s|%s\n", file, line,
           error              ? "wrong"
           : gpu && simulator ? "gpu,sim"
           : gpu              ? "gpu"
           : simulator        ? "sim"
                              : "none");
}

static void print_reason(const struct requirement *requirement, const struct toolkit *toolkit) {
    if (*requirement->error.text) {
        puts(requirement->error.text);
        return;
    }
    if (toolkit->gpu && runs_on(requirement, toolkit->gpu) && lacking(requirement)) {
        puts(lacking(requirement));
        return;
    }
    printf("the file requires sm_%d%s, and ", requirement->min_capability,
           requirement->exact ? "a exactly" : " or newer");
    if (toolkit->gpu)
        printf("the GPU here is an sm_%d", toolkit->gpu);
    else
        printf("no GPU responds");
    if (!runs_on(requirement, SIMULATOR))
        printf(", the simulator is an sm_%d", SIMULATOR);
    putchar('\n');
}

static void print_code(const struct requirement *requirement, const struct toolkit *toolkit, bool simulated) {
    int compile_capability = simulated ? SIMULATOR : toolkit->compile_capability;
    int target = requirement->exact || requirement->min_capability > compile_capability ? requirement->min_capability
                                                                                        : compile_capability;
    const char *exact = requirement->exact ? "a" : "";
    if (*requirement->error.text)
        message_exit(EXIT_BAD_INPUT, "%s", requirement->error.text);
    if (simulated) {
        printf("-gencode arch=compute_%d%s,code=compute_%d%s\n", target, exact, target, exact);
        return;
    }
    printf("-gencode arch=compute_%d%s,code=[compute_%d%s,sm_%d%s]", target, exact, target, exact, target, exact);
    if (target > SIMULATOR && runs_on(requirement, SIMULATOR))
        printf(" -gencode arch=compute_%d,code=compute_%d", SIMULATOR, SIMULATOR);
    putchar('\n');
}

int teach_architecture(int count, char **word) {
    struct toolkit toolkit = parse_toolkit(word[1]);
    for (int i = 2; i < count; i++) {
        struct requirement requirement = read_requirement(word[i], &toolkit);
        if (!strcmp(word[0], "facts"))
            print_facts(word[i], &requirement, &toolkit);
        else if (!strcmp(word[0], "why"))
            print_reason(&requirement, &toolkit);
        else
            print_code(&requirement, &toolkit, !strcmp(word[0], "ptx"));
    }
    return 0;
}
