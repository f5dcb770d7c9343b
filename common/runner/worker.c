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

// The worker ended before it was told to. It has printed why, except if a kernel file called exit(0).
_Noreturn static void worker_died(const struct worker *worker) {
    int status = 0;
    while (waitpid(worker->process, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFSIGNALED(status))
        message_exit(EXIT_CHECK_FAILED, "crashed in %s: %s [crashed]", step_last(), strsignal(WTERMSIG(status)));
    if (WEXITSTATUS(status) == 0)
        message_exit(EXIT_CHECK_FAILED, "the process exited in %s: a kernel file must not call exit() [exited]",
                     step_last());
    exit(WEXITSTATUS(status));
}

static void send_to_worker(const struct worker *worker, const void *data, size_t size) {
    if (!wire_send(worker->socket, data, size))
        worker_died(worker);
}

static void receive_from_worker(const struct worker *worker, void *data, size_t size) {
    if (!wire_receive(worker->socket, data, size))
        worker_died(worker);
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
        step_detach();
        worker_serve(ends[1], arguments);
    }
    close(ends[1]);
    worker.socket = ends[0];
    receive_from_worker(&worker, &hello, sizeof hello);
    worker.device = hello.device;
    for (int i = 0; i <= hello.operation && operations[i]; i++)
        worker.operation = operations[i];
    worker.dtypes = hello.dtypes;
    worker.writes_optional = hello.writes_optional;
    worker.repeats = hello.repeats;
    snprintf(worker.lacking, sizeof worker.lacking, "%s", hello.lacking);
    return worker;
}

void worker_end(struct worker *worker) {
    struct wire_request end = {.kind = WIRE_END};
    send_to_worker(worker, &end, sizeof end);
    while (waitpid(worker->process, NULL, 0) < 0 && errno == EINTR)
        ;
    close(worker->socket);
}

// Code other than the worker's own has written to the socket.
_Noreturn static void protocol_error(const struct worker *worker) {
    kill(worker->process, SIGKILL);
    message_exit(EXIT_CHECK_FAILED,
                 "in %s the process of the kernel sent data that answers no request: a kernel file must not write to "
                 "the check's socket [forged-answer]",
                 step_last());
}

// Fails if the socket has data that answers no request.
static void require_no_data(const struct worker *worker) {
    char byte;
    if (recv(worker->socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0)
        protocol_error(worker);
}

static void send_request(const struct worker *worker, struct wire_request *request) {
    require_no_data(worker);
    if (getrandom(&request->nonce, sizeof request->nonce, 0) != sizeof request->nonce)
        message_exit(EXIT_CHECK_FAILED, "the host provides no random numbers: %s", strerror(errno));
    send_to_worker(worker, request, sizeof *request);
}

static struct wire_reply request_reply(const struct worker *worker, enum wire_request_kind kind,
                                       const struct problem_case *which) {
    struct wire_request request = {.kind = kind, .which = *which};
    struct wire_reply reply;
    send_request(worker, &request);
    receive_from_worker(worker, &reply, sizeof reply);
    if (reply.nonce != request.nonce)
        protocol_error(worker);
    return reply;
}

bool worker_covers(const struct worker *worker, const struct problem_case *which, struct obstacle *obstacle) {
    struct wire_reply reply = request_reply(worker, WIRE_COVERS, which);
    *obstacle = reply.obstacle;
    return reply.yes;
}

bool worker_fits(const struct worker *worker, const struct problem_case *which, struct message *reason) {
    struct wire_reply reply = request_reply(worker, WIRE_FITS, which);
    *reason = reply.obstacle.reason;
    return reply.yes;
}

static void receive_output(const struct worker *worker, const struct host_problem *host, int output,
                           worker_receive *receive, void *context) {
    const struct host_tensor *tensor = problem_output(host, output);
    float *values = host_allocate((int64_t)WIRE_ROWS * tensor->columns, sizeof *values);
    for (int64_t row = 0; row < tensor->rows; row += WIRE_ROWS) {
        int64_t rows = tensor->rows - row < WIRE_ROWS ? tensor->rows - row : WIRE_ROWS;
        receive_from_worker(worker, values, (size_t)(rows * tensor->columns) * sizeof *values);
        receive(context, output, row, rows, values);
    }
    free(values);
}

struct worker_result worker_call(const struct worker *worker, const struct host_problem *host,
                                 const struct worker_call *call, worker_receive *receive, void *context) {
    struct worker_result result;
    // Data after the outputs of the problem would be read as the next reply.
    bool has_optional = problem_output(host, host->outputs - 1)->optional;
    struct wire_request request = {.kind = WIRE_CALL,
                                   .which = host->which,
                                   .optional = call->optional && has_optional,
                                   .delayed = call->delayed,
                                   .rerun = call->rerun,
                                   .concurrent = call->concurrent,
                                   .budget = call->budget,
                                   .offset_seed = call->offset_seed,
                                   .order = call->order,
                                   .softmax_scale = host->softmax_scale,
                                   .finite = host->finite};
    snprintf(request.out, sizeof request.out, "%s", call->out ? call->out : "");
    for (int i = 0; i < host->inputs; i++)
        request.kept[i] = host->tensor[i].kept;
    send_request(worker, &request);
    for (int i = 0; i < host->inputs; i++)
        send_to_worker(worker, host->tensor[i].values,
                       (size_t)(host->tensor[i].kept * host->tensor[i].columns) * sizeof *host->tensor[i].values);
    receive_from_worker(worker, &result, sizeof result);
    uint64_t end;
    bool right = result.nonce == request.nonce;
    for (int i = 0; i < host->outputs && right; i++) {
        bool asked = !problem_output(host, i)->optional || request.optional;
        right = result.has[i] == (asked && result.state == DEVICE_WELL);
        if (right && result.has[i])
            receive_output(worker, host, i, receive, context);
    }
    if (right)
        receive_from_worker(worker, &end, sizeof end);
    if (!right || end != request.nonce)
        protocol_error(worker);
    require_no_data(worker);
    return result;
}
