// The values that lines compute. The compilation has a line table but no locations of variables, so the recorded value
// is the result of the last fitting instruction of a line that assigns to one variable.
#include "record.h"

#include "assignment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NEARBY = 8 }; // lines

// ---- Lines of sources ----------------------------------------------------------------------------------------------

struct lines {
    char *text;
    char **line; // [count], line n at n - 1
    int count;
};

static void read_lines(const char *path, struct lines *lines) {
    FILE *file = *path ? fopen(path, "r") : NULL;
    size_t length = 0, room = 0;
    if (!file)
        return;
    do {
        room += 65536;
        char *grown = realloc(lines->text, room + 1);
        if (!grown)
            break;
        lines->text = grown;
        length += fread(lines->text + length, 1, room - length, file);
    } while (length == room);
    fclose(file);
    if (!lines->text)
        return;
    lines->text[length] = 0;
    int most = 1;
    for (size_t i = 0; i < length; i++)
        most += lines->text[i] == '\n';
    lines->line = calloc((size_t)most, sizeof *lines->line);
    for (char *at = lines->text; lines->line && lines->count < most;) {
        lines->line[lines->count++] = at;
        at = strchr(at, '\n');
        if (!at)
            break;
        *at++ = 0;
    }
}

static void free_lines(struct lines *lines) {
    free(lines->text);
    free(lines->line);
}

// ---- Which instructions --------------------------------------------------------------------------------------------

static bool is_integer(enum ptx_type type) {
    return type == PTX_S32 || type == PTX_U32 || type == PTX_B32;
}

static bool is_code(const char *file) {
    const char *dot = strrchr(file, '.');
    return dot && (!strcmp(dot, ".cu") || !strcmp(dot, ".cuh"));
}

// Whether its result may be the value of a variable of this type.
static bool fits(const struct ptx_instruction *i, enum assigned_type type) {
    const enum ptx_type result = i->dst[0].reg_type;
    if (i->dst[0].kind != PTX_OPERAND_REGISTER || i->guard >= 0 || result == PTX_PRED)
        return false;
    if (type == ASSIGNED_INTEGER)
        return is_integer(result);
    return result == PTX_F32;
}

static bool stores(const struct ptx_instruction *i) {
    return i->opcode == PTX_OP_ST || i->opcode == PTX_OP_RED || i->opcode == PTX_OP_CP_ASYNC;
}

// The last fitting one of the instructions of one line from first on, -1 if there is none, or one of them stores; *end
// is after them.
static int32_t last_of_line(const struct recording *recording, int32_t first, enum assigned_type type, int32_t *end) {
    int32_t found = -1, i = first;
    bool stored = false;
    for (; i < recording->ptx->instructions && recording->place[i] == recording->place[first]; i++) {
        const struct ptx_instruction *instruction = &recording->ptx->instruction[i];
        stored |= stores(instruction);
        found = fits(instruction, type) ? i : found;
    }
    *end = i;
    return stored ? -1 : found;
}

// The variable that is set to this one in one of the following lines, which then needs no instruction; else "".
static void find_copy(const struct lines *lines, int line, const char *name, struct assignment *copy) {
    for (int l = line + 1; l <= lines->count && l <= line + NEARBY; l++)
        if (assignment_of(lines->line[l - 1], copy) && !strcmp(copy->from, name))
            return;
    *copy->name = 0;
}

static bool add(struct recording *recording, int32_t instruction, const struct assignment *assignment,
                const struct assignment *copy) {
    struct value *value = calloc(1, sizeof *value);
    if (!value)
        return false;
    value->instruction = instruction;
    snprintf(value->name, sizeof value->name, "%s%s%s", assignment->name, *copy->name ? ", " : "", copy->name);
    recording->value[instruction] = value;
    return true;
}

// Copies of a line that unrolling makes end in the same way; if they do not, the compiler has moved a part of one. The
// most frequent ones are kept and numbered.
static void number_copies(struct recording *recording, int32_t place) {
    const struct ptx_kernel *ptx = recording->ptx;
    int best = 0, copy = 0;
    enum ptx_opcode opcode = PTX_OPCODES;
    for (int32_t i = 0; i < ptx->instructions; i++) {
        int alike = 0;
        if (!recording->value[i] || recording->place[i] != place)
            continue;
        for (int32_t k = 0; k < ptx->instructions; k++)
            alike += recording->value[k] && recording->place[k] == place &&
                     ptx->instruction[k].opcode == ptx->instruction[i].opcode;
        if (alike >= best) {
            best = alike;
            opcode = ptx->instruction[i].opcode;
        }
    }
    for (int32_t i = 0; i < ptx->instructions; i++) {
        struct value *value = recording->value[i];
        if (!value || recording->place[i] != place)
            continue;
        value->copy = copy;
        value->copies = best;
        if (ptx->instruction[i].opcode == opcode && copy++ < MOST_COPIES)
            continue;
        free(value);
        recording->value[i] = NULL;
    }
}

