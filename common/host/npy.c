#include "host/npy.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MAGIC_BYTES = 6, MAX_HEADER = 1 << 16 };
static const char magic[MAGIC_BYTES + 1] = "\x93NUMPY";

// The header is a Python dictionary literal: {'descr': '<f4', 'fortran_order': False, 'shape': (1, 12, 206, 32), }.
struct header {
    const char *at; // what is still to be read, ends in 0
    char descr[16];
    bool has_descr, has_order, has_shape, fortran_order;
};

static void skip_space(struct header *h) {
    while (isspace((unsigned char)*h->at))
        h->at++;
}

static bool accept(struct header *h, char c) {
    skip_space(h);
    if (*h->at != c)
        return false;
    h->at++;
    return true;
}

static bool accept_word(struct header *h, const char *word) {
    skip_space(h);
    size_t length = strlen(word);
    if (strncmp(h->at, word, length) || isalnum((unsigned char)h->at[length]))
        return false;
    h->at += length;
    return true;
}

static bool read_string(struct header *h, char *text, size_t size) {
    skip_space(h);
    char quote = *h->at;
    if (quote != '\'' && quote != '"')
        return false;
    size_t length = strcspn(h->at + 1, quote == '"' ? "\"\\" : "'\\");
    if (h->at[1 + length] != quote || length >= size)
        return false;
    memcpy(text, h->at + 1, length);
    text[length] = 0;
    h->at += length + 2;
    return true;
}

static bool read_shape(struct header *h, struct npy *array) {
    if (!accept(h, '('))
        return false;
    array->dimensions = 0;
    while (!accept(h, ')')) {
        char *end;
        skip_space(h);
        if (array->dimensions == NPY_MAX_DIMENSIONS || !isdigit((unsigned char)*h->at))
            return false;
        errno = 0;
        array->size[array->dimensions++] = strtoll(h->at, &end, 10);
        if (errno)
            return false;
        h->at = end;
        if (!accept(h, ',') && (skip_space(h), *h->at != ')'))
            return false;
    }
    return true;
}

static bool read_header(struct header *h, struct npy *array) {
    char key[24];
    if (!accept(h, '{'))
        return false;
    while (!accept(h, '}')) {
        bool known = read_string(h, key, sizeof key) && accept(h, ':');
        if (known && !strcmp(key, "descr"))
            known = !h->has_descr && (h->has_descr = read_string(h, h->descr, sizeof h->descr));
        else if (known && !strcmp(key, "fortran_order"))
            known = !h->has_order &&
                    (h->has_order = (h->fortran_order = accept_word(h, "True")) || accept_word(h, "False"));
        else if (known && !strcmp(key, "shape"))
            known = !h->has_shape && (h->has_shape = read_shape(h, array));
        else
            return false;
        if (!known || (!accept(h, ',') && (skip_space(h), *h->at != '}')))
            return false;
    }
    skip_space(h);
    return !*h->at && h->has_descr && h->has_order && h->has_shape;
}

// What NumPy calls a type, and what is said of a file that has it.
static bool read_descr(const char *path, const char *descr, struct npy *array, struct message *error) {
    static const struct {
        const char *descr;
        enum attention_dtype dtype;
    } known[] = {{"<f4", ATTENTION_FP32},
                 {"<f2", ATTENTION_FP16},
                 {"<V2", ATTENTION_BF16},
                 {"|V2", ATTENTION_BF16},
                 {"<u2", ATTENTION_BF16}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(descr, known[i].descr)) {
            array->dtype = known[i].dtype;
            return true;
        }
    if (*descr == '>')
        return message_set(error, "%s holds big-endian '%s': save it as little-endian '<f4' or '<f2'", path, descr);
    return message_set(
        error,
        "%s has dtype '%s': save it as float32 ('<f4'), float16 ('<f2') or bfloat16 (two bytes, '<V2' or "
        "'<u2')",
        path, descr);
}

static bool check_header(const char *path, const struct header *h, struct npy *array, struct message *error) {
    if (!read_descr(path, h->descr, array, error))
        return false;
    if (h->fortran_order)
        return message_set(error, "%s is in Fortran order: save numpy.ascontiguousarray(array)", path);
    array->elements = 1;
    for (int i = 0; i < array->dimensions; i++) {
        if (array->size[i] < 1)
            return message_set(error, "%s has an empty dimension: each must be 1 or more", path);
        if (array->elements > INT64_MAX / 8 / array->size[i])
            return message_set(error, "%s has a shape that is too large for any memory", path);
        array->elements *= array->size[i];
    }
    return true;
}

