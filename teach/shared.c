#include "shared.h"

#include "expression.h"
#include "layout.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

// ---- Constants of the sources --------------------------------------------------------------------------------------

struct constants {
    const struct lines *source;
    int count, depth;
};

static bool is_identifier_character(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

// Finds a whole identifier in a text; NULL if it does not occur.
static const char *find_word(const char *text, const char *word) {
    const size_t length = strlen(word);
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
        if ((at == text || !is_identifier_character(at[-1])) && !is_identifier_character(at[length]))
            return at;
    return NULL;
}

static bool constant_value(void *context, const char *name, double *value);

// Evaluates an initializer or an array bound, with constants of the sources as names.
static bool evaluate(struct constants *constants, const char *text, size_t length, double *value) {
    char part[200];
    struct message error;
    struct constants deeper = {constants->source, constants->count, constants->depth + 1};
    const struct scope scope = {.name = constant_value, .context = &deeper};
    snprintf(part, sizeof part, "%.*s", (int)(length < sizeof part ? length : sizeof part - 1), text);
    return deeper.depth < 8 && expression_number(part, &scope, value, &error);
}

// The value of constexpr int NAME = EXPRESSION in any of the sources.
static bool constant_value(void *context, const char *name, double *value) {
    struct constants *constants = context;
    for (int s = 0; s < constants->count; s++) {
        for (int l = 0; l < constants->source[s].count; l++) {
            const char *line = constants->source[s].line[l];
            const char *at = find_word(line, "constexpr") ? find_word(line, name) : NULL;
            at = at ? at + strlen(name) + strspn(at + strlen(name), " ") : NULL;
            if (at && *at == '=' && at[1] != '=')
                return evaluate(constants, at + 1, strcspn(at + 1, ",;"), value);
        }
    }
    return false;
}

// ---- A declaration -------------------------------------------------------------------------------------------------

static int element_size(const char *element) {
    static const struct {
        const char *name;
        int bytes;
    } known[] = {{"float", 4},    {"float2", 8},   {"float4", 16},     {"double", 8},   {"int", 4},
                 {"unsigned", 4}, {"uint32_t", 4}, {"int32_t", 4},     {"uint64_t", 8}, {"__nv_bfloat16", 2},
                 {"__half", 2},   {"half", 2},     {"nv_bfloat16", 2}, {"int4", 16},    {"uint4", 16},
                 {"char", 1},     {"uint8_t", 1},  {"bool", 1}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(known[i].name, element))
            return known[i].bytes;
    return 0;
}

// The type after __shared__, without an alignment specifier.
static void read_element(const char *text, char *element, size_t size) {
    text += strspn(text, " ");
    if (!strncmp(text, "alignas", 7) || !strncmp(text, "__align__", 9)) {
        text += strcspn(text, ")");
        text += *text == ')';
        text += strspn(text, " ");
    }
    size_t length = 0;
    while (is_identifier_character(text[length]) || text[length] == ':')
        length++;
    snprintf(element, size, "%.*s", (int)(length < size ? length : size - 1), text);
}

bool find_shared_declaration(const char *name, const struct lines *source, int count,
                             struct shared_declaration *declaration) {
    struct constants constants = {source, count, 0};
    for (int s = 0; s < count; s++) {
        for (int l = 0; l < source[s].count; l++) {
            const char *line = source[s].line[l], *shared = find_word(line, "__shared__");
            const char *at = shared ? find_word(shared, name) : NULL;
            if (!at)
                continue;
            *declaration = (struct shared_declaration){.dimensions = 0};
            read_element(shared + strlen("__shared__"), declaration->element, sizeof declaration->element);
            declaration->element_bytes = element_size(declaration->element);
            for (at += strlen(name); *at == '[' && declaration->dimensions < 6;) {
                const size_t length = strcspn(at + 1, "]");
                double value = 0;
                const bool known = evaluate(&constants, at + 1, length, &value) && value >= 1 && value < 1e9;
                declaration->dimension[declaration->dimensions++] = known ? (long long)value : 0;
                at += 1 + length + (at[1 + length] == ']');
            }
            return true;
        }
    }
    return false;
}

// ---- The line ------------------------------------------------------------------------------------------------------

static void print_array(FILE *to, bool first, const char *name, long long offset, long long bytes, const char *element,
                        long long element_bytes) {
    fprintf(to, "%s{\"name\":\"%s\",\"offset\":%lld,\"bytes\":%lld,\"element\":", first ? "" : ",", name, offset,
            bytes);
    if (*element)
        fprintf(to, "\"%s\"", element);
    else
        fputs("null", to);
    if (element_bytes)
        fprintf(to, ",\"element_bytes\":%lld,\"dims\":", element_bytes);
    else
        fputs(",\"element_bytes\":null,\"dims\":", to);
}

// Infers one unknown dimension from the size of the array.
static bool infer_dimension(struct shared_declaration *d, long long bytes) {
    long long elements = d->element_bytes ? bytes / d->element_bytes : 0, product = 1;
    int unknown = -1, unknown_count = 0;
    for (int i = 0; i < d->dimensions; i++) {
        if (d->dimension[i])
            product *= d->dimension[i];
        else {
            unknown = i;
            unknown_count++;
        }
    }
    if (unknown_count == 1 && elements % product == 0)
        product *= d->dimension[unknown] = elements / product;
    return unknown_count < 2 && product == elements && d->dimensions > 0;
}

static void print_static(FILE *to, bool first, const char *name, long long offset, long long bytes,
                         const struct lines *source, int count) {
    struct shared_declaration d = {.dimensions = 0};
    find_shared_declaration(name, source, count, &d);
    print_array(to, first, name, offset, bytes, d.element, d.element_bytes);
    if (!infer_dimension(&d, bytes)) {
        fputs("null}", to);
        return;
    }
    for (int i = 0; i < d.dimensions; i++)
        fprintf(to, "%c%lld", i ? ',' : '[', d.dimension[i]);
    fputs("]}", to);
}

static void print_members(FILE *to, bool first, long long offset, const struct shared_layout *layout) {
    for (int m = 0; m < layout->members; m++) {
        const struct layout_member *member = &layout->member[m];
        print_array(to, first && m == 0, member->name, offset + member->offset, member->bytes, member->element,
                    member->element_bytes);
        putc('[', to);
        for (int i = 0; i < member->dimensions; i++)
            fprintf(to, "%s%lld", i ? "," : "", (long long)member->dimension[i]);
        fputs(member->dimensions ? "]}" : "1]}", to);
    }
}

void print_shared_arrays(FILE *to, const char *line, const char *kernel, const char *library, const char *scratch,
                         const struct lines *source, int count) {
    bool first = true;
    fputs("\"shared\":[", to);
    for (const char *at = strstr(line, "{\"name\":\""); at; at = strstr(at + 1, "{\"name\":\"")) {
        char name[128], dynamic[8];
        long long offset, bytes;
        static struct shared_layout layout;
        if (sscanf(at, "{\"name\":\"%127[^\"]\",\"offset\":%lld,\"bytes\":%lld,\"dynamic\":%7[a-z]", name, &offset,
                   &bytes, dynamic) != 4)
            continue;
        if (!strcmp(dynamic, "true") && layout_read(library, scratch, kernel, bytes, &layout))
            print_members(to, first, offset, &layout);
        else
            print_static(to, first, name, offset, bytes, source, count);
        first = false;
    }
    fputs("],\n", to);
}
