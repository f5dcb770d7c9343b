// The file: README.md is its format. Each of its parts is kept below a size, so that the page stays one that opens at
// once: as many executions of a site are written, and as many steps of a warp, as fit.
#include "record.h"

#include "../machine/kernel_name.h"
#include "../machine/report.h"
#include "../simulator.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Bytes of all kernels of a file. Two files and a page's own text are to be less than 3 MB.
enum { SAMPLE_BYTES = 512 << 10, VALUE_BYTES = 512 << 10, STEP_BYTES = 224 << 10, STEP_TEXT = 9, EVENT_TEXT = 22 };
enum { ENOUGH_TURNS = 12 };

struct writer {
    struct json json;
    const struct recording *recording;
    int kernels;
    uint32_t executions, value_executions;
    unsigned steps, value_warps;
    const char *file[256]; // of the places
    int files;
};

// ---- What fits
// ----------------------------------------------------------------------------------------------------------

// Of a sample's executions and warps those below these are written, and what a finding is about.
static bool is_written(const struct sample *sample, uint32_t executions, unsigned warps) {
    return sample->kept || (sample->n < executions && sample->warp < warps);
}

static size_t samples_bytes(const struct samples *samples, uint32_t executions, unsigned warps) {
    size_t bytes = 0;
    for (size_t i = 0; i < samples->count; i++)
        if (is_written(&samples->list[i], executions, warps))
            bytes += strlen(samples->list[i].text) + 1;
    return bytes;
}

static size_t sites_bytes(const struct writer *w, uint32_t executions) {
    size_t bytes = 0;
    for (int32_t i = 0; i < w->recording->ptx->instructions; i++)
        for (int s = 0; s < SITE_SPACES; s++)
            if (w->recording->site[i][s])
                bytes += samples_bytes(&w->recording->site[i][s]->samples, executions, MOST_SAMPLED_WARPS);
    return bytes;
}

static size_t values_bytes(const struct writer *w, uint32_t executions) {
    size_t bytes = 0;
    for (int32_t i = 0; i < w->recording->ptx->instructions; i++)
        if (w->recording->value[i])
            bytes += samples_bytes(&w->recording->value[i]->samples, executions, w->value_warps);
    return bytes;
}

static size_t steps_bytes(const struct writer *w, uint32_t most) {
    size_t bytes = 0;
    for (int s = 0; s < MOST_SLOTS; s++) {
        const struct slot *slot = &w->recording->slot[s];
        bytes += (slot->steps < most ? slot->steps : most) * (size_t)STEP_TEXT + slot->events * (size_t)EVENT_TEXT / 4;
    }
    return bytes;
}

// The largest number that fits, in steps of about a quarter; at least 1.
static uint32_t fitting(const struct writer *w, uint32_t most, size_t bytes,
                        size_t (*bytes_of)(const struct writer *, uint32_t)) {
    while (most > 1 && bytes_of(w, most) > bytes / (size_t)w->kernels)
        most -= (most + 3) / 4;
    return most;
}

// Of values rather fewer warps than fewer turns of a loop, in which they change.
static void fit(struct writer *w) {
    w->executions = fitting(w, MOST_EXECUTIONS, SAMPLE_BYTES, sites_bytes);
    w->steps = fitting(w, MOST_STEPS, STEP_BYTES, steps_bytes);
    w->value_warps = w->recording->sampled_warps;
    w->value_executions = fitting(w, MOST_EXECUTIONS, VALUE_BYTES, values_bytes);
    while (w->value_executions < ENOUGH_TURNS && w->value_warps > 1) {
        w->value_warps /= 2;
        w->value_executions = fitting(w, MOST_EXECUTIONS, VALUE_BYTES, values_bytes);
    }
}

// ---- Sources and places
// -------------------------------------------------------------------------------------------------

// Relative to the working directory where it lies below it, or lay below one that was moved since the compile.
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

static void add_number(struct json *json, int64_t number) {
    if (number < 0)
        json_add(json, "null");
    else
        json_add(json, "%lld", (long long)number);
}

