// The format is not documented; what follows was read off files that nvcc 13.0 made. All numbers are little-endian.
//
//   header  magic u32, version u16, header size u16, size of all entries u64, then the entries one after the other
//   entry   0 kind u16, 4 header size u32, 8 payload size u64, 16 compressed size u32, 28 architecture u32,
//           40 flags u64, 56 uncompressed size u64, then the payload after header size bytes
#include "fatbin.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

static const uint32_t WRAPPER_MAGIC = 0x466243B1, HEADER_MAGIC = 0xBA55ED50;
static const uint64_t MAX_BYTES = UINT64_C(1) << 30; // of a fat binary, and of one image of it

enum { HEADER_BYTES = 16, ENTRY_BYTES = 64, KIND_PTX = 1, WRAPPER_VERSION = 1, LINKED_VERSION = 2 };

// nvcc 13.0 compresses by zstd, and by LZ4 with --compress-mode=speed. The flags beside them have not been met.
enum { FLAG_ZSTD = 0x8000, FLAG_LZ4 = 0x2000, FLAGS_UNKNOWN = 0x1000 | 0x4000 };
enum { FLAG_ARCHITECTURE_ONLY = 0x100000, FLAG_FAMILY_ONLY = 0x200000 }; // compute_90a, compute_100f

struct reader {
    const unsigned char *bytes;
    size_t length;
    char *error;
    size_t error_size;
};

struct image {
    int kind;
    uint32_t architecture, compressed;
    uint64_t flags, uncompressed;
    const unsigned char *payload;
    size_t payload_size;
};

static bool fail(const struct reader *reader, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reader->error, reader->error_size, format, arguments);
    va_end(arguments);
    return false;
}

static uint64_t number_at(const unsigned char *bytes, int size) {
    uint64_t value = 0;
    for (int i = 0; i < size; i++)
        value |= (uint64_t)bytes[i] << 8 * i;
    return value;
}

// Reads the entry at *offset and moves *offset past it. The caller has seen to it that *offset < reader->length.
static bool next_image(const struct reader *reader, size_t *offset, struct image *image) {
    const unsigned char *entry = reader->bytes + *offset;
    size_t left = reader->length - *offset;
    if (left < ENTRY_BYTES)
        return fail(reader, "the fat binary ends within an entry's header");
    uint64_t header = number_at(entry + 4, 4), payload = number_at(entry + 8, 8);
    if (header < ENTRY_BYTES || header > left || payload > left - header)
        return fail(reader, "an entry of the fat binary is larger than the fat binary");
    *image = (struct image){
        .kind = (int)number_at(entry, 2),
        .compressed = (uint32_t)number_at(entry + 16, 4),
        .architecture = (uint32_t)number_at(entry + 28, 4),
        .flags = number_at(entry + 40, 8),
        .uncompressed = number_at(entry + 56, 8),
        .payload = entry + header,
        .payload_size = (size_t)payload,
    };
    *offset += (size_t)(header + payload);
    return true;
}

// compute_90 runs on everything from 9.0 on, compute_90a on 9.0 alone, compute_100f on 10.x.
static bool runs_on(const struct image *image, uint32_t compute_capability) {
    if (image->flags & FLAG_ARCHITECTURE_ONLY)
        return image->architecture == compute_capability;
    if (image->flags & FLAG_FAMILY_ONLY && image->architecture / 10 != compute_capability / 10)
        return false;
    return image->architecture <= compute_capability;
}

static bool is_better(const struct image *image, const struct image *best) {
    if (!best->payload || image->architecture != best->architecture)
        return !best->payload || image->architecture > best->architecture;
    return image->flags & FLAG_ARCHITECTURE_ONLY;
}

static bool find_best(const struct reader *reader, uint32_t compute_capability, struct image *best) {
    uint32_t lowest = UINT32_MAX;
    *best = (struct image){0};
    for (size_t offset = HEADER_BYTES; offset < reader->length;) {
        struct image image;
        if (!next_image(reader, &offset, &image))
            return false;
        if (image.kind != KIND_PTX)
            continue;
        if (image.architecture < lowest)
            lowest = image.architecture;
        if (runs_on(&image, compute_capability) && is_better(&image, best))
            *best = image;
    }
    if (best->payload)
        return true;
    if (lowest == UINT32_MAX)
        return fail(
            reader,
            "the program holds machine code but no PTX; compile it with -gencode arch=compute_%u,code=compute_%u",
            compute_capability, compute_capability);
    return fail(reader,
                "the program's PTX is for compute_%u, which a device of compute capability %u.%u does not run; compile "
                "it with -gencode arch=compute_%u,code=compute_%u",
                lowest, compute_capability / 10, compute_capability % 10, compute_capability, compute_capability);
}

