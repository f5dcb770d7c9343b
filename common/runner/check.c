#include "runner/check.h"

#include "runner/count.h"
#include "runner/diagnose.h"
#include "runner/output.h"
#include "runner/run_case.h"
#include "runner/user_output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

uint64_t check_seed(const struct arguments *arguments) {
    struct timespec now;
    if (arguments->has_seed)
        return arguments->seed;
    clock_gettime(CLOCK_REALTIME, &now);
    // Short enough to be typed.
    return ((uint64_t)now.tv_sec * 1000003 + (uint64_t)now.tv_nsec + (uint64_t)getpid()) % 1000000;
}

// Only numbers tell which mistake they come from; a finding or an error has said its own.
static int finish(struct check *check) {
    if (check->arguments->sample) // what is counted is one launch of the case
        return report_end(&check->report);
    if (check->ended_badly && !report_blank_open(&check->report))
        diagnose_finding(check->first_finding);
    else if (check->wrong && !check->wrote && !report_blank_open(&check->report))
        diagnose_nothing();
    else if (check->wrong && !report_blank_open(&check->report))
        diagnose(check->worker, check->evidence, check->tried);
    return report_end(&check->report);
}

// What a case that was asked for cannot do without.
static void require(const struct check *check, const struct problem_case *which) {
    struct obstacle obstacle;
    struct message reason;
    char text[CASE_TEXT];
    case_text(check->operation, which, text, sizeof text);
    if (!worker_covers(check->worker, which, &obstacle))
        message_exit(EXIT_BAD_INPUT, "%s", obstacle.reason.text);
    if (!worker_fits(check->worker, which, &reason))
        message_exit(EXIT_BAD_INPUT, "%s %s: use a smaller shape", text, reason.text);
}

// The types that are checked: the one that was asked for, or all that the kernel has. The first one is the least bit.
static unsigned chosen_dtypes(const struct check *check) {
    unsigned has = check->worker->dtypes, requested = 1u << check->arguments->dtype;
    char names[32];
    if (!check->arguments->has_dtype)
        return has;
    if (!(has & requested))
        message_exit(EXIT_BAD_INPUT, "DTYPE=%s: %s takes %s", dtype_of(check->arguments->dtype)->name,
                     check->worker->argument->name, dtype_names(has, names));
    return requested;
}

// The shape that was asked for, or the operation's own for counting.
static struct shape_argument requested_shape(const struct check *check) {
    const struct arguments *arguments = check->arguments;
    const struct operation *operation = check->operation;
    struct shape_argument shape = arguments->shape;
    struct message error;
    const char *own = arguments->sample == SAMPLE_PROFILE   ? operation->profile_shape
                      : arguments->sample == SAMPLE_WORK    ? operation->work_shape
                      : arguments->sample == SAMPLE_EXPLORE ? operation->explore_shape
                                                            : operation->trace_shape;
    if (arguments->sample == SAMPLE_WORK && !own)
        message_exit(EXIT_BAD_INPUT, "no time is estimated for the operation %s: no measured times have validated one",
                     operation->name);
    if (!arguments->has_shape && !shape_parse(own, &shape, &error))
        message_exit(EXIT_CHECK_FAILED, "%s", error.text);
    shape.attention.causal = arguments->causal;
    if (!arguments->has_shape) {
        shape.attention.layout = arguments->layout.layout;
        memcpy(shape.attention.stride, arguments->layout.stride, sizeof shape.attention.stride);
    }
    return shape;
}

// The one case that SHAPE= and the other variables say, in each of the types; counted in one of them.
static int check_shape(struct check *check, unsigned dtypes, uint64_t seed) {
    const struct arguments *arguments = check->arguments;
    struct problem_case which = {
        .family = cases_family(arguments), .has_scale = arguments->has_scale, .scale = arguments->scale};
    which.devices = check->operation->several_devices ? arguments->gpus : 0;
    struct shape_argument shape = requested_shape(check);
    if (arguments->sample)
        dtypes &= dtypes & 1u << ATTENTION_BF16 ? 1u << ATTENTION_BF16 : -dtypes;
    if (check->operation->is_matrix)
        which.matrix = shape.matrix;
    else
        which.attention = shape.attention;
    for (int type = 0; type < ATTENTION_DTYPES; type++) {
        which.dtype = (enum attention_dtype)type;
        if (dtypes & 1u << type)
            require(check, &which);
    }
    check->report =
        report_begin(arguments, check->worker->argument, check->device, __builtin_popcount(dtypes), seed, true);
    for (int type = 0; type < ATTENTION_DTYPES && check->state != DEVICE_LOST; type++) {
        struct host_problem host;
        if (!(dtypes & 1u << type))
            continue;
        which.dtype = (enum attention_dtype)type;
        check->operation->make(&which, seed, true, &host);
        if (arguments->sample == SAMPLE_WORK)
            check->state = count_case(&check->report, check->worker, &host);
        else
            run_case(check, &host, seed, true);
        host_problem_free(&host);
    }
    return finish(check);
}

