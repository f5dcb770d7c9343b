// Register-bank conflicts of a kernel's multiply-adds, counted in its machine code.
//
// The registers of sm_70 and later are in two banks, even and odd, and an FFMA reads three. Each register read from a
// bank beyond its number of ports is one conflict. Volta was measured to read two registers per bank and clock (Jia et
// al., "Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking", 2018), so with two ports a conflict needs
// three registers in one bank. An operand that the previous instruction marked .reuse in the same operand position
// comes from the reuse cache. The count is static: it ignores that an instruction of another warp in between clears
// that cache.
#include "commands.h"

#include "text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { OPERANDS = 4, MAX_LOOPS = 1000 };

struct multiply_add {
    unsigned long address;
    int conflicts;
};

struct function {
    char name[512];
    struct multiply_add *ffma; // [count]
    int count, capacity;
    struct {
        unsigned long first, last;
    } loop[MAX_LOOPS]; // from the target of a backward branch to the branch
    int loops;
    int reuse_cache[OPERANDS]; // register in the reuse cache per operand position, -1 none
};

static void clear_reuse_cache(struct function *f) {
    for (int i = 0; i < OPERANDS; i++)
        f->reuse_cache[i] = -1;
}

static bool is_innermost(const struct function *f, int loop) {
    for (int j = 0; j < f->loops; j++) {
        bool inside = f->loop[j].first >= f->loop[loop].first && f->loop[j].last <= f->loop[loop].last;
        bool same = f->loop[j].first == f->loop[loop].first && f->loop[j].last == f->loop[loop].last;
        // If one loop has two backward branches, the first one represents it.
        if (j != loop && inside && (j < loop || !same))
            return false;
    }
    return true;
}

static void end_function(struct function *f, int min_ffma) {
    int ffma_total = 0, conflict_sum = 0;
    for (int i = 0; i < f->loops; i++) {
        int ffma = 0, conflicts = 0;
        for (int j = 0; j < f->count; j++)
            if (f->ffma[j].address >= f->loop[i].first && f->ffma[j].address <= f->loop[i].last) {
                ffma++;
                conflicts += f->ffma[j].conflicts;
            }
        if (ffma >= min_ffma && is_innermost(f, i)) {
            ffma_total += ffma;
            conflict_sum += conflicts;
        }
    }
    if (ffma_total)
        printf("%s\t%d\t%.3f\n", f->name, ffma_total, (double)conflict_sum / ffma_total);
    f->count = f->loops = 0;
}

// The number of bank conflicts of the source operands; updates the reuse cache.
static int read_operands(struct function *f, char *text, int ports) {
    int bank[2] = {0, 0}, distinct_registers[OPERANDS], count = 0, reuse_cache[OPERANDS] = {-1, -1, -1, -1};
    char *operand = strsep(&text, ",");
    for (int i = 0; i < OPERANDS && (operand = strsep(&text, ",")); i++) {
        operand += strspn(operand, " |-");
        if (*operand != 'R' || !isdigit((unsigned char)operand[1]))
            continue;
        int number = atoi(operand + 1), j = 0;
        if (strstr(operand, ".reuse"))
            reuse_cache[i] = number;
        while (j < count && distinct_registers[j] != number)
            j++;
        if (f->reuse_cache[i] == number || j < count)
            continue;
        distinct_registers[count++] = number;
        bank[number % 2]++;
    }
    memcpy(f->reuse_cache, reuse_cache, sizeof reuse_cache);
    return (bank[0] > ports ? bank[0] - ports : 0) + (bank[1] > ports ? bank[1] - ports : 0);
}

static void add_ffma(struct function *f, unsigned long address, int conflicts) {
    if (f->count == f->capacity) {
        f->capacity = f->capacity ? 2 * f->capacity : 1024;
        f->ffma = realloc(f->ffma, (size_t)f->capacity * sizeof *f->ffma);
        if (!f->ffma)
            message_exit(EXIT_CHECK_FAILED, "out of memory");
    }
    f->ffma[f->count++] = (struct multiply_add){address, conflicts};
}

// "        /*0a10*/   @P0 BRA 0x8f0 ;"
static void read_instruction(struct function *f, char *line, int ports) {
    char *end, *comment = line + strspn(line, " ");
    if (comment == line || strncmp(comment, "/*", 2))
        return;
    unsigned long address = strtoul(comment + 2, &end, 16);
    const char *words = end + strspn(end, "*/ ");
    if (strncmp(end, "*/ ", 3) || (*words != '@' && !isupper((unsigned char)*words)))
        return;
    end[2 + strcspn(end + 2, ";")] = 0;
    if (text_after_prefix(words, "FFMA ")) {
        add_ffma(f, address, read_operands(f, end + 2, ports));
        return;
    }
    clear_reuse_cache(f);
    const char *branch = strstr(end, " BRA "), *target = NULL;
    for (const char *at = branch; at && (at = strstr(at, "0x")); at++)
        target = at;
    unsigned long to = target ? strtoul(target, NULL, 16) : address + 1;
    if (to <= address && f->loops < MAX_LOOPS) {
        f->loop[f->loops].first = to;
        f->loop[f->loops++].last = address;
    }
}

int teach_bank_conflicts(int count, char **word) {
    static struct function function;
    int min_ffma = count > 0 ? atoi(word[0]) : 256, ports = count > 1 ? atoi(word[1]) : 1;
    char *line = NULL;
    size_t size = 0;
    clear_reuse_cache(&function);
    while (getline(&line, &size, stdin) >= 0) {
        const char *name = strstr(line, "Function : ");
        if (!name) {
            read_instruction(&function, line, ports);
            continue;
        }
        end_function(&function, min_ffma);
        name += strlen("Function : ");
        snprintf(function.name, sizeof function.name, "%.*s", (int)strcspn(name, " \n"), name);
    }
    end_function(&function, min_ffma);
    free(line);
    free(function.ffma);
    return 0;
}
