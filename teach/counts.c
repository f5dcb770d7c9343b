#include "counts.h"

#include "measured.h"
#include "sources.h"

#include <math.h>
#include <string.h>

enum { SECTOR_BYTES = 32 };

bool counts_load(struct counts *counts, const char *label, const char *path, struct message *error) {
    if (counts->runs == MOST_RUNS)
        return message_set(error, "has more than %d runs", MOST_RUNS);
    if (!traffic_read(path, &counts->run[counts->runs].traffic))
        return message_set(error, "cannot be graded: %s holds no counts; make clean, and ask again", path);
    snprintf(counts->run[counts->runs].label, sizeof counts->run->label, "%s", label);
    counts->runs++;
    return true;
}

void counts_free(struct counts *counts) {
    for (int i = 0; i < counts->runs; i++)
        traffic_free(&counts->run[i].traffic);
    counts->runs = 0;
}

// What a function is given and what it gives.
struct call {
    struct counts *counts;
    const struct value *argument;
    int count;
    const struct traffic *traffic; // of the run that the first argument names, where it names one
    struct value *value;
    struct message *error;
};

static bool give(struct call *call, double number) {
    *call->value = value_number(number);
    return true;
}

static bool at_line(const struct traffic_access *access, const char *text) {
    return !*text || strstr(source_line(access->file, access->line), text) ||
           strstr(source_line(access->outer_file, access->outer_line), text);
}

// "global async copy bytes": the last word is the quantity.
static bool sum(struct call *call, const char *what, const char *text, double *sum) {
    const char *last = strrchr(what, ' ');
    enum quantity quantity;
    bool found = false;
    if (!last || !traffic_quantity(last + 1, &quantity))
        return message_set(call->error, "asks for '%.60s', and no such quantity is counted", what);
    *sum = 0;
    for (int i = 0; i < call->traffic->count; i++) {
        const struct traffic_access *access = &call->traffic->access[i];
        char name[64];
        snprintf(name, sizeof name, "%s %s", access->space, access->access);
        if (strlen(name) != (size_t)(last - what) || strncmp(name, what, strlen(name)) || !at_line(access, text))
            continue;
        found = true;
        *sum += access->quantity[quantity];
    }
    return found || message_set(call->error, "asks for %.*s at a line with '%.120s', and the run '%.30s' has none",
                                (int)(last - what), what, text, call->argument[0].text);
}

static bool call_count(struct call *call) {
    double total;
    return sum(call, call->argument[1].text, call->count > 2 ? call->argument[2].text : "", &total) &&
           give(call, total);
}

static bool call_conflicts(struct call *call) {
    char taken[64], needed[64];
    double wavefronts, ideal;
    snprintf(taken, sizeof taken, "shared %.30s wavefronts", call->argument[1].text);
    snprintf(needed, sizeof needed, "shared %.30s ideal_wavefronts", call->argument[1].text);
    return sum(call, taken, call->argument[2].text, &wavefronts) && sum(call, needed, call->argument[2].text, &ideal) &&
           (ideal > 0 || message_set(call->error, "divides by 0")) && give(call, wavefronts / ideal);
}

static bool call_streamed(struct call *call) {
    double bytes = 0;
    for (int i = 0; i < call->traffic->count; i++) {
        const struct traffic_access *access = &call->traffic->access[i];
        if (!strcmp(access->space, "global") &&
            access->quantity[BYTES] == SECTOR_BYTES * access->quantity[IDEAL_SECTORS])
            bytes += access->quantity[BYTES];
    }
    return give(call, bytes);
}

static bool call_shared_bytes(struct call *call) {
    return give(call, call->traffic->access[0].shared_bytes);
}

static bool call_launches(struct call *call) {
    double launches = 0;
    for (int i = 0; i < call->traffic->count; i++)
        if (!i || call->traffic->access[i].group != call->traffic->access[i - 1].group)
            launches += call->traffic->access[i].launches;
    return give(call, launches);
}