static bool read_open_file(FILE *file, const char *path, struct npy *array, struct message *error) {
    unsigned char prefix[MAGIC_BYTES + 2], length[4] = {0};
    char text[MAX_HEADER + 1];
    struct header header = {.at = text};
    struct stat status;
    if (fstat(fileno(file), &status) || !S_ISREG(status.st_mode))
        return message_set(error, "%s is no regular file", path);
    if (fread(prefix, 1, sizeof prefix, file) != sizeof prefix || memcmp(prefix, magic, MAGIC_BYTES))
        return message_set(error, "%s is no .npy file: it does not begin with the NumPy magic", path);
    int version = prefix[MAGIC_BYTES];
    if (version < 1 || version > 3)
        return message_set(error, "%s has .npy version %d: 1, 2 and 3 are known", path, version);
    size_t length_bytes = version == 1 ? 2 : 4;
    if (fread(length, 1, length_bytes, file) != length_bytes)
        return message_set(error, "%s is cut off in its header: write it again", path);
    uint32_t header_bytes =
        length[0] | (uint32_t)length[1] << 8 | (uint32_t)length[2] << 16 | (uint32_t)length[3] << 24;
    if (header_bytes > MAX_HEADER)
        return message_set(error, "%s is damaged: its header would have %" PRIu32 " bytes", path, header_bytes);
    if (fread(text, 1, header_bytes, file) != header_bytes)
        return message_set(error, "%s is cut off in its header: write it again", path);
    text[header_bytes] = 0;
    if (memchr(text, 0, header_bytes) || !read_header(&header, array))
        return message_set(error, "%s has a header that cannot be read: save it with numpy.save()", path);
    if (!check_header(path, &header, array, error))
        return false;
    int64_t start = (int64_t)(sizeof prefix + length_bytes + header_bytes),
            size = (int64_t)dtype_of(array->dtype)->size, expected = array->elements * size;
    if (status.st_size - start != expected)
        return message_set(error, "%s has %lld bytes of data, but the shape needs %lld bytes: the file is %s", path,
                           (long long)(status.st_size - start), (long long)expected,
                           status.st_size - start < expected ? "truncated" : "too long");
    void *raw = malloc((size_t)expected);
    array->data = malloc((size_t)array->elements * sizeof *array->data);
    bool good = raw && array->data;
    if (!good)
        message_set(error, "%s needs %lld bytes of memory: the host has too little", path, (long long)expected);
    else if (fread(raw, (size_t)size, (size_t)array->elements, file) != (size_t)array->elements)
        good = message_set(error, "%s cannot be read to its end", path);
    else
        dtype_load(array->dtype, raw, array->elements, array->data);
    free(raw);
    if (!good)
        npy_free(array);
    return good;
}

bool npy_read(const char *path, struct npy *array, struct message *error) {
    memset(array, 0, sizeof *array);
    // Opening a pipe would block until another process writes to it.
    int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "rb");
    if (!file)
        return message_set(error, "%s cannot be opened: %s", path, strerror(errno));
    bool good = read_open_file(file, path, array, error);
    fclose(file);
    return good;
}

void npy_free(struct npy *array) {
    free(array->data);
    array->data = NULL;
}

bool npy_write(const char *path, int dimensions, const int64_t *size, enum attention_dtype dtype, const float *data,
               struct message *error) {
    enum { ALIGNMENT = 64 };
    char text[512];
    int length =
        snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (", dtype_of(dtype)->npy);
    int64_t elements = 1;
    for (int i = 0; i < dimensions; i++) {
        length += snprintf(text + length, sizeof text - (size_t)length, "%" PRId64 "%s", size[i],
                           i + 1 < dimensions ? ", "
                           : dimensions == 1  ? ","
                                              : "");
        elements *= size[i];
    }
    length += snprintf(text + length, sizeof text - (size_t)length, "), }");
    while ((MAGIC_BYTES + 4 + length + 1) % ALIGNMENT)
        text[length++] = ' ';
    text[length++] = '\n';
    const unsigned char start[4] = {1, 0, (unsigned char)(length & 0xFF), (unsigned char)(length >> 8)};
    size_t element = dtype_of(dtype)->size;
    void *raw = malloc((size_t)elements * element);
    FILE *file = raw ? fopen(path, "wb") : NULL;
    if (!file) {
        free(raw);
        return message_set(error, "%s cannot be written: %s", path, strerror(errno));
    }
    dtype_store(dtype, data, elements, raw);
    bool good = fwrite(magic, 1, MAGIC_BYTES, file) == MAGIC_BYTES &&
                fwrite(start, 1, sizeof start, file) == sizeof start &&
                fwrite(text, 1, (size_t)length, file) == (size_t)length &&
                fwrite(raw, element, (size_t)elements, file) == (size_t)elements;
    free(raw);
    if (fclose(file) || !good)
        return message_set(error, "%s cannot be written: %s", path, strerror(errno));
    return true;
}
