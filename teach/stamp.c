#include "stamp.h"

#include <stdio.h>

// The CRC of ISO/IEC 8802-3 with the length behind the contents, as POSIX says of cksum.
static uint32_t add_byte(uint32_t sum, uint8_t byte) {
    static uint32_t remainder[256];
    if (!remainder[1])
        for (uint32_t i = 0; i < 256; i++) {
            remainder[i] = i << 24;
            for (int bit = 0; bit < 8; bit++)
                remainder[i] = remainder[i] << 1 ^ (remainder[i] >> 31 ? 0x04c11db7u : 0);
        }
    return sum << 8 ^ remainder[sum >> 24 ^ byte];
}

bool stamp_add(struct stamp *stamp, const char *path) {
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    for (int c; (c = getc(file)) != EOF; stamp->bytes++)
        stamp->sum = add_byte(stamp->sum, (uint8_t)c);
    bool read = !ferror(file);
    fclose(file);
    return read;
}

const char *stamp_end(const struct stamp *stamp, char text[STAMP_TEXT]) {
    uint32_t sum = stamp->sum;
    for (uint64_t rest = stamp->bytes; rest; rest >>= 8)
        sum = add_byte(sum, (uint8_t)rest);
    snprintf(text, STAMP_TEXT, "%u-%llu", ~sum, (unsigned long long)stamp->bytes);
    return text;
}

const char *stamp_of(const char *path, char text[STAMP_TEXT]) {
    struct stamp stamp = {0, 0};
    if (!stamp_add(&stamp, path))
        snprintf(text, STAMP_TEXT, "missing");
    else
        stamp_end(&stamp, text);
    return text;
}
