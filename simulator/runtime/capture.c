// Stream capture: between cudaStreamBeginCapture and cudaStreamEndCapture, operations in a stream become nodes of a
// graph. A stream that waits for an event of a captured stream is captured as well (forked), and must be joined with
// the origin stream before the end.
#include "graph.h"
#include "stream.h"

#include <stdlib.h>

struct capture {
    cudaGraph_t graph;
    bool adopted; // the program's graph, which the capture must not free
    cudaStream_t origin;
    enum cudaStreamCaptureMode mode;
    unsigned long long id;
    bool invalidated; // by a call that cannot be captured
    struct capture *next;
};

// The nodes on which the next operation of a stream depends, or which an event denotes.
struct dependency_set {
    const void *handle;
    struct capture *capture;
    struct node_set dependencies;
    struct dependency_set *next;
};

static struct capture *captures;
static struct dependency_set *dependency_sets;

static struct dependency_set *find_dependencies(const void *handle) {
    struct dependency_set *entry = dependency_sets;
    while (entry && entry->handle != handle)
        entry = entry->next;
    return entry;
}

static struct dependency_set *add_dependency_set(const void *handle, struct capture *capture) {
    struct dependency_set *created = calloc(1, sizeof *created);
    if (created) {
        *created = (struct dependency_set){handle, capture, {0}, dependency_sets};
        dependency_sets = created;
    }
    return created;
}

static void end_capture(struct capture *capture);

void capture_remove(const void *handle) {
    for (struct capture *entry = captures; entry; entry = entry->next) {
        if (entry->origin == handle) {
            if (!entry->adopted)
                graph_free(entry->graph);
            end_capture(entry);
            return;
        }
    }
    for (struct dependency_set **link = &dependency_sets; *link; link = &(*link)->next) {
        struct dependency_set *entry = *link;
        if (entry->handle == handle) {
            *link = entry->next;
            node_set_clear(&entry->dependencies);
            free(entry);
            return;
        }
    }
}

static void end_capture(struct capture *capture) {
    struct dependency_set **link = &dependency_sets;
    while (*link) {
        struct dependency_set *entry = *link;
        if (entry->capture != capture) {
            link = &entry->next;
            continue;
        }
        *link = entry->next;
        node_set_clear(&entry->dependencies);
        free(entry);
    }
    struct capture **set = &captures;
    while (*set != capture)
        set = &(*set)->next;
    *set = capture->next;
    free(capture);
}

void capture_end_all(void) {
    while (captures)
        end_capture(captures);
}

bool capture_is_active(cudaStream_t stream) {
    return captures && find_dependencies(stream);
}

enum cudaStreamCaptureStatus capture_status(cudaStream_t stream) {
    const struct dependency_set *set = find_dependencies(stream);
    return !set                        ? cudaStreamCaptureStatusNone
           : set->capture->invalidated ? cudaStreamCaptureStatusInvalidated
                                       : cudaStreamCaptureStatusActive;
}

static cudaError_t report_invalidated(void) {
    return api_error(cudaErrorStreamCaptureInvalidated,
                     "the capture was invalidated by an earlier call that is not permitted during capture");
}

cudaError_t capture_add(cudaStream_t stream, struct operation *operation) {
    struct dependency_set *set = find_dependencies(stream);
    if (set->capture->invalidated) {
        operation_release(operation);
        return report_invalidated();
    }
    cudaGraphNode_t node;
    cudaError_t error = graph_add_node(&node, set->capture->graph, &set->dependencies, operation);
    if (error == cudaSuccess) {
        set->dependencies.count = 0;
        if (!node_set_add(&set->dependencies, node))
            error = api_error(cudaErrorMemoryAllocation, "out of host memory");
    }
    return error;
}

cudaError_t capture_reject(cudaStream_t stream, const char *reason) {
    struct dependency_set *set = find_dependencies(stream);
    if (!set)
        return cudaSuccess;
    set->capture->invalidated = true;
    return api_error(cudaErrorStreamCaptureUnsupported, "not permitted while the stream is captured: %s", reason);
}

cudaError_t capture_reject_all(const char *reason) {
    for (struct capture *entry = captures; entry; entry = entry->next) {
        if (entry->mode == cudaStreamCaptureModeRelaxed)
            continue;
        entry->invalidated = true;
        return api_error(cudaErrorStreamCaptureUnsupported, "not permitted while a stream is captured: %s", reason);
    }
    return cudaSuccess;
}

