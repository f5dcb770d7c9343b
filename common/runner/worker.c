#include "runner/worker.h"

#include "host/parallel.h"
#include "runner/cuda.h"
#include "runner/worker_wire.h"
#include "step.h"

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

// The worker whose call may be given up, 0: none; and whether it was.
static volatile sig_atomic_t limited, given_up;

static void give_up(int signal) {
    (void)signal;
    if (limited) {
        kill(limited, SIGKILL);
        limited = 0;
        given_up = 1;
    }
}

// False if the call was given up.
static bool send_to_worker(const struct worker *worker, const void *data, size_t size) {
    if (!wire_send(worker->socket, data, size) && !given_up)
        worker_died(worker);
    return !given_up;
}

static bool receive_from_worker(const struct worker *worker, void *data, size_t size) {
    if (!wire_receive(worker->socket, data, size) && !given_up)
        worker_died(worker);
    return !given_up;
}

struct worker worker_start(const struct arguments *arguments) {
    struct worker worker = {.arguments = arguments, .argument = &arguments->kernel[0]};
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
        // The cases of a matrix have an order each; a single case is run in several.
        if (arguments->has_shape && !arguments->sample)
            setenv("SIMULATOR_ORDERS", "8", 0);
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

static bool send_request(const struct worker *worker, struct wire_request *request) {
    require_no_data(worker);
    if (getrandom(&request->nonce, sizeof request->nonce, 0) != sizeof request->nonce)
        message_exit(EXIT_CHECK_FAILED, "the host provides no random numbers: %s", strerror(errno));
    return send_to_worker(worker, request, sizeof *request);
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

static bool receive_output(const struct worker *worker, const struct host_problem *host, int output,
                           worker_receive *receive, void *context) {
    const struct host_tensor *tensor = problem_output(host, output);
    float *values = host_allocate((int64_t)WIRE_ROWS * tensor->columns, sizeof *values);
    bool received = true;
    for (int64_t row = 0; row < tensor->rows && received; row += WIRE_ROWS) {
        int64_t rows = tensor->rows - row < WIRE_ROWS ? tensor->rows - row : WIRE_ROWS;
        received = receive_from_worker(worker, values, (size_t)(rows * tensor->columns) * sizeof *values);
        if (received)
            receive(context, output, row, rows, values);
    }
    free(values);
    return received;
}

// False if the call was given up.
static bool send_call(const struct worker *worker, const struct host_problem *host, struct wire_request *request) {
    bool sent = send_request(worker, request);
    for (int i = 0; i < host->inputs && sent; i++)
        sent =
            send_to_worker(worker, host->tensor[i].values,
                           (size_t)(host->tensor[i].kept * host->tensor[i].columns) * sizeof *host->tensor[i].values);
    return sent;
}

// Whether it answers the request. Not to be asked if the call was given up.
static bool receive_outputs(const struct worker *worker, const struct host_problem *host,
                            const struct wire_request *request, const struct worker_result *result,
                            worker_receive *receive, void *context) {
    uint64_t end;
    if (result->nonce != request->nonce)
        return false;
    for (int i = 0; i < host->outputs; i++) {
        bool asked = !problem_output(host, i)->optional || request->optional;
        if (result->has[i] != (asked && result->state == DEVICE_WELL))
            return false;
        if (result->has[i] && !receive_output(worker, host, i, receive, context))
            return false;
    }
    return receive_from_worker(worker, &end, sizeof end) && end == request->nonce;
}

// Whether the call of the worker may be given up from here on.
static void limit_call(const struct worker *worker, bool is_limited) {
    struct sigaction action = {.sa_handler = is_limited ? give_up : SIG_DFL};
    given_up = 0;
    limited = is_limited ? worker->process : 0;
    sigaction(STEP_TIME_IS_UP, &action, NULL);
}

static struct worker_result replace_worker(struct worker *worker) {
    given_up = 0;
    while (waitpid(worker->process, NULL, 0) < 0 && errno == EINTR)
        ;
    close(worker->socket);
    *worker = worker_start(worker->arguments);
    return (struct worker_result){.given_up = true, .state = DEVICE_WELL, .first_finding = -1};
}

struct worker_result worker_call(struct worker *worker, const struct host_problem *host, const struct worker_call *call,
                                 worker_receive *receive, void *context) {
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
    limit_call(worker, call->limited && worker->device.limits.simulated);
    bool right = send_call(worker, host, &request) && receive_from_worker(worker, &result, sizeof result) &&
                 receive_outputs(worker, host, &request, &result, receive, context);
    limited = 0;
    if (given_up)
        return replace_worker(worker);
    limit_call(worker, false);
    if (!right)
        protocol_error(worker);
    require_no_data(worker);
    return result;
}
