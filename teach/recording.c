#include "recording.h"

#include "files.h"
#include "shared.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SOURCES = 256, MAX_SOURCE_BYTES = 256 << 10 };

// ---- Text ----------------------------------------------------------------------------------------------------------

// The length of the UTF-8 character at the start of `left` bytes; 0 if it is invalid.
static size_t utf8_length(const unsigned char *text, size_t left) {
    const unsigned char c = text[0];
    const size_t length = c < 0x80 ? 1 : c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 0;
    if (length == 0 || length > left)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    // Overlong encodings, surrogates, code points above U+10FFFF.
    const bool wrong = (c == 0xe0 && text[1] < 0xa0) || (c == 0xf0 && text[1] < 0x90) ||
                       (c == 0xed && text[1] >= 0xa0) || (c == 0xf4 && text[1] >= 0x90);
    return wrong ? 0 : length;
}

bool recording_is_utf8(const char *text, size_t length) {
    for (size_t i = 0; i < length;) {
        const size_t step = utf8_length((const unsigned char *)text + i, length - i);
        if (step == 0)
            return false;
        i += step;
    }
    return true;
}

void recording_string(FILE *to, const char *text, size_t length, bool latin1) {
    putc('"', to);
    for (size_t i = 0; i < length;) {
        const unsigned char c = (unsigned char)text[i];
        const size_t step = latin1 ? (size_t)(c < 0x80) : utf8_length((const unsigned char *)text + i, length - i);
        if (c == '"' || c == '\\')
            fprintf(to, "\\%c", c);
        else if (c == '\n')
            fputs("\\n", to);
        else if (c == 0)
            fputs("\\ufffd", to);
        else if (c < ' ' || c == '<' || c == 0x7f || step == 0)
            fprintf(to, "\\u%04x", c);
        else
            fwrite(text + i, 1, step, to);
        i += step ? step : 1;
    }
    putc('"', to);
}

static void print_text(FILE *to, const char *text) {
    recording_string(to, text, strlen(text), !recording_is_utf8(text, strlen(text)));
}

// A recording is JSON, which has '<' only in strings.
static void print_escaped(FILE *to, const char *text) {
    for (; *text; text++) {
        if (*text == '<')
            fputs("\\u003c", to);
        else
            putc(*text, to);
    }
}

// ---- Sources -------------------------------------------------------------------------------------------------------

struct sources {
    char *name[MAX_SOURCES];
    int count;
};

// -1 if there are too many sources.
static int source_index(struct sources *sources, const char *name, size_t length) {
    for (int i = 0; i < sources->count; i++)
        if (strlen(sources->name[i]) == length && !strncmp(sources->name[i], name, length))
            return i;
    if (sources->count == MAX_SOURCES)
        return -1;
    sources->name[sources->count] = text_copy(name, length);
    return sources->count++;
}

// Kernels and the project's headers are shown, the toolkit's headers are not.
static bool is_shown(const char *name) {
    const char *dot = strrchr(name, '.');
    return *name != '/' || (dot && (!strcmp(dot, ".cu") || !strcmp(dot, ".cuh")));
}

// NULL if it cannot be read; *length is at most MAX_SOURCE_BYTES.
static char *read_source(const char *name, size_t *length) {
    FILE *file = is_shown(name) ? fopen(name, "re") : NULL;
    char *text = file ? malloc(MAX_SOURCE_BYTES) : NULL;
    *length = text ? fread(text, 1, MAX_SOURCE_BYTES, file) : 0;
    if (text && ferror(file)) {
        free(text);
        text = NULL;
    }
    if (file)
        fclose(file);
    return text;
}

static void print_sources(FILE *to, const struct sources *sources) {
    fputs("\"sources\":[", to);
    for (int i = 0; i < sources->count; i++) {
        size_t length;
        char *text = read_source(sources->name[i], &length);
        const bool latin1 = text && !recording_is_utf8(text, length);
        fputs(i ? ",\n{\"name\":" : "\n{\"name\":", to);
        print_text(to, sources->name[i]);
        fprintf(to, ",\"encoding\":\"%s\",\"text\":", latin1 ? "latin-1" : "utf-8");
        if (text)
            recording_string(to, text, length, latin1);
        else
            fputs("null", to);
        putc('}', to);
        free(text);
    }
    putc(']', to);
}

// ---- A recording ---------------------------------------------------------------------------------------------------

// Maps the names in ["a","b"] to indices of sources. Names are taken as written: a name with escapes matches no file.
static int read_names(const char *line, struct sources *sources, int number[MAX_SOURCES]) {
    const char *at = strchr(line, '[');
    int count = 0;
    while (at && (at = strchr(at, '"')) && count < MAX_SOURCES) {
        const char *end = at + 1;
        while (*end && *end != '"')
            end += *end == '\\' && end[1] ? 2 : 1;
        if (!*end)
            break;
        number[count++] = source_index(sources, at + 1, (size_t)(end - at - 1));
        at = end + 1;
    }
    return count;
}

// "places":[[0,12,null],...] with the file indices of the page instead of the recording.
static void print_places(FILE *to, const char *line, const int *number, int count) {
    const char *at = strchr(line, '[');
    if (!at)
        return;
    fprintf(to, "%.*s", (int)(at + 1 - line), line);
    for (at++; *at; at++) {
        putc(*at, to);
        if (*at == '[' && isdigit((unsigned char)at[1])) {
            char *end;
            const long file = strtol(at + 1, &end, 10);
            if (file < count && number[file] >= 0)
                fprintf(to, "%d", number[file]);
            else
                fputs("null", to);
            at = end - 1;
        }
    }
    putc('\n', to);
}

