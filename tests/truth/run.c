// Runs every form of the truth suite on the device that the CUDA runtime finds, and writes what it computed.
//
//   truth-run FILE [NAME...]          all forms, or those named
//   truth-run --list                  their names
//
// TRUTH_SECONDS: how long a form may take, 20 s if it is not set.
//
// FILE (struct truth_result) has the first EXACT_SAMPLE elements of a form that is compared bit for bit, enough to see
// what is wrong where the hash differs, and all elements of the others.
//
// A process of its own runs the forms and hands over each result as it comes. One that fails leaves its device context
// unusable, and one that hangs never returns: it is ended, the form is written down as failed, and a new process goes
// on with the next. So this process must not touch the device.
#define _POSIX_C_SOURCE 200809L
#include "truth.h"

#include <cuda_runtime_api.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXACT_SAMPLE = 64, MOST_FORMS = 2048, MOST_HUNG = 12, MOST_FAILED = 150 };

static const struct truth_form *const tables[] = {
    truth_integer, truth_real,   truth_half,    truth_convert, truth_video,   truth_approximate,  truth_warp,
    truth_memory,  truth_atomic, truth_matrix,  truth_sparse,  truth_wgmma,   truth_sparse_wgmma, truth_barrier,
    truth_bulk,    truth_tensor, truth_cluster, truth_wmma,    truth_texture, truth_surface};

// What the process that runs forms says: first whether there is a device, then of each form whether it ran. The form's
// bytes follow where it did.
struct report {
    int32_t status;
    char text[124];
};

static int seconds = 20;                                        // that a form may take; TRUTH_SECONDS
static uint8_t result_bytes[TRUTH_ELEMENTS * sizeof(uint64_t)]; // large enough for every type

static uint64_t fnv1a(const uint8_t *bytes, size_t count) {
    uint64_t hash = 0xcbf29ce484222325;
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3;
    return hash;
}

// ---- The process that runs forms ---------------------------------------------------------------------------------

#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        const cudaError_t status = call;                                                                               \
        if (status != cudaSuccess)                                                                                     \
            return status;                                                                                             \
    } while (0)

static cudaError_t run_form(const struct truth_form *form) {
    static uint64_t values[TRUTH_ELEMENTS];
    static void *result, *input[3];
    const size_t most = TRUTH_ELEMENTS * sizeof(uint64_t), bytes = TRUTH_ELEMENTS * truth_type_bytes(form->result);
    if (!result) {
        TRY(cudaMalloc(&result, most));
        for (int k = 0; k < 3; k++)
            TRY(cudaMalloc(&input[k], most));
    }
    TRY(cudaMemset(result, 0, most));
    for (int k = 0; k < 3; k++) {
        truth_fill(form->input[k], k, values);
        TRY(cudaMemcpy(input[k], values, most, cudaMemcpyHostToDevice));
    }
    if (form->launch) {
        TRY((cudaError_t)form->launch(form, result, input));
    } else {
        void *arguments[] = {&result, &input[0], &input[1], &input[2]};
        const dim3 grid = {TRUTH_ELEMENTS / TRUTH_BLOCK, 1, 1}, block = {TRUTH_BLOCK, 1, 1};
        TRY(cudaLaunchKernel(form->kernel, grid, block, arguments, 0, NULL));
    }
    TRY(cudaDeviceSynchronize());
    return cudaMemcpy(result_bytes, result, bytes, cudaMemcpyDeviceToHost);
}

static bool send(int to, const void *bytes, size_t count) {
    for (size_t sent = 0; sent < count;) {
        const ssize_t n = write(to, (const char *)bytes + sent, count - sent);
        if (n <= 0)
            return false;
        sent += (size_t)n;
    }
    return true;
}

static bool say(int to, cudaError_t status) {
    struct report report = {.status = (int32_t)status};
    snprintf(report.text, sizeof report.text, "%s", cudaGetErrorString(status));
    return send(to, &report, sizeof report);
}

// Ends with the first form that fails.
static void run_forms(int to, const struct truth_form *const *form, int forms) {
    int devices = 0;
    cudaError_t status = cudaGetDeviceCount(&devices);
    if (status == cudaSuccess && devices == 0)
        status = cudaErrorNoDevice;
    bool going = say(to, status) && status == cudaSuccess;
    for (int i = 0; going && i < forms; i++) {
        status = run_form(form[i]);
        going = say(to, status) && status == cudaSuccess && send(to, result_bytes, sizeof result_bytes);
    }
    exit(0);
}

// ---- The process that writes -------------------------------------------------------------------------------------