static bool call_line(struct call *call) {
    const char *text = call->argument[1].text;
    for (int i = 0; i < call->traffic->count; i++) {
        const char *file = call->traffic->access[i].outer_file;
        int line = source_find(file, text);
        if (!line)
            continue;
        *call->value = (struct value){.is_text = true};
        snprintf(call->value->text, VALUE_TEXT, "%.200s:%d", text_base(file), line);
        return true;
    }
    return message_set(call->error, "asks for a line with '%.120s', and the run '%.30s' has none", text,
                       call->argument[0].text);
}

static bool call_measured(struct call *call) {
    char text[VALUE_TEXT];
    if (!measured(call->counts->results, call->argument[0].text, call->argument[1].text, call->argument[2].text, text,
                  call->error))
        return false;
    *call->value = value_text(text);
    return true;
}

static bool call_busy(struct call *call) {
    double percent;
    return measured_busy(call->counts->results, call->argument[0].text, (int)call->argument[1].number,
                         call->argument[2].text, &percent, call->error) &&
           give(call, percent);
}

static bool call_gpu(struct call *call) {
    char text[VALUE_TEXT];
    if (!measured(call->counts->results, "attention.csv", "dtype=fp32", "device", text, call->error))
        return false;
    *call->value = value_text(text);
    return true;
}

static bool call_near(struct call *call) {
    return give(call, -fabs(call->argument[0].number - call->argument[1].number));
}

static bool call_number(struct call *call) {
    *call->value = (struct value){.is_text = true};
    text_number(call->argument[0].number, call->value->text);
    return true;
}

static bool call_percent(struct call *call) {
    *call->value = (struct value){.is_text = true};
    snprintf(call->value->text, VALUE_TEXT, "%.1f %%", call->argument[0].number);
    return true;
}

static const struct {
    const char *name;
    const char *takes; // r: the label of a run, t: a text, n: a number
    int least;
    bool (*call)(struct call *call);
} functions[] = {
    {"count", "rtt", 2, call_count},
    {"conflicts", "rtt", 3, call_conflicts},
    {"streamed", "r", 1, call_streamed},
    {"shared_bytes", "r", 1, call_shared_bytes},
    {"launches", "r", 1, call_launches},
    {"line", "rt", 2, call_line},
    {"measured", "ttt", 3, call_measured},
    {"busy", "tnt", 3, call_busy},
    {"gpu", "", 0, call_gpu},
    {"near", "nn", 2, call_near},
    {"number", "n", 1, call_number},
    {"percent", "n", 1, call_percent},
};

static const struct traffic *find_run(const struct counts *counts, const char *label) {
    for (int i = 0; i < counts->runs; i++)
        if (!strcmp(counts->run[i].label, label))
            return &counts->run[i].traffic;
    return NULL;
}

static bool call_function(void *context, const char *name, const struct value *argument, int count, struct value *value,
                          struct message *error) {
    struct call call = {context, argument, count, NULL, value, error};
    size_t i = 0;
    while (i < sizeof functions / sizeof *functions && strcmp(name, functions[i].name))
        i++;
    if (i == sizeof functions / sizeof *functions)
        return false;
    const char *takes = functions[i].takes;
    if (count < functions[i].least || count > (int)strlen(takes))
        return message_set(error, "gives %s() %d argument%s", name, count, count == 1 ? "" : "s");
    for (int a = 0; a < count; a++)
        if (argument[a].is_text != (takes[a] != 'n'))
            return message_set(error, "gives %s() a %s where it takes a %s", name, takes[a] != 'n' ? "number" : "text",
                               takes[a] != 'n' ? "text" : "number");
    if (*takes == 'r' && !(call.traffic = find_run(call.counts, argument[0].text)))
        return message_set(error, "has no run '%.30s'", argument[0].text);
    return functions[i].call(&call);
}

struct scope counts_scope(struct counts *counts) {
    return (struct scope){.call = call_function,
                          .context = counts,
                          .vocabulary = "arithmetic and the functions of "
                                        "teach/counts.h"};
}
