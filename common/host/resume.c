#include "host/resume.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// FNV-1a, 64 bits: the hash detects changes, not forgery.
static const uint64_t hash_start = 0xCBF29CE484222325u, hash_factor = 0x100000001B3u;

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t count) {
    const unsigned char *byte = bytes;
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ byte[i]) * hash_factor;
    return hash;
}

// Tabs and lines structure the file.
static void copy_plain(char *to, const char *from, size_t size) {
    snprintf(to, size, "%s", from);
    for (char *c = to; *c; c++)
        if (*c == '\t' || *c == '\n')
            *c = ' ';
}

void resume_add(struct resume_facts *facts, const char *name, const char *format, ...) {
    char value[RESUME_VALUE];
    va_list arguments;
    if (facts->count == RESUME_FACTS)
        return;
    va_start(arguments, format);
    vsnprintf(value, sizeof value, format, arguments);
    va_end(arguments);
    copy_plain(facts->fact[facts->count].name, name, RESUME_NAME);
    copy_plain(facts->fact[facts->count++].value, value, RESUME_VALUE);
}

void resume_hash_file(const char *path, char text[17]) {
    unsigned char bytes[1 << 14];
    uint64_t hash = hash_start;
    size_t count;
    FILE *file = fopen(path, "rb");
    snprintf(text, 17, "unreadable");
    if (!file)
        return;
    while ((count = fread(bytes, 1, sizeof bytes, file)) > 0)
        hash = hash_bytes(hash, bytes, count);
    if (!ferror(file))
        snprintf(text, 17, "%016llx", (unsigned long long)hash);
    fclose(file);
}

void resume_path(const char *folder, const char *what, char *path, size_t size) {
    snprintf(path, size, "%s/%016llx", folder, (unsigned long long)hash_bytes(hash_start, what, strlen(what)));
}

// The folder and those above it.
static void make_folders(const char *path) {
    char part[PATH_MAX];
    snprintf(part, sizeof part, "%s", path);
    for (char *c = part + 1; *c; c++)
        if (*c == '/') {
            *c = 0;
            mkdir(part, 0777);
            *c = '/';
        }
}

bool resume_save(const char *path, const char *run, const struct resume_facts *facts, struct message *error) {
    char scratch[PATH_MAX];
    make_folders(path);
    snprintf(scratch, sizeof scratch, "%s.%d", path, (int)getpid());
    FILE *file = fopen(scratch, "w");
    if (!file)
        return message_set(error, "%s cannot be written: %s", scratch, strerror(errno));
    fprintf(file, "run\t%s\n", run);
    for (int i = 0; i < facts->count; i++)
        fprintf(file, "%s\t%s\n", facts->fact[i].name, facts->fact[i].value);
    bool good = !ferror(file);
    good = fclose(file) == 0 && good && rename(scratch, path) == 0;
    return good || message_set(error, "%s cannot be written: %s", path, strerror(errno));
}

bool resume_load(const char *path, char *run, size_t size, struct resume_facts *facts) {
    char line[RESUME_NAME + RESUME_VALUE + 4];
    FILE *file = fopen(path, "r");
    *run = 0;
    facts->count = 0;
    while (file && fgets(line, sizeof line, file)) {
        char *tab = strchr(line, '\t');
        line[strcspn(line, "\n")] = 0;
        if (!tab)
            break;
        *tab = 0;
        if (!*run)
            snprintf(run, size, "%s", strcmp(line, "run") ? "" : tab + 1);
        else
            resume_add(facts, line, "%s", tab + 1);
        if (!*run)
            break;
    }
    if (file)
        fclose(file);
    return *run;
}

bool resume_same(const struct resume_facts *old, const struct resume_facts *new, struct message *why) {
    int most = old->count > new->count ? old->count : new->count;
    for (int i = 0; i < most; i++) {
        if (i >= old->count || i >= new->count || strcmp(old->fact[i].name, new->fact[i].name))
            return message_set(why, "that run had another list of kernels");
        if (strcmp(old->fact[i].value, new->fact[i].value))
            return message_set(why, "%s was %s and is %s", new->fact[i].name, old->fact[i].value, new->fact[i].value);
    }
    return true;
}

void resume_forget(const char *path) {
    unlink(path);
}
