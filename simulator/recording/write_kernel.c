// A kernel of a recording's file.
#include "writer.h"

#include "../machine/element_names.h"
#include "../machine/kernel_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- Shared memory -------------------------------------------------------------------------------------------------

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
        char name[128];
        element_name_demangle(variable->name, name, sizeof name);
        json_string(&w->json, name);
        json_add(&w->json,
                 ",\"offset\":%zu,\"bytes\":%zu,\"dynamic\":%s,\"element\":null,\"element_bytes\":null,\"dims\":null}",
                 offset, variable->size ? variable->size : r->shared_bytes - offset, variable->size ? "false" : "true");
        first = false;
    }
    json_add(&w->json, "]");
}

// ---- Samples -------------------------------------------------------------------------------------------------------

// Numbers the samples in the order of the file, for the findings.
static void add_samples(struct json *json, const struct samples *samples, uint32_t executions, unsigned warps) {
    bool first = true;
    json_add(json, ",\"samples\":[");
    for (size_t i = 0; i < samples->count; i++) {
        if (!fits_sample(&samples->list[i], executions, warps))
            continue;
        json_add(json, "%s%s", first ? "" : ",", samples->list[i].text);
        first = false;
    }
    json_add(json, "],\"executed\":%llu", (unsigned long long)samples->executed);
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

// The index of the instruction's fragment in the list, to which it is added if it is new; -1: it has none.
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
            json_number(&w->json, r->place[i]);
            json_add(&w->json, ",\"ptx\":");
            json_string(&w->json, ptx->text ? ptx->text : "");
            json_add(&w->json, ",\"kind\":\"%s\",\"space\":%s,\"bytes\":%u,\"merged\":%d", site->kind, space_name[s],
                     site->bytes, site->merged);
            add_counts(&w->json, site);
            json_add(&w->json, ",\"fragment\":");
            json_number(&w->json,
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

// ---- Steps and events ----------------------------------------------------------------------------------------------

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
            const struct event_record *e = &slot->event[i];
            json_add(&w->json, "%s[%llu,\"%s\",", i ? "," : "", (unsigned long long)e->seq, event_name(e->event));
            json_number(&w->json, site_number(r, e->instruction));
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

// ---- Kernels -------------------------------------------------------------------------------------------------------

// Sums of the instructions of each source location.
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

void write_kernel(struct writer *w) {
    const struct recording *r = w->recording;
    size_t length;
    const char *name = kernel_plain_name(r->ptx->name, &length);
    char plain[256];
    snprintf(plain, sizeof plain, "%.*s", (int)(length < sizeof plain ? length : sizeof plain - 1), name);
    fits_choose(w);
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
