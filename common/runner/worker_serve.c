// The worker process: it copies the received inputs to tensors, calls the kernel, and sends the outputs back. It does
// not check them.
#include "host/parallel.h"
#include "runner/cuda.h"
#include "runner/names.h"
#include "runner/output.h"
#include "runner/problem.h"
#include "runner/recording.h"
#include "runner/worker_wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_CONCURRENT_BYTES = 1 << 26 };   // bytes of a second call's inputs and workspace
static const double MOST_REUSE_SECONDS = 1; // of processor time after one case

struct service {
    int socket;
    struct device device;
    struct kernel kernel;
    struct host_problem host;      // of the last call
    struct device_problem problem; // its tensors
    bool has_problem;
    unsigned long calls_left; // see reach_reuse()
};

// The checking process has ended, so no message can be sent.
static void send_or_exit(const struct service *s, const void *data, size_t size) {
    if (!wire_send(s->socket, data, size))
        _exit(EXIT_CHECK_FAILED);
}

static void receive_or_exit(const struct service *s, void *data, size_t size) {
    if (!wire_receive(s->socket, data, size))
        _exit(EXIT_CHECK_FAILED);
}

static struct host_problem receive_problem(const struct service *s, const struct wire_request *request) {
    struct host_problem host;
    s->kernel.operation->make(&request->which, 0, false, &host);
    host.softmax_scale = request->softmax_scale;
    host.finite = request->finite;
    for (int i = 0; i < host.inputs; i++) {
        struct host_tensor *tensor = &host.tensor[i];
        free(tensor->values);
        tensor->kept = request->kept[i];
        tensor->values = host_allocate(tensor->kept * tensor->columns, sizeof *tensor->values);
        receive_or_exit(s, tensor->values, (size_t)(tensor->kept * tensor->columns) * sizeof *tensor->values);
    }
    return host;
}

static void free_problem(struct service *s) {
    if (s->has_problem)
        problem_free(&s->problem);
    s->has_problem = false;
}

static void send_rows(void *context, int64_t row, int64_t rows, const float *values, int columns) {
    (void)row;
    send_or_exit(context, values, (size_t)(rows * columns) * sizeof *values);
}

// The same call in another stream, with other tensors: the two calls share only the kernel file.
struct second_call {
    struct device_problem problem;
    cudaStream_t stream;
    bool made;
};

static struct second_call call_concurrently(struct service *s, const struct wire_request *request) {
    size_t bytes = problem_bytes(&s->host) + kernel_workspace_bytes(&s->kernel, &s->host.which);
    struct second_call second = {.made = request->concurrent && !s->kernel.operation->one_at_a_time &&
                                         bytes <= MOST_CONCURRENT_BYTES};
    if (!second.made)
        return second;
    second.problem = problem_create(&s->host, &s->kernel, &s->device, request->optional, 0);
    CUDA(cudaStreamCreateWithFlags(&second.stream, cudaStreamNonBlocking));
    CUDA(cudaDeviceSynchronize());
    problem_rest(second.stream);
    recording_describe(&second.problem);
    device_concurrent(DEVICE_CONCURRENT);
    if (problem_launch(&second.problem, &s->kernel, &second.problem.workspace, second.stream) != cudaSuccess)
        cudaGetLastError(); // the checked call reports the same error
    device_concurrent(DEVICE_CONCURRENT_ENDED);
    return second;
}

static void end_concurrent_call(struct second_call *second, bool well) {
    device_concurrent(DEVICE_ALONE);
    if (second->made && well) {
        CUDA(cudaStreamDestroy(second->stream));
        problem_free(&second->problem);
    }
}

// If only a part of the launches was simulated, withdraws elements that later blocks could have changed.
static void withdraw_unfinished(const struct service *s, struct worker_result *result) {
    result->part = device_part();
    result->whole = device_whole();
    for (int i = 0; i < s->host.outputs && result->state == DEVICE_WELL && result->part != PART_WHOLE; i++) {
        const struct device_tensor *output = &s->problem.tensor[s->host.inputs + i];
        if (!problem_has_output(&s->problem, i))
            continue;
        uint64_t apart = device_overlaps(output->data, output->bytes);
        if (apart && result->good)
            result->good =
                message_set(&result->cause,
                            "blocks whose indices differ by %llu write the same elements of %s, so other elements are "
                            "not written: is a row or head index stored in 16 bits? [overlapping-blocks]",
                            (unsigned long long)apart, s->host.tensor[s->host.inputs + i].name);
        device_withdraw(output->data, output->bytes, POISON_BYTE);
    }
}

// The host may have computed the result: a kernel needs no input on the host.
static void check_origin(const struct service *s, struct worker_result *result) {
    for (int i = 0; i < s->host.outputs && result->good; i++) {
        const struct device_tensor *output = &s->problem.tensor[s->host.inputs + i];
        if (problem_has_output(&s->problem, i) && device_from_host(output->data, output->bytes))
            result->good = message_set(
                &result->cause, "%s was copied from the host instead of being computed by a kernel [copied-from-host]",
                s->host.tensor[s->host.inputs + i].name);
    }
    for (int i = 0; i < s->host.inputs && result->good; i++) {
        const struct device_tensor *input = &s->problem.tensor[i];
        if (device_to_host(input->data, input->bytes))
            result->good = message_set(
                &result->cause, "%s was copied to the host: the computation must run in a kernel [copied-to-host]",
                s->host.tensor[i].name);
    }
}

