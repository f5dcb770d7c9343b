// Parses .file and .loc: the line of the .cu file of each instruction, and the calls through which it was inlined.
//
//     .loc 1 22 3
//     .loc 2 449 9, function_name $L__info_string1, inlined_at 1 22 3
//
// inlined_at repeats the file, line and column of an earlier .loc, which may itself be inlined: so the latest location
// with these three is the next link of the chain.
#include "parser.h"

#include <string.h>

enum { MAX_FILE = 65535, MAX_CHAIN = 64, TABLE_START = 256 };

struct location_table {
    int size, count; // size: a power of two
    int32_t *entry;  // the unique index of equal locations; -1: free
    int32_t *latest; // the latest location of a file, line and column in this function; -1: free
};

static uint32_t hash_location(const struct ptx_location *location) {
    uint32_t hash = (uint32_t)location->file * 0x9E3779B1u ^ (uint32_t)location->line * 0x85EBCA77u;
    hash = (hash ^ hash >> 15) * 0xC2B2AE3Du + (uint32_t)location->column;
    return hash ^ hash >> 13;
}

static bool same_line_and_column(const struct ptx_location *a, const struct ptx_location *b) {
    return a->file == b->file && a->line == b->line && a->column == b->column;
}

// The table cell of that location, or the free cell for it.
static int32_t *find_latest(struct parser *p, const struct ptx_location *location) {
    struct location_table *table = p->locations;
    uint32_t i = hash_location(location);
    for (;; i++) {
        int32_t *cell = &table->latest[i & (uint32_t)(table->size - 1)];
        if (*cell < 0 || same_line_and_column(&p->module->location[*cell], location))
            return cell;
    }
}

static int32_t *find_entry(struct parser *p, const struct ptx_location *location) {
    struct location_table *table = p->locations;
    uint32_t i = hash_location(location) + (uint32_t)location->inlined_at * 0x9E3779B1u;
    for (;; i++) {
        int32_t *cell = &table->entry[i & (uint32_t)(table->size - 1)];
        const struct ptx_location *existing = *cell < 0 ? NULL : &p->module->location[*cell];
        if (!existing || (same_line_and_column(existing, location) && existing->inlined_at == location->inlined_at))
            return cell;
    }
}

static void resize(struct parser *p, int size) {
    struct location_table *table = p->locations, old = *table;
    table->size = size;
    table->entry = arena_allocate(p->arena, (size_t)size * sizeof *table->entry);
    table->latest = arena_allocate(p->arena, (size_t)size * sizeof *table->latest);
    memset(table->entry, 0xFF, (size_t)size * sizeof *table->entry);
    memset(table->latest, 0xFF, (size_t)size * sizeof *table->latest);
    for (int i = 0; i < old.size; i++) {
        if (old.entry[i] >= 0)
            *find_entry(p, &p->module->location[old.entry[i]]) = old.entry[i];
        if (old.latest[i] >= 0)
            *find_latest(p, &p->module->location[old.latest[i]]) = old.latest[i];
    }
}

static int32_t intern(struct parser *p, const struct ptx_location *location) {
    struct location_table *table = p->locations;
    struct ptx_module *module = p->module;
    if (table->count * 2 >= table->size)
        resize(p, table->size * 2);
    int32_t *cell = find_entry(p, location);
    if (*cell < 0) {
        module->location =
            arena_grow(p->arena, module->location, module->locations, &p->location_capacity, sizeof *module->location);
        module->location[module->locations] = *location;
        *cell = module->locations++;
        table->count++;
    }
    int32_t index = *cell;
    *find_latest(p, location) = index;
    return index;
}

void init_locations(struct parser *p) {
    p->locations = arena_allocate(p->arena, sizeof *p->locations);
    resize(p, TABLE_START);
    intern(p, &(struct ptx_location){.inlined_at = -1}); // location 0: unknown
    p->module->files = 1;
}

// The location of the call site: the latest .loc with that file, line and column. A recursive function that is inlined
// into itself names its own line, so the chain has a limit.
static int32_t find_call_site(struct parser *p, const struct ptx_location *location) {
    int32_t site = *find_latest(p, location);
    int links = 0;
    for (int32_t i = site; i >= 0; i = p->module->location[i].inlined_at)
        links++;
    return links == 0 || links > MAX_CHAIN ? intern(p, location) : site;
}

static struct ptx_location parse_location_triple(struct parser *p) {
    struct ptx_location location = {.inlined_at = -1};
    location.file = (int32_t)parse_count(p, "a file number", 0, MAX_FILE);
    location.file += location.file > 0 ? p->file_base : 0;
    location.line = (int32_t)parse_count(p, "a line number", 0, INT32_MAX);
    location.column = (int32_t)parse_count(p, "a column number", 0, INT32_MAX);
    if (location.file >= p->module->files)
        p->module->files = location.file + 1;
    return location;
}

// Parses .loc, which ends at the end of its line: no punctuator separates its attributes from the next directive. The
// current token is .loc.
void parse_location(struct parser *p) {
    int line = p->token.line;
    advance(p);
    struct ptx_location location = parse_location_triple(p);
    while (p->token.line == line && accept_punctuator(p, ',')) {
        if (accept_keyword(p, "function_name")) {
            expect_identifier(p, "a label");
            if (p->token.line == line && accept_punctuator(p, '+'))
                parse_constant(p);
        } else if (accept_keyword(p, "inlined_at")) {
            struct ptx_location site = parse_location_triple(p);
            location.inlined_at = find_call_site(p, &site);
        } else {
            parser_fail(p, "expected function_name or inlined_at, found '" TOKEN_FORMAT "'", TOKEN_TEXT(p->token));
        }
    }
    // Instructions without a line, such as copies that the compiler adds, get the line of the previous instruction.
    if (location.line > 0 || p->location < 0)
        p->location = intern(p, &location);
}

// Parses .file INDEX "NAME" [, TIME, SIZE]. The current token is .file.
void parse_file(struct parser *p) {
    int line = p->token.line;
    advance(p);
    int number = (int)parse_count(p, "a file number", 0, MAX_FILE) + p->file_base;
    struct token name = p->token;
    if (name.kind != TOKEN_STRING)
        parser_fail(p, "expected a file name in quotes");
    advance(p);
    while (p->token.line == line && accept_punctuator(p, ','))
        parse_constant(p);

    struct ptx_module *module = p->module;
    if (number >= p->file_capacity) {
        int capacity = number < 16 ? 16 : number * 2;
        const char **larger = arena_allocate(p->arena, (size_t)capacity * sizeof *larger);
        if (p->file_capacity > 0)
            memcpy(larger, module->file, (size_t)p->file_capacity * sizeof *larger);
        module->file = larger;
        p->file_capacity = capacity;
    }
    module->file[number] = arena_string(p->arena, name.start, name.length);
    if (number >= module->files)
        module->files = number + 1;
}