// The legacy default stream and blocking streams wait for each other.
cudaError_t capture_reject_legacy(void) {
    for (struct capture *entry = captures; entry; entry = entry->next) {
        if (!stream_is_blocking(entry->origin))
            continue;
        entry->invalidated = true;
        return api_error(cudaErrorStreamCaptureImplicit,
                         "the legacy default stream cannot be used while a blocking stream is captured; use the "
                         "captured stream, or create it with cudaStreamNonBlocking");
    }
    return cudaSuccess;
}

bool capture_record_event(cudaEvent_t event, cudaStream_t stream) {
    const struct dependency_set *set = find_dependencies(stream);
    capture_remove(event);
    struct dependency_set *event_set = set ? add_dependency_set(event, set->capture) : NULL;
    return event_set && node_set_add_all(&event_set->dependencies, &set->dependencies);
}

bool capture_wait_event(cudaStream_t stream, cudaEvent_t event) {
    const struct dependency_set *event_set = find_dependencies(event);
    struct dependency_set *set = event_set ? find_dependencies(stream) : NULL;
    if (event_set && !set)
        set = add_dependency_set(stream, event_set->capture);
    return event_set && set && node_set_add_all(&set->dependencies, &event_set->dependencies);
}

bool capture_has_event(cudaEvent_t event) {
    return captures && find_dependencies(event);
}

// graph NULL: captures into a new graph.
static cudaError_t begin_capture(cudaStream_t stream, cudaGraph_t graph, enum cudaStreamCaptureMode mode) {
    static unsigned long long last_id;
    cudaError_t error = stream_check(stream);
    if (error != cudaSuccess)
        return error;
    if ((unsigned)mode > cudaStreamCaptureModeRelaxed)
        return api_error(cudaErrorInvalidValue, "unknown capture mode %d", (int)mode);
    if (!stream || stream == cudaStreamLegacy)
        return api_error(cudaErrorStreamCaptureUnsupported,
                         "the legacy default stream cannot be captured; create a stream");
    if (find_dependencies(stream))
        return api_error(cudaErrorIllegalState, "the stream is already being captured");
    struct capture *created = calloc(1, sizeof *created);
    if (created) {
        *created = (struct capture){graph ? graph : graph_new(), graph, stream, mode, ++last_id, false, captures};
        captures = created;
    }
    if (!created || !created->graph || !add_dependency_set(stream, created)) {
        if (created)
            end_capture(created);
        return api_error(cudaErrorMemoryAllocation, "out of host memory");
    }
    return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode) {
    return DEVICE_CALL(begin_capture(stream, NULL, mode));
}

// Sets the dependencies of the stream's next operation; keep: adds them to the current ones.
static cudaError_t set_dependencies(cudaStream_t stream, const cudaGraphNode_t *dependencies, size_t count, bool keep) {
    struct dependency_set *set = find_dependencies(stream);
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < count && error == cudaSuccess; i++) {
        error = graph_check_node(dependencies[i]);
        if (error == cudaSuccess && dependencies[i]->graph != set->capture->graph)
            error = api_error(cudaErrorInvalidValue, "a dependency belongs to another graph");
    }
    if (error == cudaSuccess && !keep)
        set->dependencies.count = 0;
    for (size_t i = 0; i < count && error == cudaSuccess; i++)
        if (!node_set_add(&set->dependencies, dependencies[i]))
            error = api_error(cudaErrorMemoryAllocation, "out of host memory");
    return error;
}

static cudaError_t begin_capture_to_graph(cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                          size_t count, enum cudaStreamCaptureMode mode) {
    cudaError_t error = graph_check(graph);
    if (error == cudaSuccess && count > 0 && !dependencies)
        error = api_error(cudaErrorInvalidValue, "the pointer to the nodes is NULL");
    if (error == cudaSuccess)
        error = begin_capture(stream, graph, mode);
    return error == cudaSuccess ? set_dependencies(stream, dependencies, count, false) : error;
}

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                          const cudaGraphEdgeData *edges, size_t count,
                                          enum cudaStreamCaptureMode mode) {
    (void)edges;
    return DEVICE_CALL(begin_capture_to_graph(stream, graph, dependencies, count, mode));
}

