#include "counts.h"

#include "results.h"
#include "sources.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SECTOR_BYTES = 32 };

bool counts_load(struct counts *counts, const char *label, const char *path, struct message *error) {
    if (counts->runs == MAX_RUNS)
        return message_set(error, "has more than %d runs [too-many-runs]", MAX_RUNS);
    if (!traffic_read(path, &counts->run[counts->runs].traffic))
        return message_set(
            error, "cannot be graded: %s holds no counts; run make clean, then the quiz again [no-counts]", path);
    snprintf(counts->run[counts->runs].label, sizeof counts->run->label, "%s", label);
    counts->runs++;
    return true;
}

bool counts_load_outcome(struct counts *counts, const char *label, const char *path, struct message *error) {
    if (counts->runs == MAX_RUNS)
        return message_set(error, "has more than %d runs [too-many-runs]", MAX_RUNS);
    char *outcome = text_read(path);
    if (!outcome)
        return message_set(error, "cannot be graded: %s cannot be read; make clean, and ask again", path);
    counts->run[counts->runs].outcome = outcome;
    snprintf(counts->run[counts->runs].label, sizeof counts->run->label, "%s", label);
    counts->runs++;
    return true;
}

void counts_free(struct counts *counts) {
    for (int i = 0; i < counts->runs; i++)
        if (counts->run[i].outcome)
            free(counts->run[i].outcome);
        else
            traffic_free(&counts->run[i].traffic);
    counts->runs = 0;
}

// The arguments and the result of a function call.
struct call {
    struct counts *counts;
    const struct value *argument;
    int count;
    const struct traffic *traffic; // of the run named by the first argument, or NULL
    const char *outcome;           // of the check named by the first argument, or NULL
    struct value *value;
    struct message *error;
};

static bool return_number(struct call *call, double number) {
    *call->value = value_number(number);
    return true;
}

static bool matches_line(const struct traffic_access *access, const char *text) {
    return !*text || strstr(source_line(access->file, access->line), text) ||
           strstr(source_line(access->outer_file, access->outer_line), text);
}

// "global async copy bytes": the last word is the quantity.
static bool sum_quantity(struct call *call, const char *what, const char *text, double *sum) {
    const char *last = strrchr(what, ' ');
    enum quantity quantity;
    bool found = false;
    if (!last || !quantity_of_name(last + 1, &quantity))
        return message_set(call->error, "needs '%.60s', but the simulator counts no such quantity [unknown-quantity]",
                           what);
    *sum = 0;
    for (int i = 0; i < call->traffic->count; i++) {
        const struct traffic_access *access = &call->traffic->access[i];
        char name[64];
        snprintf(name, sizeof name, "%s %s", access->space, access->access);
        if (strlen(name) != (size_t)(last - what) || strncmp(name, what, strlen(name)) || !matches_line(access, text))
            continue;
        found = true;
        *sum += access->quantity[quantity];
    }
    return found || message_set(call->error,
                                "needs the %.*s at a line with '%.120s', but the run '%.30s' has none [no-such-access]",
                                (int)(last - what), what, text, call->argument[0].text);
}

static bool call_count(struct call *call) {
    double total;
    return sum_quantity(call, call->argument[1].text, call->count > 2 ? call->argument[2].text : "", &total) &&
           return_number(call, total);
}

static bool call_conflicts(struct call *call) {
    char actual_name[64], ideal_name[64];
    double actual, ideal;
    snprintf(actual_name, sizeof actual_name, "shared %.30s wavefronts", call->argument[1].text);
    snprintf(ideal_name, sizeof ideal_name, "shared %.30s ideal_wavefronts", call->argument[1].text);
    return sum_quantity(call, actual_name, call->argument[2].text, &actual) &&
           sum_quantity(call, ideal_name, call->argument[2].text, &ideal) &&
           (ideal > 0 || message_set(call->error, "divides by 0")) && return_number(call, actual / ideal);
}

static bool call_streamed(struct call *call) {
    double bytes = 0;
    for (int i = 0; i < call->traffic->count; i++) {
        const struct traffic_access *access = &call->traffic->access[i];
        if (!strcmp(access->space, "global") &&
            access->quantity[BYTES] == SECTOR_BYTES * access->quantity[IDEAL_SECTORS])
            bytes += access->quantity[BYTES];
    }
    return return_number(call, bytes);
}

static bool call_shared_bytes(struct call *call) {
    return return_number(call, call->traffic->access[0].shared_bytes);
}

static bool call_launches(struct call *call) {
    double launches = 0;
    for (int i = 0; i < call->traffic->count; i++)
        if (!i || call->traffic->access[i].group != call->traffic->access[i - 1].group)
            launches += call->traffic->access[i].launches;
    return return_number(call, launches);
}

static bool call_passes(struct call *call) {
    return return_number(call, strtol(call->outcome + strlen("status "), NULL, 10) == 0);
}

static bool call_found(struct call *call) {
    char code[80];
    snprintf(code, sizeof code, "[%.70s]", call->argument[1].text);
    return return_number(call, strstr(call->outcome, code) != NULL);
}

