// The process that has the kernel: it makes tensors of the inputs that it is given, calls the kernel, and sends back
// what is in the outputs. It judges nothing.
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
#include <unistd.h>

enum { MOST_BESIDE = 1 << 26 }; // bytes of a second call's inputs and workspace

struct service {
    int socket;
    struct device device;
    struct kernel kernel;
    struct host_problem host;      // of the last call
    struct device_problem problem; // its tensors
    bool has_problem;
};

// The judge is gone: nobody is there to be told.
static void say(const struct service *s, const void *data, size_t size) {
    if (!wire_send(s->socket, data, size))
        _exit(EXIT_CHECK_FAILED);
}

static void read_or_end(const struct service *s, void *data, size_t size) {
    if (!wire_receive(s->socket, data, size))
        _exit(EXIT_CHECK_FAILED);
}

static struct host_problem receive_problem(const struct service *s, const struct wire_question *question) {
    struct host_problem host;
    s->kernel.operation->make(&question->which, 0, false, &host);
    host.softmax_scale = question->softmax_scale;
    host.finite = question->finite;
    for (int i = 0; i < host.inputs; i++) {
        struct host_tensor *tensor = &host.tensor[i];
        free(tensor->values);
        tensor->kept = question->kept[i];
        tensor->values = host_allocate(tensor->kept * tensor->columns, sizeof *tensor->values);
        read_or_end(s, tensor->values, (size_t)(tensor->kept * tensor->columns) * sizeof *tensor->values);
    }
    return host;
}

static void drop_problem(struct service *s) {
    if (s->has_problem)
        problem_free(&s->problem);
    s->has_problem = false;
}

static void send_rows(void *context, int64_t row, int64_t rows, const float *values, int columns) {
    (void)row;
    say(context, values, (size_t)(rows * columns) * sizeof *values);
}

// The same call in another stream, behind work of that stream's own: nothing of the two is common but the file.
struct second_call {
    struct device_problem problem;
    cudaStream_t stream;
    bool made;
};

static struct second_call call_beside(struct service *s, const struct wire_question *question) {
    size_t bytes = problem_bytes(&s->host) + kernel_workspace_bytes(&s->kernel, &s->host.which);
    struct second_call second = {.made = question->beside && bytes <= MOST_BESIDE};
    if (!second.made)
        return second;
    second.problem = problem_create(&s->host, &s->kernel, &s->device, question->optional, 0);
    CUDA(cudaStreamCreateWithFlags(&second.stream, cudaStreamNonBlocking));
    CUDA(cudaDeviceSynchronize());
    problem_rest(second.stream);
    recording_describe(&second.problem);
    device_concurrent(DEVICE_BESIDE);
    if (problem_launch(&second.problem, &s->kernel, second.problem.workspace.data, second.stream) != cudaSuccess)
        cudaGetLastError(); // the call that counts says so, too
    device_concurrent(DEVICE_BESIDE_OVER);
    return second;
}

static void end_beside(struct second_call *second, bool well) {
    device_concurrent(DEVICE_ALONE);
    if (second->made && well) {
        CUDA(cudaStreamDestroy(second->stream));
        problem_free(&second->problem);
    }
}

// What can be relied upon where not all of the launches was run. What cannot is as if it had not been written.
static void take_part(const struct service *s, struct worker_result *result) {
    result->part = device_part();
    result->whole = device_whole();
    for (int i = 0; i < s->host.outputs && result->state == DEVICE_WELL && result->part != PART_WHOLE; i++) {
        const struct device_tensor *output = &s->problem.tensor[s->host.inputs + i];
        if (!problem_has_output(&s->problem, i))
            continue;
        uint64_t apart = device_overlaps(output->data, output->bytes);
        if (apart && result->good)
            result->good = message_set(&result->cause,
                                       "blocks %llu apart write the same elements of %s, so that others are not "
                                       "written: is the number of a row, or of a head, kept in 16 bits?",
                                       (unsigned long long)apart, s->host.tensor[s->host.inputs + i].name);
        device_withdraw(output->data, output->bytes, POISON_BYTE);
    }
}

