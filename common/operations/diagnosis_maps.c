#include "operations/diagnosis_maps.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int maps_of(int count, struct index_map *out) {
    enum { MOST_SHIFT = 8, MOST_BIT = 6 };
    int n = 0;
    for (int by = 1; by <= MOST_SHIFT && by < count; by *= 2)
        for (int sign = -1; sign <= 1; sign += 2)
            for (int end = 0; end < 3; end++)
                out[n++] = (struct index_map){MAP_SHIFT, sign * by, end};
    for (int by = 1; by < count; by *= 2)
        for (enum map_kind kind = MAP_XOR; kind <= MAP_CLEAR; kind += MAP_CLEAR - MAP_XOR)
            out[n++] = (struct index_map){kind, by, 0};
    for (int by = 4; by <= 16 && by <= count; by *= 2)
        out[n++] = (struct index_map){MAP_XOR, by - 1, 0};
    if (count > 48)
        out[n++] = (struct index_map){MAP_XOR, 48, 0};
    for (int end = 32; end <= 64 && end < count; end *= 2)
        out[n++] = (struct index_map){MAP_MODULO, 16, end};
    for (int size = 2; size <= 16 && size < count; size *= 2)
        out[n++] = (struct index_map){MAP_ROTATE, size, 0};
    for (int by = 16; by <= 32 && by < count; by *= 2)
        for (int tile = 64; tile <= 128; tile *= 2)
            out[n++] = (struct index_map){MAP_HALF, by, tile};
    out[n++] = (struct index_map){MAP_FIRST, 0, 0};
    out[n++] = (struct index_map){MAP_REVERSE, 0, 0};
    for (int size = 2; size < count; size *= 2)
        for (enum map_kind kind = MAP_MODULO; kind <= MAP_LAST; kind++)
            out[n++] = (struct index_map){kind, size, 0};
    for (int size = 4; size < count && size <= 256; size *= 2)
        for (enum map_kind kind = MAP_PREVIOUS; kind <= MAP_NEXT; kind++)
            out[n++] = (struct index_map){kind, size, 0};
    for (int size = 8; size < count && size <= 256; size *= 2)
        out[n++] = (struct index_map){MAP_END, size, 0};
    static const int sizes[] = {24, 40, 48, 80, 96, 112, 144, 160, 176, 192};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && sizes[i] < count; i++) {
        out[n++] = (struct index_map){MAP_MODULO, sizes[i], 0};
        out[n++] = (struct index_map){MAP_PREVIOUS, sizes[i], 0};
    }
    for (int by = 2; by <= 8 && by < count; by *= 2)
        out[n++] = (struct index_map){MAP_QUOTIENT, by, 0};
    for (int a = 0; a < MOST_BIT; a++)
        for (int b = a + 1; b < MOST_BIT && 1 << b < count; b++)
            out[n++] = (struct index_map){MAP_BITS, a, b};
    return n;
}

static int exchanged(int i, int a, int b) {
    const int x = (i >> a ^ i >> b) & 1;
    return i ^ (x << a | x << b);
}

int map_of(const struct index_map *m, int i, int count) {
    int to = i;
    switch (m->kind) {
    case MAP_SHIFT:
        to = i + m->n;
        if (to < 0 || to >= count)
            to = m->m == SHIFT_STOPS ? (to < 0 ? 0 : count - 1) : m->m == SHIFT_WRAPS ? (to + count) % count : -1;
        break;
    case MAP_XOR:
        to = i ^ m->n;
        break;
    case MAP_MODULO:
        to = m->m && i >= m->m ? -1 : i % m->n;
        break;
    case MAP_FIRST:
        to = m->n ? i / m->n * m->n : 0;
        break;
    case MAP_LAST:
        to = i / m->n * m->n + m->n - 1;
        to = to < count ? to : count - 1;
        break;
    case MAP_PREVIOUS:
        to = i < m->n ? i : i - m->n;
        break;
    case MAP_NEXT:
        to = i + m->n < count ? i + m->n : i;
        break;
    case MAP_QUOTIENT:
        to = i / m->n;
        break;
    case MAP_BITS:
        to = exchanged(i, m->n, m->m);
        break;
    case MAP_END:
        to = (count - 1) / m->n * m->n + i % m->n;
        break;
    case MAP_ROTATE:
        to = i / m->n * m->n + (i + 1) % m->n;
        to = to < count ? to : count - 1;
        break;
    case MAP_CLEAR:
        to = i & ~m->n;
        break;
    case MAP_HALF:
        to = i - i % m->m / m->n * (m->n / 2);
        break;
    case MAP_REVERSE:
        to = count - 1 - i;
        break;
    default:
        break;
    }
    return to >= 0 && to < count ? to : -1;
}

bool map_is_permutation(const struct index_map *m) {
    return (m->kind == MAP_SHIFT && m->m == SHIFT_WRAPS) || m->kind == MAP_XOR || m->kind == MAP_BITS ||
           m->kind == MAP_REVERSE;
}

// The numbers in words[] are n, m, n - 1 and n / 2.
void map_text(const struct index_map *m, char *text, size_t size) {
    static const char *const words[MAP_KINDS] = {
        [MAP_XOR] = "i ^ %1$d",
        [MAP_MODULO] = "i %% %1$d",
        [MAP_FIRST] = "i / %1$d * %1$d, the first of each %1$d",
        [MAP_LAST] = "i / %1$d * %1$d + %3$d, the last of each %1$d",
        [MAP_PREVIOUS] = "i - %1$d (the previous tile; the first %1$d have their own)",
        [MAP_NEXT] = "i + %1$d (the next tile; the last %1$d have their own)",
        [MAP_QUOTIENT] = "i / %1$d",
        [MAP_BITS] = "i with bits %1$d and %2$d exchanged",
        [MAP_END] = "i %% %1$d of the last tile",
        [MAP_REVERSE] = "n - 1 - i",
        [MAP_CLEAR] = "i & ~%1$d",
        [MAP_ROTATE] = "i + 1 within each %1$d, after the last one the first",
        [MAP_HALF] = "i - i %% %2$d / %1$d * %4$d: steps of %1$d begin %4$d apart",
    };
    if (m->kind == MAP_SHIFT)
        snprintf(text, size, "i %c %d", m->n < 0 ? '-' : '+', abs(m->n));
    else if (m->kind == MAP_FIRST && !m->n)
        snprintf(text, size, "0");
    else if (m->kind == MAP_MODULO && m->m)
        snprintf(text, size, "i %% %d up to %d, and of nothing from there on", m->n, m->m - 1);
    else
        snprintf(text, size, words[m->kind], m->n, m->m, m->n - 1, m->n / 2);
}

double map_cost(const struct index_map *m) {
    return 2 + (m->kind == MAP_SHIFT && m->n != 0 ? log2(abs(m->n)) + (m->m == SHIFT_LOSES) : 0) +
           (m->kind == MAP_BITS       ? 4
            : m->kind >= MAP_QUOTIENT ? 2
                                      : 0);
}
