#include "runner/worker.h"

#include "host/parallel.h"
#include "runner/cuda.h"
#include "runner/worker_wire.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

// The worker is gone before it was told to. It has printed why, where it could; a kernel file that calls exit(0) has
// not.
_Noreturn static void lost(const struct worker *worker) {
    int status = 0;
    while (waitpid(worker->process, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFSIGNALED(status))
        message_exit(EXIT_CHECK_FAILED, "crashed in %s: %s", step_last(), strsignal(WTERMSIG(status)));
    if (WEXITSTATUS(status) == 0)
        message_exit(EXIT_CHECK_FAILED, "the program was ended in %s: a kernel file must not call exit()", step_last());
    exit(WEXITSTATUS(status));
}

static void tell(const struct worker *worker, const void *data, size_t size) {
    if (!wire_send(worker->socket, data, size))
        lost(worker);
}

static void hear(const struct worker *worker, void *data, size_t size) {
    if (!wire_receive(worker->socket, data, size))
        lost(worker);
}

struct worker worker_start(const struct arguments *arguments) {
    struct worker worker = {.argument = &arguments->kernel[0]};
    struct wire_hello hello;
    int ends[2];
    pid_t judge = getpid();
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
        message_exit(EXIT_CHECK_FAILED, "no socket: %s", strerror(errno));
    fflush(stdout);
    worker.process = fork();
    if (worker.process < 0)
        message_exit(EXIT_CHECK_FAILED, "no process for the kernel: %s", strerror(errno));
    if (worker.process == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != judge)
            _exit(EXIT_CHECK_FAILED);
        close(ends[0]);
        step_leave();
        worker_serve(ends[1], arguments);
    }
    close(ends[1]);
    worker.socket = ends[0];
    hear(&worker, &hello, sizeof hello);
    worker.device = hello.device;
    for (int i = 0; i <= hello.operation && operations[i]; i++)
        worker.operation = operations[i];
    worker.dtypes = hello.dtypes;
    worker.gives_optional = hello.gives_optional;
    worker.repeats = hello.repeats;
    snprintf(worker.lacking, sizeof worker.lacking, "%s", hello.lacking);
    return worker;
}

void worker_end(struct worker *worker) {
    struct wire_question end = {.request = WIRE_END};
    tell(worker, &end, sizeof end);
    while (waitpid(worker->process, NULL, 0) < 0 && errno == EINTR)
        ;
    close(worker->socket);
}

// Somebody else than the worker's own code has written to the socket.
_Noreturn static void forged(const struct worker *worker) {
    kill(worker->process, SIGKILL);
    message_exit(EXIT_CHECK_FAILED,
                 "in %s something came from the kernel's process that is no answer to what it was "
                 "asked: a kernel file must not write to the check's socket",
                 step_last());
}

// Nothing is there that nobody asked for.
static void nothing_left(const struct worker *worker) {
    char byte;
    if (recv(worker->socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0)
        forged(worker);
}

static void question_send(const struct worker *worker, struct wire_question *question) {
    nothing_left(worker);
    if (getrandom(&question->nonce, sizeof question->nonce, 0) != sizeof question->nonce)
        message_exit(EXIT_CHECK_FAILED, "the host has no random numbers: %s", strerror(errno));
    tell(worker, question, sizeof *question);
}

static struct wire_answer ask(const struct worker *worker, enum wire_request request,
                              const struct problem_case *which) {
    struct wire_question question = {.request = request, .which = *which};
    struct wire_answer answer;
    question_send(worker, &question);
    hear(worker, &answer, sizeof answer);
    if (answer.nonce != question.nonce)
        forged(worker);
    return answer;
}

bool worker_covers(const struct worker *worker, const struct problem_case *which, struct obstacle *obstacle) {
    struct wire_answer answer = ask(worker, WIRE_COVERS, which);
    *obstacle = answer.obstacle;
    return answer.yes;
}

bool worker_fits(const struct worker *worker, const struct problem_case *which, struct message *reason) {
    struct wire_answer answer = ask(worker, WIRE_FITS, which);
    *reason = answer.obstacle.reason;
    return answer.yes;
}

static void hear_output(const struct worker *worker, const struct host_problem *host, int output, worker_take *take,
                        void *context) {
    const struct host_tensor *tensor = problem_output(host, output);
    float *values = host_allocate((int64_t)WIRE_ROWS * tensor->columns, sizeof *values);
    for (int64_t row = 0; row < tensor->rows; row += WIRE_ROWS) {
        int64_t rows = tensor->rows - row < WIRE_ROWS ? tensor->rows - row : WIRE_ROWS;
        hear(worker, values, (size_t)(rows * tensor->columns) * sizeof *values);
        take(context, output, row, rows, values);
    }
    free(values);
}

struct worker_result worker_call(const struct worker *worker, const struct host_problem *host,
                                 const struct worker_call *call, worker_take *take, void *context) {
    struct worker_result result;
    // What the worker sent beyond the problem's outputs would be read as its next answer.
    bool has_optional = problem_output(host, host->outputs - 1)->optional;
    struct wire_question question = {.request = WIRE_CALL,
                                     .which = host->which,
                                     .optional = call->optional && has_optional,
                                     .delayed = call->delayed,
                                     .again = call->again,
                                     .beside = call->beside,
                                     .budget = call->budget,
                                     .places = call->places,
                                     .order = call->order,
                                     .softmax_scale = host->softmax_scale,
                                     .finite = host->finite};
    snprintf(question.out, sizeof question.out, "%s", call->out ? call->out : "");
    for (int i = 0; i < host->inputs; i++)
        question.kept[i] = host->tensor[i].kept;
    question_send(worker, &question);
    for (int i = 0; i < host->inputs; i++)
        tell(worker, host->tensor[i].values,
             (size_t)(host->tensor[i].kept * host->tensor[i].columns) * sizeof *host->tensor[i].values);
    hear(worker, &result, sizeof result);
    uint64_t end;
    bool right = result.nonce == question.nonce;
    for (int i = 0; i < host->outputs && right; i++) {
        bool asked = !problem_output(host, i)->optional || question.optional;
        right = result.has[i] == (asked && result.state == DEVICE_WELL);
        if (right && result.has[i])
            hear_output(worker, host, i, take, context);
    }
    if (right)
        hear(worker, &end, sizeof end);
    if (!right || end != question.nonce)
        forged(worker);
    nothing_left(worker);
    return result;
}