static void add_places(struct writer *w, struct json *json) {
    struct json places = {0};
    for (int32_t i = 0; i < recording_places(); i++) {
        const struct recorded_place *place = recording_place_at(i);
        json_add(&places, "%s[", i ? "," : "");
        add_number(&places, file_number(w, place->file));
        json_add(&places, ",%d,", place->line);
        add_number(&places, place->inlined_at);
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

// ---- Memory
// -------------------------------------------------------------------------------------------------------------

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

// "_ZZ6kernelvE6Q_smem" is Q_smem: the last of the lengths and identifiers in it.
static void add_own_name(struct json *json, const char *mangled) {
    const char *name = mangled;
    size_t letters = strlen(mangled);
    char text[128];
    for (const char *at = mangled; !strncmp(mangled, "_Z", 2) && *at; at++) {
        if (*at < '1' || *at > '9' || (at > mangled && at[-1] >= '0' && at[-1] <= '9'))
            continue;
        char *end;
        const size_t length = strtoul(at, &end, 10);
        if (length && length == strlen(end)) {
            name = end;
            letters = length;
        }
    }
    snprintf(text, sizeof text, "%.*s", (int)(letters < sizeof text ? letters : sizeof text - 1), name);
    json_string(json, text);
}

static void add_shared(struct writer *w) {
    const struct recording *r = w->recording;
    const struct ptx_module *module = r->ptx->module;
    bool first = true;
    json_add(&w->json, ",\n\"shared\":[");
    for (int i = 0; i < module->variables; i++) {
        const struct ptx_variable *variable = &module->variable[i];
        if (variable->space != PTX_SHARED || r->ptx->shared_offset[i] < 0)
            continue;
        const size_t offset = (size_t)r->ptx->shared_offset[i];
        json_add(&w->json, "%s{\"name\":", first ? "" : ",");
        add_own_name(&w->json, variable->name);
        json_add(&w->json,
                 ",\"offset\":%zu,\"bytes\":%zu,\"dynamic\":%s,\"element\":null,\"element_bytes\":null,\"dims\":null}",
                 offset, variable->size ? variable->size : r->shared_bytes - offset, variable->size ? "false" : "true");
        first = false;
    }
    json_add(&w->json, "]");
}

// ---- Samples
// ------------------------------------------------------------------------------------------------------------

// Numbers them as they come in the file, which findings ask for.
static void add_samples(struct json *json, const struct samples *samples, uint32_t executions, unsigned warps) {
    bool first = true;
    json_add(json, ",\"samples\":[");
    for (size_t i = 0; i < samples->count; i++) {
        if (!is_written(&samples->list[i], executions, warps))
            continue;
        json_add(json, "%s%s", first ? "" : ",", samples->list[i].text);
        first = false;
    }
    json_add(json, "],\"executed\":%llu", (unsigned long long)samples->executed);
}

static int sample_number(const struct samples *samples, int32_t sample, uint32_t executions) {
    int number = 0;
    if (sample < 0 || (size_t)sample >= samples->count)
        return -1;
    for (int32_t i = 0; i < sample; i++)
        number += is_written(&samples->list[i], executions, MOST_SAMPLED_WARPS);
    return number;
}

static void add_counts(struct json *json, const struct site *site) {
    const struct traffic_counts *c = &site->counts;
    if (!site->counted) {
        json_add(json, ",\"counts\":null");
        return;
    }
    json_add(json,
             ",\"counts\":{\"requests\":%llu,\"lanes\":%llu,\"bytes\":%llu,\"sectors\":%llu,\"ideal_sectors\":%llu,"
             "\"wavefronts\":%llu,\"ideal_wavefronts\":%llu}",
             (unsigned long long)c->requests, (unsigned long long)c->lanes, (unsigned long long)c->bytes,
             (unsigned long long)c->sectors, (unsigned long long)c->ideal_sectors, (unsigned long long)c->wavefronts,
             (unsigned long long)c->ideal_wavefronts);
}

// The number of the instruction's fragment among those in the list, which gets it where it is new; -1: it has none.
static int fragment_number(struct json *fragments, int *count, char *text[64], const struct ptx_instruction *i) {
    struct json one = {0};
    if (!fragments_describe(i, &one) || !one.text)
        return -1;
    int number = 0;
    while (number < *count && strcmp(text[number], one.text))
        number++;
    if (number < *count || *count == 64) {
        json_free(&one);
        return number < *count ? number : -1;
    }
    json_add(fragments, "%s%s", *count ? "," : "", one.text);
    text[(*count)++] = one.text;
    return number;
}

static void add_sites(struct writer *w) {
    static const char *const space_name[SITE_SPACES] = {"\"global\"", "\"shared\"", "\"local\"", "null"};
    const struct recording *r = w->recording;
    struct json fragments = {0};
    char *fragment[64];
    int numbered = 0, described = 0;
    json_add(&w->json, ",\n\"sites\":[");
    for (int32_t i = 0; i < r->ptx->instructions; i++) {
        const struct ptx_instruction *ptx = &r->ptx->instruction[i];
        for (int s = 0; s < SITE_SPACES; s++) {
            struct site *site = r->site[i][s];
            if (!site)
                continue;
            json_add(&w->json, "%s{\"place\":", numbered ? ",\n" : "");
            site->number = numbered++;
            add_number(&w->json, r->place[i]);
            json_add(&w->json, ",\"ptx\":");
            json_string(&w->json, ptx->text ? ptx->text : "");
            json_add(&w->json, ",\"kind\":\"%s\",\"space\":%s,\"bytes\":%u,\"merged\":%d", site->kind, space_name[s],
                     site->bytes, site->merged);
            add_counts(&w->json, site);
            json_add(&w->json, ",\"fragment\":");
            add_number(&w->json,
                       strcmp(site->kind, "sync") == 0 ? -1 : fragment_number(&fragments, &described, fragment, ptx));
            add_samples(&w->json, &site->samples, w->executions, MOST_SAMPLED_WARPS);
            json_add(&w->json, "}");
        }
    }
    json_add(&w->json, "],\n\"fragments\":[%s]", fragments.text ? fragments.text : "");
    json_free(&fragments);
    while (described)
        free(fragment[--described]);
}

static void add_values(struct writer *w) {
    const struct recording *r = w->recording;
    bool first = true;
    json_add(&w->json, ",\n\"values\":[");
    for (int32_t i = 0; i < r->ptx->instructions; i++) {
        const struct value *value = r->value[i];
        const struct ptx_instruction *ptx = &r->ptx->instruction[i];
        if (!value || !value->samples.count)
            continue;
        json_add(&w->json, "%s{\"place\":%d,\"ptx\":", first ? "" : ",\n", r->place[i]);
        json_string(&w->json, ptx->text ? ptx->text : "");
        json_add(&w->json, ",\"type\":\"%s\",\"name\":",
                 ptx->dst[0].reg_type == PTX_F32   ? "f32"
                 : ptx->dst[0].reg_type == PTX_S32 ? "s32"
                                                   : "u32");
        json_string(&w->json, value->name);
        json_add(&w->json, ",\"copy\":%d,\"copies\":%d", value->copy, value->copies);
        add_samples(&w->json, &value->samples, w->value_executions, w->value_warps);
        json_add(&w->json, "}");
        first = false;
    }
    json_add(&w->json, "]");
}

// ---- Steps and events
// ---------------------------------------------------------------------------------------------------

static void add_steps(struct writer *w) {
    const struct recording *r = w->recording;
    bool first = true;
    json_add(&w->json, ",\n\"steps\":[");
    for (int s = 0; s < MOST_SLOTS; s++) {
        const struct slot *slot = &r->slot[s];
        const unsigned steps = slot->steps < w->steps ? slot->steps : w->steps;
        if (!slot->used)
            continue;
        json_add(&w->json, "%s{\"block\":%llu,\"warp\":%u,\"seq\":[", first ? "" : ",\n",
                 (unsigned long long)slot->block, slot->warp);
        for (unsigned i = 0; i < steps; i++)
            json_add(&w->json, "%s%llu", i ? "," : "",
                     (unsigned long long)(slot->step[i].seq - (i ? slot->step[i - 1].seq : 0)));
        json_add(&w->json, "],\"place\":[");
        for (unsigned i = 0; i < steps; i++)
            json_add(&w->json, "%s%d", i ? "," : "", slot->step[i].place);
        json_add(&w->json, "],\"mask\":[");
        for (unsigned i = 0, end; i < steps; i = end) {
            for (end = i + 1; end < steps && slot->step[end].mask == slot->step[i].mask;)
                end++;
            json_add(&w->json, "%s%u,%u", i ? "," : "", slot->step[i].mask, end - i);
        }
        json_add(&w->json, "],\"complete\":%s}", slot->steps_left_out || steps < slot->steps ? "false" : "true");
        first = false;
    }
    json_add(&w->json, "]");
}

static int site_number(const struct recording *r, int32_t instruction) {
    for (int s = SITE_SPACES - 1; s >= 0; s--)
        if (instruction >= 0 && r->site[instruction][s])
            return r->site[instruction][s]->number;
    return -1;
}

static void add_events(struct writer *w) {
    const struct recording *r = w->recording;
    bool first = true;
    json_add(&w->json, ",\n\"events\":[");
    for (int s = 0; s < MOST_SLOTS; s++) {
        const struct slot *slot = &r->slot[s];
        if (!slot->used)
            continue;
        json_add(&w->json, "%s{\"block\":%llu,\"warp\":%u,\"list\":[", first ? "" : ",\n",
                 (unsigned long long)slot->block, slot->warp);
        for (unsigned i = 0; i < slot->events; i++) {
            const struct noted *e = &slot->event[i];
            json_add(&w->json, "%s[%llu,\"%s\",", i ? "," : "", (unsigned long long)e->seq, events_name(e->event));
            add_number(&w->json, site_number(r, e->instruction));
            if (e->event == RECORDING_BULK && e->a < 0)
                json_add(&w->json, ",null,%lld]", (long long)e->b);
            else
                json_add(&w->json, ",%lld,%lld]", (long long)e->a, (long long)e->b);
        }
        json_add(&w->json, "],\"complete\":%s}", slot->events_left_out ? "false" : "true");
        first = false;
    }
    json_add(&w->json, "]");
}

// ---- Kernels
// ------------------------------------------------------------------------------------------------------------

// Instructions of one place added up.
static void add_lines(struct writer *w) {
    const struct recording *r = w->recording;
    const int count = recording_places();
    uint64_t(*sum)[2] = calloc((size_t)count + 1, sizeof *sum);
    bool first = true;
    for (int32_t i = 0; sum && i < r->ptx->instructions; i++) {
        if (r->place[i] >= 0) {
            sum[r->place[i]][0] += r->warp_count[i];
            sum[r->place[i]][1] += r->lane_count[i];
        }
    }
    json_add(&w->json, ",\n\"lines\":[");
    for (int p = 0; sum && p < count; p++) {
        if (!sum[p][0])
            continue;
        json_add(&w->json, "%s[%d,%llu,%llu]", first ? "" : ",", p, (unsigned long long)sum[p][0],
                 (unsigned long long)sum[p][1]);
        first = false;
    }
    json_add(&w->json, "]");
    free(sum);
}

static void add_kernel(struct writer *w) {
    const struct recording *r = w->recording;
    size_t length;
    const char *name = kernel_plain_name(r->ptx->name, &length);
    char plain[256];
    snprintf(plain, sizeof plain, "%.*s", (int)(length < sizeof plain ? length : sizeof plain - 1), name);
    fit(w);
    json_add(&w->json, "{\"name\":");
    json_string(&w->json, plain);
    json_add(&w->json, ",\"mangled\":");
    json_string(&w->json, r->ptx->name);
    json_add(&w->json,
             ",\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u],\"launch\":%u,\"launches\":%u,\"shared_bytes\":%zu,"
             "\"blocks\":%llu,\"warps\":%u,\"complete\":%s,\"sampled\":{\"blocks\":[",
             r->grid.x, r->grid.y, r->grid.z, r->block.x, r->block.y, r->block.z, r->launch, r->launches,
             r->shared_bytes, (unsigned long long)r->blocks, r->warps, r->complete ? "true" : "false");
    for (int b = 0; b < r->sampled_blocks; b++)
        json_add(&w->json, "%s%llu", b ? "," : "", (unsigned long long)r->sampled[b]);
    json_add(&w->json, "],\"warps\":%u,\"executions\":%u,\"value_executions\":%u,\"value_warps\":%u,\"steps\":%u}",
             r->sampled_warps, w->executions, w->value_executions, w->value_warps, w->steps);
    add_shared(w);
    add_lines(w);
    add_sites(w);
    add_values(w);
    add_steps(w);
    add_events(w);
    json_add(&w->json, "}");
}

// ---- Findings
// -----------------------------------------------------------------------------------------------------------

static void add_access(struct json *json, const struct writer *w, const struct found_access *access, bool has_thread) {
    const struct recording *r = w->recording;
    if (access->instruction < 0) {
        json_add(json, "null");
        return;
    }
    struct site *site = access->site_instruction >= 0 ? r->site[access->site_instruction][access->space] : NULL;
    json_add(json, "{\"place\":");
    add_number(json, r->place[access->instruction]);
    json_add(json, ",\"site\":");
    add_number(json, site ? site->number : -1);
    if (access->warp >= 0)
        json_add(json, ",\"block\":%llu,\"warp\":%d", (unsigned long long)access->block, access->warp);
    else
        json_add(json, ",\"block\":null,\"warp\":null");
    if (has_thread)
        json_add(json, ",\"thread\":[%u,%u,%u]", access->thread.x, access->thread.y, access->thread.z);
    else
        json_add(json, ",\"thread\":null");
    json_add(json, ",\"sample\":");
    add_number(json, site ? sample_number(&site->samples, access->sample, w->executions) : -1);
    json_add(json, "}");
}

// Those that were told: the others only follow from these.
static void add_findings(struct json *json, const struct writer *w, int kernel) {
    for (int i = 0; i < w->recording->founds; i++) {
        const struct found *found = &w->recording->found[i];
        if (!found->text)
            continue;
        json_add(json, "%s{\"kind\":", json->length ? ",\n" : "");
        json_string(json, sim_report_kind(found->kind));
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
    if (!recording_enabled())
        return 0;
    for (const struct recording *r = recording_first; r; r = r->next)
        w.kernels++;
    for (w.recording = recording_first; w.recording; w.recording = w.recording->next, number++) {
        json_add(&w.json, number ? ",\n" : "");
        add_kernel(&w);
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
