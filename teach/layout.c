#include "layout.h"

#include "process.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>

// A DWARF entry, as readelf prints it.
struct entry {
    long offset, type, size, location, bound;
    int depth;
    const char *tag, *name, *linkage;
};

struct entries {
    struct lines lines;
    struct entry *entry; // [count], by offset
    int count;
};

static bool has_tag(const struct entry *entry, const char *tag) {
    return !strcmp(entry->tag, tag);
}

// The value in ": 31", ": (data1) 31" or ": (indirect string, offset: 0x5c7): KernelTraits<64>": versions of readelf
// differ.
static const char *value_of(const char *line) {
    const char *value = strchr(line, ':'), *form;
    if (!value)
        return "";
    value += 1 + strspn(value + 1, " \t");
    form = *value == '(' ? strchr(value, ')') : NULL;
    return form ? form + 1 + strspn(form + 1, ": \t") : value;
}

static long number_of(const char *line) {
    const char *value = value_of(line);
    return strtol(*value == '<' ? value + 1 : value, NULL, 0);
}

// " <1><2b52>: Abbrev Number: 64 (DW_TAG_structure_type)"
static bool read_entry(const char *line, struct entry *entry) {
    char *tag = strstr(line, "(DW_TAG_"), *close = tag ? strchr(tag, ')') : NULL;
    *entry = (struct entry){.location = -1, .bound = -1, .size = -1, .name = "", .linkage = ""};
    if (!close || sscanf(line, " <%d><%lx>", &entry->depth, (unsigned long *)&entry->offset) != 2)
        return false;
    *close = 0;
    entry->tag = tag + strlen("(DW_TAG_");
    return true;
}

static void read_attribute(const char *line, struct entry *entry) {
    const char *at = strstr(line, "DW_AT_");
    if (!at)
        return;
    if (text_after_prefix(at, "DW_AT_name"))
        entry->name = value_of(at);
    else if (text_after_prefix(at, "DW_AT_linkage_name"))
        entry->linkage = value_of(at);
    else if (text_after_prefix(at, "DW_AT_byte_size"))
        entry->size = number_of(at);
    else if (text_after_prefix(at, "DW_AT_type"))
        entry->type = number_of(at);
    else if (text_after_prefix(at, "DW_AT_data_member_location"))
        entry->location = number_of(at);
    else if (text_after_prefix(at, "DW_AT_upper_bound"))
        entry->bound = number_of(at);
}

static bool read_entries(const char *library, const char *scratch, struct entries *entries) {
    const char *const command[] = {"readelf", "--debug-dump=info", library, NULL};
    *entries = (struct entries){.count = 0};
    if (process_run_to(scratch, false, command) || !lines_read(scratch, &entries->lines))
        return false;
    entries->entry = calloc((size_t)entries->lines.count + 1, sizeof *entries->entry);
    struct entry *now = NULL;
    for (int i = 0; entries->entry && i < entries->lines.count; i++) {
        char *line = entries->lines.line[i];
        if (strstr(line, ": Abbrev Number:")) {
            now = read_entry(line, &entries->entry[entries->count]) ? &entries->entry[entries->count++] : NULL;
        } else if (now) {
            read_attribute(line, now);
        }
    }
    return entries->count;
}

static int compare_offsets(const void *a, const void *b) {
    const long x = ((const struct entry *)a)->offset, y = ((const struct entry *)b)->offset;
    return x < y ? -1 : x > y;
}

// The type at an offset, with typedef, const and volatile resolved; NULL if there is none.
static const struct entry *type_at(const struct entries *entries, long offset) {
    const struct entry *found = NULL;
    for (int depth_left = 0; depth_left < 16; depth_left++) {
        const struct entry wanted = {.offset = offset};
        found = bsearch(&wanted, entries->entry, (size_t)entries->count, sizeof wanted, compare_offsets);
        if (!found || !(has_tag(found, "typedef") || has_tag(found, "const_type") || has_tag(found, "volatile_type")))
            break;
        offset = found->type;
    }
    return found;
}

static const struct entry *next_child(const struct entries *entries, const struct entry *parent,
                                      const struct entry *before) {
    const struct entry *end = entries->entry + entries->count;
    for (const struct entry *one = before ? before + 1 : parent + 1; one < end && one->depth > parent->depth; one++)
        if (one->depth == parent->depth + 1)
            return one;
    return NULL;
}

static bool read_member(const struct entries *entries, const struct entry *from, struct layout_member *member) {
    const struct entry *type = type_at(entries, from->type);
    *member = (struct layout_member){.offset = from->location};
    int64_t elements = 1;
    if (!type || from->location < 0)
        return false;
    if (has_tag(type, "array_type")) {
        for (const struct entry *one = next_child(entries, type, NULL); one; one = next_child(entries, type, one)) {
            if (!has_tag(one, "subrange_type") || one->bound < 0 || member->dimensions == LAYOUT_DIMENSIONS)
                return false;
            member->dimension[member->dimensions++] = one->bound + 1;
            elements *= one->bound + 1;
        }
        type = type_at(entries, type->type);
    }
    if (!type || type->size <= 0)
        return false;
    member->element_bytes = type->size;
    member->bytes = type->size * elements;
    snprintf(member->name, sizeof member->name, "%s", from->name);
    snprintf(member->element, sizeof member->element, "%s", type->name);
    return true;
}

static bool read_members(const struct entries *entries, const struct entry *structure, struct shared_layout *layout) {
    bool arrays = false;
    layout->members = 0;
    for (const struct entry *one = next_child(entries, structure, NULL); one;
         one = next_child(entries, structure, one)) {
        if (!has_tag(one, "member") || layout->members == LAYOUT_MEMBERS ||
            !read_member(entries, one, &layout->member[layout->members]))
            continue;
        arrays |= layout->member[layout->members++].dimensions > 0;
    }
    return arrays;
}

// Whether the kernel's mangled name contains the structure's, which is in the linkage names of its constants: _ZN NAME
// 4KEYS E.
static bool is_named(const struct entries *entries, const struct entry *structure, const char *kernel) {
    for (const struct entry *one = next_child(entries, structure, NULL); one;
         one = next_child(entries, structure, one)) {
        char ending[LAYOUT_NAME + 16], name[512];
        const char *start = text_after_prefix(one->linkage, "_ZN");
        const int length = snprintf(ending, sizeof ending, "%zu%sE", strlen(one->name), one->name);
        const int rest = start ? (int)strlen(start) - length : 0;
        if (rest <= 0 || strcmp(start + rest, ending))
            continue;
        snprintf(name, sizeof name, "%.*s", rest, start);
        return strstr(kernel, name);
    }
    return false;
}

static bool find_structure(const struct entries *entries, const char *kernel, int64_t bytes,
                           struct shared_layout *layout) {
    struct shared_layout other;
    int found = 0;
    for (int i = 0; i < entries->count; i++) {
        const struct entry *one = &entries->entry[i];
        if (!has_tag(one, "structure_type") || one->size != bytes || !read_members(entries, one, &other))
            continue;
        const bool named = is_named(entries, one, kernel);
        if (named || !found++)
            *layout = other;
        if (named)
            return true;
    }
    return found == 1;
}

bool layout_read(const char *library, const char *scratch, const char *kernel, int64_t bytes,
                 struct shared_layout *layout) {
    struct entries entries;
    const bool found = read_entries(library, scratch, &entries) && find_structure(&entries, kernel, bytes, layout);
    free(entries.entry);
    lines_free(&entries.lines);
    remove(scratch);
    return found;
}