static bool decompress(const struct reader *reader, const struct image *image, char *text, size_t size) {
    if (image->compressed > image->payload_size)
        return fail(reader, "a compressed image is larger than its entry in the fat binary");
    size_t result = ZSTD_decompress(text, size, image->payload, image->compressed);
    if (ZSTD_isError(result))
        return fail(reader, "the compressed PTX is damaged: %s", ZSTD_getErrorName(result));
    return result == size || fail(reader, "the compressed PTX is shorter than it says");
}

static bool read_text(const struct reader *reader, const struct image *image, struct fatbin_ptx *ptx) {
    bool zstd = image->flags & FLAG_ZSTD;
    uint64_t size = zstd ? image->uncompressed : image->payload_size;
    if (image->flags & (FLAG_LZ4 | FLAGS_UNKNOWN))
        return fail(reader,
                    "the PTX is compressed in a way that the simulator does not read (flags 0x%llx); compile the "
                    "program with --no-compress",
                    (unsigned long long)image->flags);
    if (size > MAX_BYTES)
        return fail(reader, "the PTX would take %llu MiB, which is not plausible", (unsigned long long)size >> 20);
    char *text = malloc((size_t)size + 1);
    if (!text)
        return fail(reader, "out of memory");
    if (!zstd)
        memcpy(text, image->payload, (size_t)size);
    else if (!decompress(reader, image, text, (size_t)size)) {
        free(text);
        return false;
    }
    while (size > 0 && text[size - 1] == 0) // images are padded
        size--;
    text[size] = 0;
    *ptx = (struct fatbin_ptx){.text = text, .length = (size_t)size, .target = (int)image->architecture};
    return true;
}

bool fatbin_read(const void *bytes, size_t length, int compute_capability, struct fatbin_ptx *ptx, char *error,
                 size_t error_size) {
    struct reader reader = {.bytes = bytes, .length = length, .error = error, .error_size = error_size};
    struct image best;
    *ptx = (struct fatbin_ptx){0};
    if (length < HEADER_BYTES || number_at(reader.bytes, 4) != HEADER_MAGIC)
        return fail(&reader, "this is not a fat binary: it does not begin with 0x%08X", HEADER_MAGIC);
    uint64_t header = number_at(reader.bytes + 6, 2), size = number_at(reader.bytes + 8, 8);
    if (header != HEADER_BYTES)
        return fail(&reader, "a fat binary with a header of %llu bytes is not known", (unsigned long long)header);
    if (size > length - HEADER_BYTES)
        return fail(&reader, "the fat binary is cut off: %llu bytes of %zu are there",
                    (unsigned long long)(length - HEADER_BYTES), (size_t)size);
    reader.length = HEADER_BYTES + (size_t)size;
    return find_best(&reader, (uint32_t)compute_capability, &best) && read_text(&reader, &best, ptx);
}

// The wrapper and what it points to are in the program's own image; only the header says how long that is.
bool fatbin_read_wrapper(const void *wrapper, int compute_capability, struct fatbin_ptx *ptx, char *error,
                         size_t error_size) {
    struct reader reader = {.error = error, .error_size = error_size};
    struct {
        uint32_t magic, version;
        const unsigned char *data;
    } fields;
    memcpy(&fields, wrapper, sizeof fields);
    *ptx = (struct fatbin_ptx){0};
    if (fields.magic != WRAPPER_MAGIC || !fields.data)
        return fail(&reader, "the program registers something that is not a fat binary");
    if (fields.version != WRAPPER_VERSION)
        return fail(&reader, "a fat binary of version %u is not known", (unsigned)fields.version);
    return fatbin_read_part(fields.data, compute_capability, ptx, error, error_size);
}

bool fatbin_read_part(const void *part, int compute_capability, struct fatbin_ptx *ptx, char *error,
                      size_t error_size) {
    struct reader reader = {.error = error, .error_size = error_size};
    const unsigned char *data = part;
    if (number_at(data, 4) != HEADER_MAGIC || number_at(data + 8, 8) > MAX_BYTES)
        return fail(&reader, "the program's fat binary does not begin as one");
    return fatbin_read(data, HEADER_BYTES + (size_t)number_at(data + 8, 8), compute_capability, ptx, error, error_size);
}

const void *const *fatbin_parts(const void *wrapper) {
    struct {
        uint32_t magic, version;
        const void *data;
        const void *const *parts;
    } fields;
    memcpy(&fields, wrapper, sizeof fields);
    return fields.magic == WRAPPER_MAGIC && fields.version == LINKED_VERSION ? fields.parts : NULL;
}

void fatbin_free(struct fatbin_ptx *ptx) {
    free(ptx->text);
    *ptx = (struct fatbin_ptx){0};
}
