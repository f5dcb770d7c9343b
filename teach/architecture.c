// Which GPUs a kernel file is for, by its line
//     // architecture: sm_80
// which says the least compute capability that it needs; with an a, as in sm_90a, the only one: what such code uses is
// there on no other GPU, be it newer (PTX ISA, .target). Without that line it is for any.
#include "commands.h"

#include "text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    SIMULATOR = 90,   // simulator/runtime/device.c
    FIRST_ALONE = 90, // nvcc does not list those with an a; each from 9.0 on has one
    MOST_KNOWN = 64,
};

// What find-cuda --architectures says: NVCC FOLDER VERSION COMPILED GPU KNOWN...
struct found {
    const char *nvcc, *version;
    int compiled, gpu, known[MOST_KNOWN], count; // gpu: 0 where none answers
};

struct needed {
    int least; // 0: any
    bool alone;
    struct message wrong; // "" where the line is right
};

static struct found read_found(char *text) {
    struct found found = {.nvcc = strtok(text, " ")};
    strtok(NULL, " ");
    found.version = strtok(NULL, " ");
    const char *compiled = strtok(NULL, " "), *gpu = strtok(NULL, " ");
    if (!gpu)
        message_exit(EXIT_BAD_INPUT, "architecture needs what scripts/find-cuda --architectures says");
    found.compiled = atoi(compiled);
    found.gpu = atoi(gpu);
    for (const char *word; (word = strtok(NULL, " ")) && found.count < MOST_KNOWN;)
        found.known[found.count++] = atoi(word);
    return found;
}

static bool knows(const struct found *found, const struct needed *needed) {
    for (int i = 0; i < found->count; i++)
        if (found->known[i] == needed->least)
            return !needed->alone || needed->least >= FIRST_ALONE;
    return false;
}

// "sm_80" or "sm_90a" as a whole.
static bool read_architecture(const char *text, struct needed *needed) {
    char *end;
    const char *digits = text_after(text, "sm_");
    if (!digits || !isdigit((unsigned char)*digits))
        return false;
    needed->least = (int)strtol(digits, &end, 10);
    needed->alone = *end == 'a';
    return !end[needed->alone];
}

static bool says_architecture(const char *line) {
    line += strspn(line, " \t");
    const char *words = text_after(line, "//");
    return words && !strncasecmp(words + strspn(words, " \t"), "architecture:", strlen("architecture:"));
}

static struct needed read_file(const char *file, const struct found *found) {
    struct needed needed = {.least = 0};
    struct lines lines;
    int said = 0;
    lines_read(file, &lines);
    for (int i = 0; i < lines.count; i++) {
        char *line = lines.line[i];
        if (!says_architecture(line))
            continue;
        line[strcspn(line, "\r")] = 0;
        for (size_t length = strlen(line); length && isspace((unsigned char)line[length - 1]);)
            line[--length] = 0;
        const char *architecture = text_after(line, "// architecture: ");
        if (said++)
            message_set(&needed.wrong, "%s:%d: a second line that says the architecture; there is one", file, i + 1);
        else if (!architecture || !read_architecture(architecture, &needed))
            message_set(&needed.wrong,
                        "%s:%d: '%.200s' is not known; it is written '// architecture: sm_80', or sm_90a", file, i + 1,
                        line);
        else if (!knows(found, &needed))
            message_set(&needed.wrong, "%s:%d: CUDA %s knows no %s; %s --list-gpu-code lists what it knows", file,
                        i + 1, found->version, architecture, found->nvcc);
    }
    lines_free(&lines);
    return needed;
}

static bool runs(const struct needed *needed, int compute_capability) {
    return needed->alone ? compute_capability == needed->least : compute_capability >= needed->least;
}

static void print_facts(const char *file, const struct needed *needed, const struct found *found) {
    // Where no GPU answers, whoever runs the kernel says so.
    bool gpu = runs(needed, found->gpu ? found->gpu : SIMULATOR), simulator = runs(needed, SIMULATOR),
         wrong = *needed->wrong.text;
    char line[32] = "any";
    if (needed->least && !wrong)
        snprintf(line, sizeof line, "sm_%d%s", needed->least, needed->alone ? "a" : "");
    printf("%s|%s|%s\n", file, line,
           wrong              ? "wrong"
           : gpu && simulator ? "gpu,sim"
           : gpu              ? "gpu"
           : simulator        ? "sim"
                              : "none");
}

static void print_why(const struct needed *needed, const struct found *found) {
    if (*needed->wrong.text) {
        puts(needed->wrong.text);
        return;
    }
    printf("it is for sm_%d%s, and ", needed->least, needed->alone ? " alone" : " and newer");
    if (found->gpu)
        printf("the GPU here is an sm_%d", found->gpu);
    else
        printf("no GPU answers");
    if (!runs(needed, SIMULATOR))
        printf(", the simulator an sm_%d", SIMULATOR);
    putchar('\n');
}

static void print_code(const struct needed *needed, const struct found *found, bool simulated) {
    int compiled = simulated ? SIMULATOR : found->compiled;
    int target = needed->alone || needed->least > compiled ? needed->least : compiled;
    const char *alone = needed->alone ? "a" : "";
    if (*needed->wrong.text)
        message_exit(EXIT_BAD_INPUT, "%s", needed->wrong.text);
    if (simulated) {
        printf("-gencode arch=compute_%d%s,code=compute_%d%s\n", target, alone, target, alone);
        return;
    }
    printf("-gencode arch=compute_%d%s,code=[compute_%d%s,sm_%d%s]", target, alone, target, alone, target, alone);
    if (target > SIMULATOR && runs(needed, SIMULATOR))
        printf(" -gencode arch=compute_%d,code=compute_%d", SIMULATOR, SIMULATOR);
    putchar('\n');
}

int teach_architecture(int count, char **word) {
    struct found found = read_found(word[1]);
    for (int i = 2; i < count; i++) {
        struct needed needed = read_file(word[i], &found);
        if (!strcmp(word[0], "facts"))
            print_facts(word[i], &needed, &found);
        else if (!strcmp(word[0], "why"))
            print_why(&needed, &found);
        else
            print_code(&needed, &found, !strcmp(word[0], "ptx"));
    }
    return 0;
}
