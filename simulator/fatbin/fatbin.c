// The format is undocumented; this description was reverse-engineered from files of nvcc 13.0. All numbers are
// little-endian.
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
static const uint64_t MAX_BYTES = UINT64_C(1) << 30; // of a fat binary, and of one image

enum { HEADER_BYTES = 16, ENTRY_BYTES = 64, KIND_PTX = 1, WRAPPER_VERSION = 1, LINKED_VERSION = 2 };

// nvcc 13.0 compresses with zstd, and with LZ4 if --compress-mode=speed. Other flags have not been observed.
enum { FLAG_ZSTD = 0x8000, FLAG_LZ4 = 0x2000, FLAGS_UNSUPPORTED = 0x1000 | 0x4000 };
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

static uint64_t read_little_endian(const unsigned char *bytes, int size) {
    uint64_t value = 0;
    for (int i = 0; i < size; i++)
        value |= (uint64_t)bytes[i] << 8 * i;
    return value;
}

// Reads the entry at *offset and advances *offset past it. The caller ensures that *offset < reader->length.
static bool next_image(const struct reader *reader, size_t *offset, struct image *image) {
    const unsigned char *entry = reader->bytes + *offset;
    size_t remaining = reader->length - *offset;
    if (remaining < ENTRY_BYTES)
        return fail(reader, "truncated fat binary: an entry's header is incomplete");
    uint64_t header = read_little_endian(entry + 4, 4), payload = read_little_endian(entry + 8, 8);
    if (header < ENTRY_BYTES || header > remaining || payload > remaining - header)
        return fail(reader, "corrupt fat binary: an entry extends past its end");
    *image = (struct image){
        .kind = (int)read_little_endian(entry, 2),
        .compressed = (uint32_t)read_little_endian(entry + 16, 4),
        .architecture = (uint32_t)read_little_endian(entry + 28, 4),
        .flags = read_little_endian(entry + 40, 8),
        .uncompressed = read_little_endian(entry + 56, 8),
        .payload = entry + header,
        .payload_size = (size_t)payload,
    };
    *offset += (size_t)(header + payload);
    return true;
}

// compute_90 runs on 9.0 and higher, compute_90a on 9.0 only, compute_100f on 10.x.
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

static bool find_best_image(const struct reader *reader, uint32_t compute_capability, struct image *best) {
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
            "the program contains machine code but no PTX; compile it with -gencode arch=compute_%u,code=compute_%u",
            compute_capability, compute_capability);
    return fail(reader,
                "the program's PTX targets compute_%u, which a device of compute capability %u.%u cannot run; compile "
                "it with -gencode arch=compute_%u,code=compute_%u",
                lowest, compute_capability / 10, compute_capability % 10, compute_capability, compute_capability);
}

static bool decompress(const struct reader *reader, const struct image *image, char *text, size_t size) {
    if (image->compressed > image->payload_size)
        return fail(reader, "corrupt fat binary: a compressed image is larger than its entry");
    size_t result = ZSTD_decompress(text, size, image->payload, image->compressed);
    if (ZSTD_isError(result))
        return fail(reader, "cannot decompress the PTX: %s", ZSTD_getErrorName(result));
    return result == size || fail(reader, "cannot decompress the PTX: it is shorter than its header says");
}

static bool read_text(const struct reader *reader, const struct image *image, struct fatbin_ptx *ptx) {
    bool zstd = image->flags & FLAG_ZSTD;
    uint64_t size = zstd ? image->uncompressed : image->payload_size;
    if (image->flags & (FLAG_LZ4 | FLAGS_UNSUPPORTED))
        return fail(reader,
                    "unsupported compression of the PTX (flags 0x%llx); compile the program with nvcc --no-compress",
                    (unsigned long long)image->flags);
    if (size > MAX_BYTES)
        return fail(reader, "implausible size of the PTX: %llu MiB", (unsigned long long)size >> 20);
    char *text = malloc((size_t)size + 1);
    if (!text)
        return fail(reader, "out of memory");
    if (!zstd)
        memcpy(text, image->payload, (size_t)size);
    else if (!decompress(reader, image, text, (size_t)size)) {
        free(text);
        return false;
    }
    while (size > 0 && text[size - 1] == 0) // images are padded with zeros
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
    if (length < HEADER_BYTES || read_little_endian(reader.bytes, 4) != HEADER_MAGIC)
        return fail(&reader, "not a fat binary: its magic number is not 0x%08X", HEADER_MAGIC);
    uint64_t header = read_little_endian(reader.bytes + 6, 2), size = read_little_endian(reader.bytes + 8, 8);
    if (header != HEADER_BYTES)
        return fail(&reader, "unsupported fat binary: its header has %llu bytes", (unsigned long long)header);
    if (size > length - HEADER_BYTES)
        return fail(&reader, "truncated fat binary: %llu of %zu bytes", (unsigned long long)(length - HEADER_BYTES),
                    (size_t)size);
    reader.length = HEADER_BYTES + (size_t)size;
    return find_best_image(&reader, (uint32_t)compute_capability, &best) && read_text(&reader, &best, ptx);
}

// The wrapper and the fat binary are in the program's own image; only the header gives their length.
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
        return fail(&reader, "the program registers data that is not a fat binary");
    if (fields.version != WRAPPER_VERSION)
        return fail(&reader, "unsupported fat binary version %u", (unsigned)fields.version);
    return fatbin_read_member(fields.data, compute_capability, ptx, error, error_size);
}

bool fatbin_read_member(const void *part, int compute_capability, struct fatbin_ptx *ptx, char *error,
                        size_t error_size) {
    struct reader reader = {.error = error, .error_size = error_size};
    const unsigned char *data = part;
    if (read_little_endian(data, 4) != HEADER_MAGIC || read_little_endian(data + 8, 8) > MAX_BYTES)
        return fail(&reader, "the program's fat binary has a wrong magic number");
    return fatbin_read(data, HEADER_BYTES + (size_t)read_little_endian(data + 8, 8), compute_capability, ptx, error,
                       error_size);
}

const void *const *fatbin_members(const void *wrapper) {
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