// The text after a word in the first line of the log that contains it, up to one of the characters in `end`.
static void find_log_text(const struct lines *log, const char *word, const char *end, char *text, size_t size) {
    *text = 0;
    for (int i = 0; i < log->count && !*text; i++) {
        const char *at = strstr(log->line[i], word);
        if (at)
            snprintf(text, size, "%.*s", (int)strcspn(at + strlen(word), end), at + strlen(word));
    }
}

// The line on which the page of a lesson opens: a part of its text, from the lesson's file `opens`; "" if there is
// none.
static void print_opening_line(FILE *to, const char *name) {
    char path[PATH_TEXT];
    struct lines lines;
    const char *folder = strchr(name, '-');
    snprintf(path, sizeof path, "lessons/%.4000s/opens", folder ? folder + 1 : "");
    const bool known = lines_read(path, &lines);
    fputs(",\"opens\":", to);
    print_text(to, known && lines.count ? lines.line[0] : "");
    lines_free(&lines);
}

static void print_run_header(FILE *to, const struct recorded_run *run, struct sources *sources) {
    struct lines log = {NULL, NULL, 0};
    char shape[64], seed[32], words[256];
    lines_read(run->log, &log);
    find_log_text(&log, "SHAPE=", " ", shape, sizeof shape);
    // In a failing case a colon separates the shape from the error; a colon inside is part of the shape.
    if (*shape && shape[strlen(shape) - 1] == ':')
        shape[strlen(shape) - 1] = 0;
    find_log_text(&log, "SHAPE=", "", words, sizeof words);
    find_log_text(&log, ", seed ", " ,", seed, sizeof seed);
    fputs("{\"name\":", to);
    print_text(to, run->name);
    print_opening_line(to, run->name);
    fprintf(to, ",\"source\":%d,\"shape\":{\"text\":", source_index(sources, run->source, strlen(run->source)));
    print_text(to, shape);
    fprintf(to, ",\"causal\":%s,\"dtype\":\"%s\"},\"seed\":", run->causal ? "true" : "false",
            strstr(words, " bf16")   ? "bf16"
            : strstr(words, " fp16") ? "fp16"
                                     : "fp32");
    if (*seed)
        print_text(to, seed);
    else
        fputs("null", to);
    fputs(",\"log\":[", to);
    for (int i = 0; i < log.count; i++) {
        if (i)
            putc(',', to);
        print_text(to, log.line[i]);
    }
    fputs("],\n", to);
    lines_free(&log);
}

// The value of "mangled" in the line of a kernel.
static void find_mangled(const char *line, char *mangled, size_t size) {
    const char *at = strstr(line, "\"mangled\":\"");
    if (at)
        snprintf(mangled, size, "%.*s", (int)strcspn(at + 11, "\""), at + 11);
}

static void print_kernels_memory(FILE *to, const struct recorded_run *run, const char *line, const char *mangled,
                                 const struct sources *sources) {
    char scratch[PATH_TEXT];
    struct lines lines[MAX_SOURCES];
    for (int i = 0; i < sources->count; i++)
        if (!is_shown(sources->name[i]) || !lines_read(sources->name[i], &lines[i]))
            lines[i] = (struct lines){NULL, NULL, 0};
    snprintf(scratch, sizeof scratch, "%.4000s.layout", run->recording);
    print_shared_arrays(to, line, mangled, run->library, scratch, lines, sources->count);
    for (int i = 0; i < sources->count; i++)
        lines_free(&lines[i]);
}

static void print_run(FILE *to, const struct recorded_run *run, struct sources *sources) {
    struct lines recorded = {NULL, NULL, 0};
    char mangled[2048] = "";
    int number[MAX_SOURCES], names = 0;
    const bool whole = lines_read(run->recording, &recorded) && recorded.count > 2;
    print_run_header(to, run, sources);
    bool ended = whole;
    for (int i = 0; i < recorded.count; i++)
        ended = ended && !strstr(recorded.line[i], "\"complete\":false,\"sampled\"");
    fprintf(to, "\"status\":\"%s\",\"notes\":[", run->status == 0 ? "right" : ended ? "wrong" : "failed");
    if (!whole)
        fputs("\"Nothing was recorded: the kernel was not launched, or its launch was stopped before it completed.\"",
              to);
    fputs("],\n", to);
    if (!whole)
        fputs("\"device\":\"\",\"places\":[],\"tensors\":[],\"kernels\":[],\"findings\":[]}", to);
    for (int i = 0; i < recorded.count && whole; i++) {
        const char *line = recorded.line[i];
        if (text_after_prefix(line, "{\"files\":"))
            names = read_names(line, sources, number);
        else if (text_after_prefix(line, "\"places\":"))
            print_places(to, line, number, names);
        else if (text_after_prefix(line, "\"shared\":"))
            print_kernels_memory(to, run, line, mangled, sources);
        else {
            find_mangled(line, mangled, sizeof mangled);
            print_escaped(to, line);
            putc('\n', to);
        }
    }
    lines_free(&recorded);
}

void recording_print(FILE *to, const struct recorded_run *run, int runs) {
    struct sources sources = {.count = 0};
    fputs("{\"format\":1,\n\"runs\":[", to);
    for (int i = 0; i < runs; i++) {
        fputs(i ? ",\n" : "\n", to);
        print_run(to, &run[i], &sources);
    }
    fputs("],\n", to);
    print_sources(to, &sources);
    fputs("}\n", to);
    while (sources.count)
        free(sources.name[--sources.count]);
}
