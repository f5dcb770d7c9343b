// The kernel's printf. The compiler stores the arguments one after the other in local memory, each at a multiple of its
// size: int 4 bytes, long long, double and pointers 8.
#include "printf.h"

#include <stdio.h>
#include <string.h>

#define MAX_TEXT 4096

struct reader {
    const struct warp *warp;
    int lane;
    uint64_t next;
};

static uint64_t next_argument(struct reader *reader, unsigned size) {
    uint64_t value = 0;
    reader->next = (reader->next + size - 1) / size * size;
    system_read(reader->warp, reader->lane, reader->next, &value, size);
    reader->next += size;
    return value;
}

// Prints one conversion by the host's printf; specification is its text.
static void convert(struct reader *reader, const char *specification, char conversion, bool wide, FILE *out) {
    char text[1024];
    switch (conversion) {
    case 'd':
    case 'i':
        if (wide)
            fprintf(out, specification, (long long)next_argument(reader, 8));
        else
            fprintf(out, specification, (int)next_argument(reader, 4));
        break;
    case 'u':
    case 'o':
    case 'x':
    case 'X':
        if (wide)
            fprintf(out, specification, (unsigned long long)next_argument(reader, 8));
        else
            fprintf(out, specification, (unsigned)next_argument(reader, 4));
        break;
    case 'c':
        fprintf(out, specification, (int)next_argument(reader, 4));
        break;
    case 's':
        system_read_text(reader->warp, reader->lane, next_argument(reader, 8), text, sizeof text);
        fprintf(out, specification, text);
        break;
    case 'p':
        fprintf(out, specification, (void *)(uintptr_t)next_argument(reader, 8));
        break;
    default: {
        uint64_t bits = next_argument(reader, 8);
        double value;
        memcpy(&value, &bits, 8);
        fprintf(out, specification, value);
    }
    }
}

// Reads flags, width, precision and length at *at, which then points to the conversion character. A `*` is replaced by
// the argument; lengths become ll, because device integers have 32 or 64 bits whatever the size of the host's long is.
static bool read_specification(struct reader *reader, const char **at, char *specification, size_t size, bool *wide,
                               int *count) {
    size_t length = 0;
    specification[length++] = '%';
    *wide = false;
    for (const char *c = *at; *c && length + 16 < size; c++) {
        if (strchr("-+ #0123456789.", *c)) {
            specification[length++] = *c;
        } else if (*c == '*') {
            length += (size_t)snprintf(specification + length, size - length, "%d", (int)next_argument(reader, 4));
            (*count)++;
        } else if (*c == 'h') {
            continue;
        } else if (*c == 'l' || *c == 'j' || *c == 'z' || *c == 't') {
            *wide = true;
        } else if (strchr("diuoxXcspfFeEgGaA", *c)) {
            if (*wide && strchr("diuoxX", *c)) {
                specification[length++] = 'l';
                specification[length++] = 'l';
            }
            specification[length++] = *c;
            specification[length] = 0;
            *at = c;
            return true;
        } else {
            break;
        }
    }
    return false;
}

int printf_lane(const struct warp *warp, int lane, uint64_t format, uint64_t arguments) {
    char text[MAX_TEXT], specification[64];
    struct reader reader = {warp, lane, arguments};
    int count = 0;
    system_read_text(warp, lane, format, text, sizeof text);
    flockfile(stdout);
    for (const char *c = text; *c; c++) {
        const char *end = c + 1;
        bool wide;
        if (*c != '%') {
            putc_unlocked(*c, stdout);
        } else if (*end == '%') {
            putc_unlocked('%', stdout);
            c = end;
        } else if (read_specification(&reader, &end, specification, sizeof specification, &wide, &count)) {
            convert(&reader, specification, *end, wide, stdout);
            count++;
            c = end;
        } else {
            putc_unlocked('%', stdout); // not a conversion: printed unchanged
        }
    }
    funlockfile(stdout);
    return count;
}
