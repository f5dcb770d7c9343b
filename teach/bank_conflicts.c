// Register-bank conflicts of a kernel's multiply-adds, counted in its machine code.
//
// The registers of sm_70 and later lie in two banks, even and odd, and a multiply-add reads three. A conflict is a
// register more from one bank than its ports. On Volta a bank was measured to give two a clock (Jia et al., "Dissecting
// the NVIDIA Volta GPU Architecture via Microbenchmarking", 2018): with two ports, what is left are three in one bank.
// What the instruction before has marked .reuse in the same place of its operands is not read again. This is a static
// count: it does not know when another warp's instruction comes between the two, which loses what was kept.
#include "commands.h"

#include "text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { OPERANDS = 4, MOST_LOOPS = 1000 };

struct multiply_add {
    unsigned long address;
    int conflicts;
};

struct function {
    char name[512];
    struct multiply_add *done; // [count]
    int count, room;
    struct {
        unsigned long first, last;
    } loop[MOST_LOOPS]; // from where a branch goes back to, to that branch
    int loops;
    int kept[OPERANDS]; // register that the instruction before has kept, -1 none
};

static void keep_nothing(struct function *f) {
    for (int i = 0; i < OPERANDS; i++)
        f->kept[i] = -1;
}

static bool is_innermost(const struct function *f, int loop) {
    for (int j = 0; j < f->loops; j++) {
        bool inside = f->loop[j].first >= f->loop[loop].first && f->loop[j].last <= f->loop[loop].last;
        bool same = f->loop[j].first == f->loop[loop].first && f->loop[j].last == f->loop[loop].last;
        // Of two branches of one loop the first stands for it.
        if (j != loop && inside && (j < loop || !same))
            return false;
    }
    return true;
}

static void end_function(struct function *f, int least) {
    int all = 0, wrong = 0;
    for (int i = 0; i < f->loops; i++) {
        int done = 0, conflicts = 0;
        for (int j = 0; j < f->count; j++)
            if (f->done[j].address >= f->loop[i].first && f->done[j].address <= f->loop[i].last) {
                done++;
                conflicts += f->done[j].conflicts;
            }
        if (done >= least && is_innermost(f, i)) {
            all += done;
            wrong += conflicts;
        }
    }
    if (all)
        printf("%s\t%d\t%.3f\n", f->name, all, (double)wrong / all);
    f->count = f->loops = 0;
}

// How many registers beyond its ports a bank has to give to the operands behind the first, and remembers which are
// kept.
static int read_operands(struct function *f, char *text, int ports) {
    int bank[2] = {0, 0}, seen[OPERANDS], count = 0, kept[OPERANDS] = {-1, -1, -1, -1};
    char *operand = strsep(&text, ",");
    for (int i = 0; i < OPERANDS && (operand = strsep(&text, ",")); i++) {
        operand += strspn(operand, " |-");
        if (*operand != 'R' || !isdigit((unsigned char)operand[1]))
            continue;
        int number = atoi(operand + 1), j = 0;
        if (strstr(operand, ".reuse"))
            kept[i] = number;
        while (j < count && seen[j] != number)
            j++;
        if (f->kept[i] == number || j < count)
            continue;
        seen[count++] = number;
        bank[number % 2]++;
    }
    memcpy(f->kept, kept, sizeof kept);
    return (bank[0] > ports ? bank[0] - ports : 0) + (bank[1] > ports ? bank[1] - ports : 0);
}

static void add(struct function *f, unsigned long address, int conflicts) {
    if (f->count == f->room) {
        f->room = f->room ? 2 * f->room : 1024;
        f->done = realloc(f->done, (size_t)f->room * sizeof *f->done);
        if (!f->done)
            message_exit(EXIT_CHECK_FAILED, "out of memory");
    }
    f->done[f->count++] = (struct multiply_add){address, conflicts};
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
    if (text_after(words, "FFMA ")) {
        add(f, address, read_operands(f, end + 2, ports));
        return;
    }
    keep_nothing(f);
    const char *branch = strstr(end, " BRA "), *target = NULL;
    for (const char *at = branch; at && (at = strstr(at, "0x")); at++)
        target = at;
    unsigned long to = target ? strtoul(target, NULL, 16) : address + 1;
    if (to <= address && f->loops < MOST_LOOPS) {
        f->loop[f->loops].first = to;
        f->loop[f->loops++].last = address;
    }
}

int teach_bank_conflicts(int count, char **word) {
    static struct function function;
    int least = count > 0 ? atoi(word[0]) : 256, ports = count > 1 ? atoi(word[1]) : 1;
    char *line = NULL;
    size_t size = 0;
    keep_nothing(&function);
    while (getline(&line, &size, stdin) >= 0) {
        const char *name = strstr(line, "Function : ");
        if (!name) {
            read_instruction(&function, line, ports);
            continue;
        }
        end_function(&function, least);
        name += strlen("Function : ");
        snprintf(function.name, sizeof function.name, "%.*s", (int)strcspn(name, " \n"), name);
    }
    end_function(&function, least);
    free(line);
    free(function.done);
    return 0;
}