// The type in the variable's nearest declaration above.
static enum assigned_type declared_type(const struct lines *lines, int line, const char *name) {
    struct assignment other;
    for (int l = line - 1; l > 0; l--)
        if (assignment_of(lines->line[l - 1], &other) && other.type != ASSIGNED_UNKNOWN && !strcmp(other.name, name))
            return other.type;
    return ASSIGNED_UNKNOWN;
}

static bool find_in(struct recording *recording, const struct lines *lines, const char *file) {
    for (int32_t i = 0, end; i < recording->ptx->instructions; i = end) {
        struct assignment assignment;
        const struct recorded_place *at = recording->place[i] >= 0 ? recording_place_at(recording->place[i]) : NULL;
        end = i + 1;
        if (!at || strcmp(at->file, file) || at->line < 1 || at->line > lines->count ||
            !assignment_of(lines->line[at->line - 1], &assignment))
            continue;
        if (assignment.type == ASSIGNED_UNKNOWN)
            assignment.type = declared_type(lines, at->line, assignment.name);
        if (assignment.type == ASSIGNED_OTHER)
            continue;
        const int32_t found = last_of_line(recording, i, assignment.type, &end);
        if (found < 0)
            continue;
        struct assignment copy;
        find_copy(lines, at->line, assignment.name, &copy);
        if (!add(recording, found, &assignment, &copy))
            return false;
    }
    return true;
}

bool values_find(struct recording *recording) {
    const struct ptx_module *module = recording->ptx->module;
    bool done = true;
    for (int f = 1; f < module->files && done; f++) {
        struct lines lines = {0};
        if (is_code(module->file[f]))
            read_lines(module->file[f], &lines);
        done = find_in(recording, &lines, module->file[f]);
        free_lines(&lines);
    }
    for (int32_t p = 0; p < recording_places() && done; p++)
        number_copies(recording, p);
    return done;
}

void values_free(struct recording *recording) {
    for (int32_t i = 0; i < recording->ptx->instructions; i++) {
        if (recording->value[i])
            samples_free(&recording->value[i]->samples);
        free(recording->value[i]);
    }
    free(recording->value);
}

// ---- Looking -------------------------------------------------------------------------------------------------------

static const struct ptx_frame *frame_of(const struct ptx_kernel *ptx, int32_t instruction) {
    int f = 0;
    while (f + 1 < ptx->functions && instruction >= ptx->function[f + 1].entry)
        f++;
    return &ptx->function[f];
}

static void add_value(struct json *json, enum ptx_type type, uint32_t bits) {
    float number;
    memcpy(&number, &bits, sizeof number);
    if (type == PTX_F32)
        json_float(json, number);
    else if (type == PTX_S32)
        json_add(json, "%d", (int)bits);
    else
        json_add(json, "%u", bits);
}

void values_record(struct warp *warp, const struct bound *bound, uint32_t mask) {
    const int32_t pc = pc_of(warp, bound);
    struct value *value = warp->record->recording->value[pc];
    struct samples *samples = &value->samples;
    const uint32_t n = samples->seen[warp->record->slot]++;
    const struct ptx_operand *result = &bound->ptx->dst[0];
    const operand_ref where = (operand_ref)(result->slot + frame_of(warp->run->kernel->ptx, pc)->register_base) << 1;
    const uint32_t *cell = cells32(warp, where);
    struct json json = {0};
    bool equal = true;
    samples->executed++;
    if (n >= MOST_EXECUTIONS)
        return;
    for (uint32_t left = mask; left; left &= left - 1)
        equal = equal && cell[first_lane(left)] == cell[first_lane(mask)];
    json_add(&json, "[%llu,%u,%u,%llu,%u,[", (unsigned long long)warp->record->block->number, warp->index, n,
             (unsigned long long)warp->record->block->seq, mask);
    for (uint32_t left = mask; left; left = equal ? 0 : left & (left - 1)) {
        add_value(&json, result->reg_type, cell[first_lane(left)]);
        json_add(&json, !equal && left & (left - 1) ? "," : "");
    }
    json_add(&json, "]]");
    if (json.failed)
        json_free(&json);
    else
        samples_add(samples, &(struct sample){.n = n,
                                              .block = warp->record->block->number,
                                              .warp = warp->index,
                                              .seq = warp->record->block->seq,
                                              .text = json.text});
}