static int check_data(struct check *check, uint64_t seed) {
    const char *folder = check->arguments->data;
    struct host_problem host;
    struct message error;
    float *output;
    if (!check->operation->load(check->arguments, &host, &output, &error))
        message_exit(EXIT_BAD_INPUT, "%s", error.text);
    require(check, &host.which);
    if (host.which.dtype != ATTENTION_FP32)
        printf("q, k and v are read as %s\n", dtype_of(host.which.dtype)->name);
    if (!host.finite)
        printf("%s contains NaN or infinity. Output elements that depend on such inputs are not finite either.\n",
               folder);
    // A seed draws no inputs here, and the rows that are compared only where there are too many.
    bool seeded = user_output_is_sampled(&host, seed);
    if (check->arguments->has_seed && !seeded)
        printf("SEED has no effect: the inputs come from %s, and all rows are compared\n", folder);
    check->report = report_begin(check->arguments, check->worker->argument, check->device, 1, seed, seeded);
    run_case(check, &host, seed, true);
    int status = finish(check);
    if (output)
        user_output_compare(&host, output, seed, folder);
    free(output);
    host_problem_free(&host);
    return status;
}

// What a check here cannot see, and would see on the other kind of device.
static const char *other_device_adds(const struct check *check) {
    return check->device->limits.simulated ? check->operation->gpu_adds
                                           : "races, uninitialized and out-of-bounds reads, missing barriers and waits";
}

static int check_matrix(struct check *check, unsigned dtypes, uint64_t seed) {
    static struct problem_case cases[ATTENTION_DTYPES * MAX_CASES];
    int count = 0;
    for (int type = 0; type < ATTENTION_DTYPES; type++)
        if (dtypes & 1u << type)
            count += cases_thin(check->operation, cases + count,
                                cases_list(check->worker, check->arguments, (enum attention_dtype)type, cases + count),
                                count && !check->arguments->quick ? seed : 0);
    char *skipped = NULL;
    size_t length = 0;
    FILE *text = open_memstream(&skipped, &length);
    if (!text)
        message_exit(EXIT_CHECK_FAILED, "the host has no memory left");
    const int offered = count;
    count = cases_select(check->worker, cases, count, text);
    fclose(text);
    check->report = report_begin(check->arguments, check->worker->argument, check->device, count, seed, true);
    check->report.offered = offered;
    fputs(skipped, stdout);
    free(skipped);
    for (int i = 0; i < count && !report_enough(&check->report) && check->state != DEVICE_LOST; i++) {
        struct host_problem host;
        uint64_t case_seed = seed + (uint64_t)i;
        check->operation->make(&cases[i], case_seed, true, &host);
        // Every second case leaves the optional outputs away, as most callers do.
        run_case(check, &host, case_seed, i % 2 == 0);
        host_problem_free(&host);
    }
    if (!check->arguments->quick)
        check->report.adds = other_device_adds(check);
    return finish(check);
}

static int check_with(struct worker *worker, const struct arguments *arguments) {
    const struct operation *operation = worker->operation;
    static struct check check;
    check = (struct check){.worker = worker,
                           .operation = operation,
                           .device = &worker->device,
                           .arguments = arguments,
                           .first_finding = -1};
    const char *name = worker->argument->name;
    uint64_t seed = check_seed(arguments);
    if (*worker->lacking)
        message_exit(EXIT_BAD_INPUT, "%s cannot run here: %s", name, worker->lacking);
    if (*arguments->data && operation->no_data) {
        printf("%s: DATA holds %s, which a %s does not use: nothing to check\n", name, operation->no_data,
               operation->name);
        return 0;
    }
    if (arguments->layout.layout == LAYOUT_PAGES && !operation->pages)
        message_exit(EXIT_BAD_INPUT, "%s has no pages: leave LAYOUT out, or take a lesson of decoding",
                     operation->name);
    if (arguments->causal && operation->no_causal)
        printf("%s: %s, CAUSAL=1 has no effect\n", name, operation->no_causal);
    if (*arguments->out)
        output_prepare(arguments->out);
    if (*arguments->data)
        return check_data(&check, seed);
    unsigned dtypes = chosen_dtypes(&check);
    if (*arguments->out && !arguments->has_shape)
        message_exit(EXIT_BAD_INPUT, "OUT=%s holds the output of a single case: add SHAPE=B,H,N,D or DATA=folder",
                     arguments->out);
    if (*arguments->out && __builtin_popcount(dtypes) > 1)
        message_exit(EXIT_BAD_INPUT, "OUT=%s: %s has several types: add DTYPE=", arguments->out, name);
    if (!arguments->has_shape && !arguments->sample)
        return check_matrix(&check, dtypes, seed);
    if (arguments->has_shape && arguments->shape.is_matrix && !operation->is_matrix)
        message_exit(EXIT_BAD_INPUT, "SHAPE=%s has two numbers, and %s needs four: B,H,N,D", arguments->shape_text,
                     operation->name);
    return check_shape(&check, dtypes, seed);
}

int check(const struct arguments *arguments) {
    struct worker worker = worker_start(arguments);
    int status = check_with(&worker, arguments);
    worker_end(&worker);
    return status;
}