// false: it did not come, and the report says why.
static bool receive(int from, void *bytes, size_t count, struct report *report) {
    for (size_t got = 0; got < count;) {
        struct pollfd ready = {.fd = from, .events = POLLIN};
        const int events = poll(&ready, 1, seconds * 1000);
        const ssize_t n = events > 0 ? read(from, (char *)bytes + got, count - got) : 0;
        if (n <= 0) {
            report->status = -1;
            snprintf(report->text, sizeof report->text,
                     events == 0 ? "no result after %d seconds" : "its process ended without a result", seconds);
            return false;
        }
        got += (size_t)n;
    }
    return true;
}

static pid_t start(const struct truth_form *const *form, int forms, int *from) {
    int ends[2];
    if (pipe(ends) != 0)
        return -1;
    const pid_t process = fork();
    if (process == 0) {
        close(ends[0]);
        run_forms(ends[1], form, forms);
    }
    close(ends[1]);
    *from = ends[0];
    return process;
}

static void write_result(const struct truth_form *form, bool ran, FILE *file) {
    struct truth_result result = {.comparison = TRUTH_FAILED};
    const size_t size = truth_type_bytes(form->result);
    if (ran)
        result = (struct truth_result){.comparison = form->comparison,
                                       .type = form->result,
                                       .input = {form->input[0], form->input[1], form->input[2]},
                                       .elements = form->comparison == TRUTH_EXACT ? EXACT_SAMPLE : TRUTH_ELEMENTS,
                                       .bound = form->bound,
                                       .hash = fnv1a(result_bytes, TRUTH_ELEMENTS * size)};
    snprintf(result.name, sizeof result.name, "%s", form->name);
    fwrite(&result, sizeof result, 1, file);
    fwrite(result_bytes, size, (size_t)result.elements, file);
    fflush(file);
}

// Returns how many failed, or -1 if there is no device.
static int run_and_write(const struct truth_form *const *form, int forms, FILE *file) {
    int failed = 0, hung = 0;
    for (int next = 0; next < forms && hung < MOST_HUNG && failed < MOST_FAILED;) {
        struct report report;
        int from = -1;
        const pid_t process = start(&form[next], forms - next, &from);
        bool going = process > 0 && receive(from, &report, sizeof report, &report) && report.status == 0;
        if (!going) {
            fprintf(stderr, "no device: %s\n", process > 0 ? report.text : "no process");
            failed = -1;
        }
        while (going && next < forms) {
            going = receive(from, &report, sizeof report, &report) && report.status == 0 &&
                    receive(from, result_bytes, sizeof result_bytes, &report);
            write_result(form[next], going, file);
            if (!going) {
                fprintf(stderr, "%s: %s\n", form[next]->name, report.text);
                hung += report.status < 0;
                failed++;
            }
            next++;
        }
        int ended = 0;
        if (process > 0 && !going)
            kill(process, SIGKILL);
        if (process > 0 && waitpid(process, &ended, 0) == process && going && ended != 0) {
            fprintf(stderr, "the forms ran, but their process ended with a complaint\n");
            failed++;
        }
        close(from);
        if (failed < 0)
            return -1;
    }
    if (hung == MOST_HUNG || failed >= MOST_FAILED)
        fprintf(stderr, "%d forms failed, %d without an answer: the rest is left out\n", failed, hung);
    return failed;
}

static bool is_wanted(const char *name, int names, char **wanted) {
    for (int i = 0; i < names; i++)
        if (strcmp(name, wanted[i]) == 0)
            return true;
    return names == 0;
}

int main(int argc, char **argv) {
    static const struct truth_form *form[MOST_FORMS];
    int forms = 0;
    if (argc < 2) {
        fprintf(stderr, "usage: %s --list | FILE [FORM...]\n", argv[0]);
        return 2;
    }
    if (getenv("TRUTH_SECONDS") && atoi(getenv("TRUTH_SECONDS")) > 0)
        seconds = atoi(getenv("TRUTH_SECONDS"));
    const bool lists = strcmp(argv[1], "--list") == 0;
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (const struct truth_form *one = tables[t]; one && one->name && forms < MOST_FORMS; one++)
            if (is_wanted(one->name, argc - 2, argv + 2))
                form[forms++] = one;
    if (forms == 0) {
        fprintf(stderr, "%s: there is no form of that name\n", argv[0]);
        return 2;
    }
    for (int i = 0; lists && i < forms; i++)
        puts(form[i]->name);
    if (lists)
        return 0;
    FILE *file = fopen(argv[1], "wb");
    signal(SIGPIPE, SIG_IGN);
    const int failed = file ? run_and_write(form, forms, file) : -1;
    if (!file || fclose(file) != 0) {
        perror(argv[1]);
        return 2;
    }
    if (failed < 0)
        return 2;
    printf("%d forms run, %d failed\n", forms, failed);
    return failed == 0 ? 0 : 1;
}