static bool call_slowdown(struct call *call) {
    const struct value *argument = call->argument;
    double us[2];
    for (int i = 0; i < 2; i++) {
        char wanted[240], text[VALUE_TEXT];
        snprintf(wanted, sizeof wanted, "lesson=%.60s ablation=%.60s Nq=4096 Nk=4096 D=%.0f causal=%.0f",
                 argument[0].text, i ? "solution" : argument[1].text, argument[2].number, argument[3].number);
        if (!results_value(call->counts->results, "ablations.csv", wanted, "median_us", text, call->error))
            return false;
        us[i] = strtod(text, NULL);
    }
    return (us[1] > 0 || message_set(call->error, "divides by 0")) && return_number(call, us[0] / us[1]);
}

static bool call_line(struct call *call) {
    const char *text = call->argument[1].text;
    for (int i = 0; i < call->traffic->count; i++) {
        const char *file = call->traffic->access[i].outer_file;
        int line = find_source_line(file, text);
        if (!line)
            continue;
        *call->value = (struct value){.is_text = true};
        snprintf(call->value->text, VALUE_TEXT, "%.200s:%d", base_name(file), line);
        return true;
    }
    return message_set(call->error, "needs a line with '%.120s', but the run '%.30s' has none [no-such-line]", text,
                       call->argument[0].text);
}

static bool call_measured(struct call *call) {
    char text[VALUE_TEXT];
    if (!results_value(call->counts->results, call->argument[0].text, call->argument[1].text, call->argument[2].text,
                       text, call->error))
        return false;
    *call->value = value_text(text);
    return true;
}

static bool call_busy(struct call *call) {
    double percent;
    return read_utilization(call->counts->results, call->argument[0].text, (int)call->argument[1].number,
                            call->argument[2].text, &percent, call->error) &&
           return_number(call, percent);
}

static bool call_gpu(struct call *call) {
    char text[VALUE_TEXT];
    if (!results_value(call->counts->results, "attention.csv", "dtype=fp32", "device", text, call->error))
        return false;
    *call->value = value_text(text);
    return true;
}

static bool call_near(struct call *call) {
    return return_number(call, -fabs(call->argument[0].number - call->argument[1].number));
}

static bool call_number(struct call *call) {
    *call->value = (struct value){.is_text = true};
    format_number(call->argument[0].number, call->value->text);
    return true;
}

static bool call_percent(struct call *call) {
    *call->value = (struct value){.is_text = true};
    snprintf(call->value->text, VALUE_TEXT, "%.1f %%", call->argument[0].number);
    return true;
}

static const struct {
    const char *name;
    const char *parameters; // r: the label of a run, c: of a check, t: a text, n: a number
    int least;
    bool (*call)(struct call *call);
} functions[] = {
    {"count", "rtt", 2, call_count},     {"conflicts", "rtt", 3, call_conflicts},
    {"streamed", "r", 1, call_streamed}, {"shared_bytes", "r", 1, call_shared_bytes},
    {"launches", "r", 1, call_launches}, {"passes", "c", 1, call_passes},
    {"found", "ct", 2, call_found},      {"slowdown", "ttnn", 4, call_slowdown},
    {"line", "rt", 2, call_line},        {"measured", "ttt", 3, call_measured},
    {"busy", "tnt", 3, call_busy},       {"gpu", "", 0, call_gpu},
    {"near", "nn", 2, call_near},        {"number", "n", 1, call_number},
    {"percent", "n", 1, call_percent},
};

// The run or check that the first argument names.
static bool find_run(struct call *call, bool check) {
    struct counts *counts = call->counts;
    const char *label = call->argument[0].text;
    for (int i = 0; i < counts->runs; i++)
        if (!strcmp(counts->run[i].label, label) && check == !!counts->run[i].outcome) {
            call->traffic = &counts->run[i].traffic;
            call->outcome = counts->run[i].outcome;
            return true;
        }
    return message_set(call->error, "has no %s '%.30s' [no-such-run]", check ? "check" : "run", label);
}

static bool call_function(void *context, const char *name, const struct value *argument, int count, struct value *value,
                          struct message *error) {
    struct call call = {context, argument, count, NULL, NULL, value, error};
    size_t i = 0;
    while (i < sizeof functions / sizeof *functions && strcmp(name, functions[i].name))
        i++;
    if (i == sizeof functions / sizeof *functions)
        return false;
    const char *parameters = functions[i].parameters;
    if (count < functions[i].least || count > (int)strlen(parameters))
        return message_set(error, "gives %s() %d argument%s", name, count, count == 1 ? "" : "s");
    for (int a = 0; a < count; a++)
        if (argument[a].is_text != (parameters[a] != 'n'))
            return message_set(error, "calls %s() with a %s instead of a %s [wrong-type]", name,
                               parameters[a] != 'n' ? "number" : "text", parameters[a] != 'n' ? "text" : "number");
    if (*parameters && strchr("rc", *parameters) && !find_run(&call, *parameters == 'c'))
        return false;
    return functions[i].call(&call);
}

struct scope counts_scope(struct counts *counts) {
    return (struct scope){.call = call_function,
                          .context = counts,
                          .vocabulary = "arithmetic and the functions of "
                                        "teach/counts.h"};
}