// A result that the host has computed, or may have: attention needs no input there.
static void look_at_origin(const struct service *s, struct worker_result *result) {
    for (int i = 0; i < s->host.outputs && result->good; i++) {
        const struct device_tensor *output = &s->problem.tensor[s->host.inputs + i];
        if (problem_has_output(&s->problem, i) && device_from_host(output->data, output->bytes))
            result->good = message_set(&result->cause, "%s was copied from the host: no kernel has computed it",
                                       s->host.tensor[s->host.inputs + i].name);
    }
    for (int i = 0; i < s->host.inputs && result->good; i++) {
        const struct device_tensor *input = &s->problem.tensor[i];
        if (device_to_host(input->data, input->bytes))
            result->good =
                message_set(&result->cause, "%s was copied to the host: what is computed there is no kernel's work",
                            s->host.tensor[i].name);
    }
}

static void call(struct service *s, const struct wire_question *question) {
    struct worker_result result = {.state = DEVICE_WELL};
    struct host_problem host = receive_problem(s, question), before = s->host;
    struct device_tensor staging = {0};
    cudaStream_t stream = 0;
    s->host = host;
    if (question->again && s->has_problem) {
        problem_refill(&s->problem, &s->host);
    } else {
        drop_problem(s);
        s->problem = problem_create(&s->host, &s->kernel, &s->device, question->optional, question->places);
        s->has_problem = true;
    }
    host_problem_free(&before);
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUDA(cudaDeviceSynchronize());
    if (question->delayed && !s->device.limits.simulated)
        problem_delay(&s->problem, stream, &staging);
    device_order(question->order);
    device_budget(question->budget);
    struct second_call second = call_beside(s, question);
    device_inputs_on(stream);
    struct device_counts counts = device_counts();         // the call beside it does what this one does
    bool recorded = question->delayed && !question->again; // of a case, and not of the diagnosis
    recording_describe(&s->problem);
    cudaError_t launch = problem_launch(&s->problem, &s->kernel, s->problem.workspace.data, stream);
    if (recorded)
        recording_write();
    result.good = launch_finish(launch, &counts, s->kernel.operation->forward, &result.state, &result.cause);
    look_at_origin(s, &result);
    take_part(s, &result);
    result.nonce = question->nonce;
    end_beside(&second, result.state == DEVICE_WELL);
    if (result.state == DEVICE_WELL) {
        const char *guard = problem_broken_guard(&s->problem), *changed = problem_changed_input(&s->problem);
        snprintf(result.guard, sizeof result.guard, "%s", guard ? guard : "");
        snprintf(result.changed, sizeof result.changed, "%s", changed ? changed : "");
        for (int i = 0; i < s->host.outputs; i++)
            result.has[i] = problem_has_output(&s->problem, i);
        if (*question->out)
            output_write(&s->problem, question->out);
        CUDA(cudaStreamDestroy(stream));
        tensor_free(&staging);
    } else {
        s->has_problem = false; // what was allocated is gone
    }
    result.first_finding = device_first_finding();
    fflush(stdout); // what the kernel has printed comes before the judgement
    say(s, &result, sizeof result);
    for (int i = 0; i < s->host.outputs; i++)
        if (result.has[i])
            problem_read(&s->problem, i, send_rows, s);
    say(s, &question->nonce, sizeof question->nonce);
}

static void answer(struct service *s, const struct wire_question *question) {
    struct wire_answer answer = {.nonce = question->nonce};
    if (question->request == WIRE_COVERS)
        answer.yes = kernel_covers(&s->kernel, &question->which, &s->device, &answer.obstacle);
    else
        answer.yes = problem_fits(&s->kernel, &question->which, &s->device, 1, &answer.obstacle.reason);
    say(s, &answer, sizeof answer);
}

void worker_serve(int socket, const struct arguments *arguments) {
    static struct service s;
    static struct wire_question question;
    s.socket = socket;
    s.device = device_open(arguments->device);
    device_lock();
    s.kernel = kernel_load(&arguments->kernel[0]);
    names_tell(&arguments->kernel[0]);
    struct wire_hello hello = {.device = s.device,
                               .dtypes = kernel_dtypes(&s.kernel),
                               .gives_optional = kernel_gives_optional(&s.kernel),
                               .repeats = kernel_repeats(&s.kernel)};
    while (operations[hello.operation] != s.kernel.operation)
        hello.operation++;
    snprintf(hello.lacking, sizeof hello.lacking, "%s", s.kernel.lacking ? s.kernel.lacking : "");
    say(&s, &hello, sizeof hello);
    for (;;) {
        read_or_end(&s, &question, sizeof question);
        if (question.request == WIRE_END)
            break;
        if (question.request == WIRE_CALL)
            call(&s, &question);
        else
            answer(&s, &question);
    }
    exit(0);
}
