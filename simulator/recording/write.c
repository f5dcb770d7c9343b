// Writes the file: README.md describes its format.
#include "writer.h"

#include "../machine/control.h"
#include "../machine/report.h"
#include "../simulator.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- Sources and places --------------------------------------------------------------------------------------------

// The path relative to the working directory if it is below it, or was below it before a move since the compilation.
static const char *short_name(const char *path) {
    static char folder[4096];
    if (!*folder && !getcwd(folder, sizeof folder - 1))
        return path;
    size_t length = strlen(folder);
    if (strncmp(path, folder, length) == 0 && path[length] == '/')
        return path + length + 1;
    const char *rest = access(path, R_OK) == 0 ? NULL : strchr(path, '/');
    while (rest && access(rest + 1, R_OK) != 0)
        rest = strchr(rest + 1, '/');
    return rest ? rest + 1 : path;
}

static int file_number(struct writer *w, const char *file) {
    for (int i = 0; i < w->files; i++)
        if (!strcmp(w->file[i], file))
            return i;
    if (!*file || w->files == 256)
        return -1;
    w->file[w->files] = file;
    return w->files++;
}

static void add_places(struct writer *w, struct json *json) {
    struct json places = {0};
    for (int32_t i = 0; i < recording_places(); i++) {
        const struct recorded_place *place = recording_place_at(i);
        json_add(&places, "%s[", i ? "," : "");
        json_number(&places, file_number(w, place->file));
        json_add(&places, ",%d,", place->line);
        json_number(&places, place->inlined_at);
        json_add(&places, "]");
    }
    json_add(json, "{\"files\":[");
    for (int i = 0; i < w->files; i++) {
        json_add(json, i ? "," : "");
        json_string(json, short_name(w->file[i]));
    }
    json_add(json, "],\n\"places\":[%s],\n", places.text ? places.text : "");
    json_free(&places);
}

// ---- Memory --------------------------------------------------------------------------------------------------------

static void add_numbers(struct json *json, const char *name, const int64_t *number, int count) {
    json_add(json, ",\"%s\":[", name);
    for (int i = 0; i < count; i++)
        json_add(json, "%s%lld", i ? "," : "", (long long)number[i]);
    json_add(json, "]");
}

static void add_tensor(struct json *json, const struct recorded_memory *memory) {
    json_add(json, "{\"name\":");
    json_string(json, memory->name);
    json_add(json, ",\"element_bytes\":%u,\"bytes\":%zu,\"dtype\":", memory->element_bytes, memory->bytes);
    if (!*memory->dtype) {
        json_add(json, "null,\"shape\":null,\"strides\":null,\"axes\":null}");
        return;
    }
    json_string(json, memory->dtype);
    add_numbers(json, "shape", memory->size, memory->dimensions);
    add_numbers(json, "strides", memory->stride, memory->dimensions);
    json_add(json, ",\"axes\":[");
    for (int i = 0; i < memory->dimensions; i++) {
        json_add(json, i ? "," : "");
        json_string(json, memory->axis[i]);
    }
    json_add(json, "]}");
}

static void add_tensors(struct json *json) {
    const struct recorded_memory *memory;
    json_add(json, "\"tensors\":[");
    for (int i = 0; (memory = recording_memory_at(i)); i++) {
        json_add(json, i ? "," : "");
        add_tensor(json, memory);
    }
    json_add(json, "],\n");
}

// ---- Findings ------------------------------------------------------------------------------------------------------

static int sample_number(const struct samples *samples, int32_t sample, uint32_t executions) {
    int number = 0;
    if (sample < 0 || (size_t)sample >= samples->count)
        return -1;
    for (int32_t i = 0; i < sample; i++)
        number += fits_sample(&samples->list[i], executions, MOST_SAMPLED_WARPS);
    return number;
}

static void add_access(struct json *json, const struct writer *w, const struct found_access *access, bool has_thread) {
    const struct recording *r = w->recording;
    if (access->instruction < 0) {
        json_add(json, "null");
        return;
    }
    struct site *site = access->site_instruction >= 0 ? r->site[access->site_instruction][access->space] : NULL;
    json_add(json, "{\"place\":");
    json_number(json, r->place[access->instruction]);
    json_add(json, ",\"site\":");
    json_number(json, site ? site->number : -1);
    if (access->warp >= 0)
        json_add(json, ",\"block\":%llu,\"warp\":%d", (unsigned long long)access->block, access->warp);
    else
        json_add(json, ",\"block\":null,\"warp\":null");
    if (has_thread)
        json_add(json, ",\"thread\":[%u,%u,%u]", access->thread.x, access->thread.y, access->thread.z);
    else
        json_add(json, ",\"thread\":null");
    json_add(json, ",\"sample\":");
    json_number(json, site ? sample_number(&site->samples, access->sample, w->executions) : -1);
    json_add(json, "}");
}

// Printed findings only: the others are consequences of these.
static void add_findings(struct json *json, const struct writer *w, int kernel) {
    for (int i = 0; i < w->recording->found_count; i++) {
        const struct found *found = &w->recording->found[i];
        if (!found->text)
            continue;
        json_add(json, "%s{\"kind\":", json->length ? ",\n" : "");
        json_string(json, sim_report_title(found->kind));
        json_add(json, ",\"text\":");
        json_string(json, found->text);
        json_add(json, ",\"count\":%llu,\"kernel\":%d,\"here\":", (unsigned long long)found->count, kernel);
        add_access(json, w, &found->here, true);
        json_add(json, ",\"there\":");
        add_access(json, w, &found->there, false);
        json_add(json, "}");
    }
}

static bool write_text(const struct json *json, const char *path) {
    FILE *file = fopen(path, "w");
    if (!file)
        return false;
    bool written = fwrite(json->text, 1, json->length, file) == json->length;
    return fclose(file) == 0 && written;
}

int simulator_write_recording(void) {
    const char *path = getenv("SIMULATOR_RECORDING");
    struct writer w = {.kernels = 0};
    struct json findings = {0}, head = {0};
    int number = 0;
    if (!recording_enabled() || !control_is_open())
        return 0;
    for (const struct recording *r = recording_first; r; r = r->next)
        w.kernels++;
    for (w.recording = recording_first; w.recording; w.recording = w.recording->next, number++) {
        json_add(&w.json, number ? ",\n" : "");
        write_kernel(&w);
        add_findings(&findings, &w, number);
    }
    add_places(&w, &head);
    json_add(&head, "\"device\":");
    json_string(&head, recording_first ? recording_first->device : "");
    json_add(&head, ",\n");
    add_tensors(&head);
    json_add(&head, "\"kernels\":[%s],\n\"findings\":[%s]}\n", w.json.text ? w.json.text : "",
             findings.text ? findings.text : "");
    const bool full = head.failed || w.json.failed || findings.failed;
    errno = full ? ENOMEM : 0;
    const bool written = !full && write_text(&head, path);
    json_free(&head);
    json_free(&findings);
    json_free(&w.json);
    recording_discard_all();
    return written ? 0 : -1;
}
