#include "checksum.h"

#include <stdio.h>

// The CRC of ISO/IEC 8802-3 over the contents and then their length, as POSIX specifies for cksum.
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

bool checksum_add_file(struct checksum *checksum, const char *path) {
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    for (int c; (c = getc(file)) != EOF; checksum->bytes++)
        checksum->sum = add_byte(checksum->sum, (uint8_t)c);
    bool read = !ferror(file);
    fclose(file);
    return read;
}

const char *checksum_text(const struct checksum *checksum, char text[CHECKSUM_TEXT]) {
    uint32_t sum = checksum->sum;
    for (uint64_t rest = checksum->bytes; rest; rest >>= 8)
        sum = add_byte(sum, (uint8_t)rest);
    snprintf(text, CHECKSUM_TEXT, "%u-%llu", ~sum, (unsigned long long)checksum->bytes);
    return text;
}

const char *file_checksum(const char *path, char text[CHECKSUM_TEXT]) {
    struct checksum checksum = {0, 0};
    if (!checksum_add_file(&checksum, path))
        snprintf(text, CHECKSUM_TEXT, "missing");
    else
        checksum_text(&checksum, text);
    return text;
}