// Whether the end of the stream depends on all nodes, including those of forked streams.
static bool is_joined(const struct dependency_set *last) {
    struct node_set before = {0};
    bool complete = node_set_add_all(&before, &last->dependencies);
    for (size_t i = 0; i < before.count && complete; i++)
        complete = node_set_add_all(&before, &before.node[i]->dependencies);
    complete = complete && before.count == last->capture->graph->nodes.count;
    node_set_clear(&before);
    return complete;
}

static cudaError_t end_stream_capture(cudaStream_t stream, cudaGraph_t *graph) {
    struct dependency_set *set = find_dependencies(stream);
    cudaError_t error = stream_check(stream);
    if (error == cudaSuccess && !graph && !(set && set->capture->adopted))
        error = api_error(cudaErrorInvalidValue, "the pointer to the result is NULL");
    if (error != cudaSuccess)
        return error;
    if (graph)
        *graph = NULL;
    if (!set)
        return api_error(cudaErrorIllegalState, "the stream is not being captured");
    struct capture *capture = set->capture;
    cudaGraph_t created = capture->graph;
    bool adopted = capture->adopted;
    if (capture->invalidated)
        error = report_invalidated();
    else if (capture->origin != stream)
        return api_error(cudaErrorStreamCaptureUnmatched, "the capture began in another stream; end it there");
    else if (!adopted && !is_joined(set))
        error = api_error(
            cudaErrorStreamCaptureUnjoined,
            "a forked stream was not joined: record an event in it, and make the origin stream wait for that event");
    end_capture(capture);
    if (error == cudaSuccess && graph)
        *graph = created;
    else if (!adopted)
        graph_free(created);
    return error;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph) {
    return DEVICE_CALL(end_stream_capture(stream, graph));
}

static cudaError_t get_status(cudaStream_t stream, enum cudaStreamCaptureStatus *status) {
    cudaError_t error =
        !status ? api_error(cudaErrorInvalidValue, "the pointer to the result is NULL") : stream_check(stream);
    if (error == cudaSuccess)
        *status = capture_status(stream);
    return error;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status) {
    return DEVICE_CALL(get_status(stream, status));
}

#if CUDART_VERSION >= 13000
static cudaError_t get_info(cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id,
                            cudaGraph_t *graph, const cudaGraphNode_t **nodes, size_t *count) {
    cudaError_t error = get_status(stream, status);
    const struct dependency_set *set = error == cudaSuccess ? find_dependencies(stream) : NULL;
    if (!set)
        return error;
    if (id)
        *id = set->capture->id;
    if (graph)
        *graph = set->capture->graph;
    if (nodes)
        *nodes = set->dependencies.node;
    if (count)
        *count = set->dependencies.count;
    return cudaSuccess;
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id,
                                     cudaGraph_t *graph, const cudaGraphNode_t **nodes, const cudaGraphEdgeData **edges,
                                     size_t *count) {
    if (edges)
        *edges = NULL;
    return DEVICE_CALL(get_info(stream, status, id, graph, nodes, count));
}
#endif

#if CUDART_VERSION >= 13000
static cudaError_t update_dependencies(cudaStream_t stream, const cudaGraphNode_t *dependencies, size_t count,
                                       unsigned flags) {
    cudaError_t error = stream_check(stream);
    if (error == cudaSuccess && (flags > cudaStreamSetCaptureDependencies || (count > 0 && !dependencies)))
        error = api_error(cudaErrorInvalidValue, "the flags are unknown or the pointer to the nodes is NULL");
    if (error == cudaSuccess && !find_dependencies(stream))
        error = api_error(cudaErrorIllegalState, "the stream is not being captured");
    return error == cudaSuccess
               ? set_dependencies(stream, dependencies, count, flags == cudaStreamAddCaptureDependencies)
               : error;
}

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *dependencies,
                                                const cudaGraphEdgeData *edges, size_t count, unsigned int flags) {
    (void)edges;
    return DEVICE_CALL(update_dependencies(stream, dependencies, count, flags));
}
#endif

// The thread's capture mode. The simulator uses only the mode of each capture.
static cudaError_t exchange_mode(enum cudaStreamCaptureMode *mode) {
    static _Thread_local enum cudaStreamCaptureMode current = cudaStreamCaptureModeGlobal;
    if (!mode || (unsigned)*mode > cudaStreamCaptureModeRelaxed)
        return api_error(cudaErrorInvalidValue, "the mode is NULL or unknown");
    enum cudaStreamCaptureMode before = current;
    current = *mode;
    *mode = before;
    return cudaSuccess;
}

cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode) {
    return DEVICE_CALL(exchange_mode(mode));
}