// Calls the kernel until it uses again what it uses in turn, such as counters of which each call has another: the cases
// that follow then meet what the first calls have left there. What such a call finds, those cases find, too.
static void reach_reuse(struct service *s) {
    const clock_t begin = clock();
    if (!s->calls_left)
        s->calls_left = device_calls_until_reuse();
    while (s->calls_left && (double)(clock() - begin) < MOST_REUSE_SECONDS * CLOCKS_PER_SEC) {
        struct device_counts before = device_counts();
        enum device_state state;
        struct message cause;
        s->calls_left--;
        cudaError_t launch = problem_launch(&s->problem, &s->kernel, &s->problem.workspace, 0);
        if (!launch_finish(launch, &before, s->kernel.operation->forward, &state, &cause))
            s->calls_left = 0;
        if (state != DEVICE_WELL)
            s->has_problem = false;
    }
}

static void call(struct service *s, const struct wire_request *request) {
    struct worker_result result = {.state = DEVICE_WELL};
    struct host_problem host = receive_problem(s, request), before = s->host;
    struct device_tensor staging = {0};
    cudaStream_t stream = 0;
    s->host = host;
    if (request->rerun && s->has_problem) {
        problem_refill(&s->problem, &s->host);
    } else {
        free_problem(s);
        s->problem = problem_create(&s->host, &s->kernel, &s->device, request->optional, request->offset_seed);
        s->has_problem = true;
    }
    host_problem_free(&before);
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUDA(cudaDeviceSynchronize());
    if (request->delayed && !s->device.limits.simulated)
        problem_delay(&s->problem, stream, &staging);
    device_order(request->order);
    device_budget(request->budget);
    struct second_call second = call_concurrently(s, request);
    device_inputs_on(stream);
    struct device_counts counts = device_counts();       // the concurrent call has the same counts
    bool recorded = request->delayed && !request->rerun; // only calls of cases are recorded, not those of the diagnosis
    recording_describe(&s->problem);
    cudaError_t launch = problem_launch(&s->problem, &s->kernel, &s->problem.workspace, stream);
    if (recorded)
        recording_write();
    result.good = launch_finish(launch, &counts, s->kernel.operation->forward, &result.state, &result.cause);
    check_origin(s, &result);
    withdraw_unfinished(s, &result);
    result.nonce = request->nonce;
    end_concurrent_call(&second, result.state == DEVICE_WELL);
    if (result.state == DEVICE_WELL) {
        const char *guard = problem_broken_guard(&s->problem), *changed = problem_changed_input(&s->problem);
        snprintf(result.guard, sizeof result.guard, "%s", guard ? guard : "");
        snprintf(result.changed, sizeof result.changed, "%s", changed ? changed : "");
        for (int i = 0; i < s->host.outputs; i++)
            result.has[i] = problem_has_output(&s->problem, i);
        if (*request->out)
            output_write(&s->problem, request->out);
        CUDA(cudaStreamDestroy(stream));
        tensor_free(&staging);
    } else {
        s->has_problem = false; // the allocations are lost with the context
    }
    result.first_finding = device_first_finding();
    fflush(stdout); // prints output of the kernel before the verdict
    send_or_exit(s, &result, sizeof result);
    for (int i = 0; i < s->host.outputs; i++)
        if (result.has[i])
            problem_read(&s->problem, i, send_rows, s);
    if (s->has_problem && request->delayed && !request->budget)
        reach_reuse(s);
    send_or_exit(s, &request->nonce, sizeof request->nonce);
}

static void reply(struct service *s, const struct wire_request *request) {
    struct wire_reply reply = {.nonce = request->nonce};
    if (request->kind == WIRE_COVERS)
        reply.yes = kernel_covers(&s->kernel, &request->which, &s->device, &reply.obstacle);
    else
        reply.yes = problem_fits(&s->kernel, &request->which, &s->device, 1, &reply.obstacle.reason);
    send_or_exit(s, &reply, sizeof reply);
}

void worker_serve(int socket, const struct arguments *arguments) {
    static struct service s;
    static struct wire_request request;
    s.socket = socket;
    s.device = device_open(arguments->device);
    device_lock();
    s.kernel = kernel_load(&arguments->kernel[0]);
    names_register(&arguments->kernel[0]);
    struct wire_hello hello = {.device = s.device,
                               .dtypes = kernel_dtypes(&s.kernel),
                               .writes_optional = kernel_writes_optional(&s.kernel),
                               .repeats = kernel_repeats(&s.kernel)};
    while (operations[hello.operation] != s.kernel.operation)
        hello.operation++;
    snprintf(hello.lacking, sizeof hello.lacking, "%s", s.kernel.lacking ? s.kernel.lacking : "");
    send_or_exit(&s, &hello, sizeof hello);
    for (;;) {
        receive_or_exit(&s, &request, sizeof request);
        if (request.kind == WIRE_END)
            break;
        if (request.kind == WIRE_CALL)
            call(&s, &request);
        else
            reply(&s, &request);
    }
    exit(0);
}
