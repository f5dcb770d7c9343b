// Stream capture: between cudaStreamBeginCapture and cudaStreamEndCapture what is given to a stream becomes nodes of a
// graph. A stream that waits for an event of a captured one is captured, too, and has to be joined with the first one
// before the end.
#include "graph.h"
#include "stream.h"

#include <stdlib.h>

struct capture {
    cudaGraph_t graph;
    bool lent; // the graph was there before, and stays whatever happens
    cudaStream_t origin;
    enum cudaStreamCaptureMode mode;
    unsigned long long id;
    bool broken; // by a call that cannot be captured
    struct capture *next;
};

// After which nodes comes what is given to a stream from now on, or what an event stands for.
struct position {
    const void *who;
    struct capture *capture;
    struct node_set after;
    struct position *next;
};

static struct capture *captures;
static struct position *positions;

static struct position *find(const void *who) {
    struct position *one = positions;
    while (one && one->who != who)
        one = one->next;
    return one;
}

static struct position *make(const void *who, struct capture *capture) {
    struct position *made = calloc(1, sizeof *made);
    if (made) {
        *made = (struct position){who, capture, {0}, positions};
        positions = made;
    }
    return made;
}

static void end(struct capture *capture);

void capture_forget(const void *who) {
    for (struct capture *one = captures; one; one = one->next) {
        if (one->origin == who) {
            if (!one->lent)
                graph_free(one->graph);
            end(one);
            return;
        }
    }
    for (struct position **link = &positions; *link; link = &(*link)->next) {
        struct position *one = *link;
        if (one->who == who) {
            *link = one->next;
            node_set_empty(&one->after);
            free(one);
            return;
        }
    }
}

static void end(struct capture *capture) {
    struct position **link = &positions;
    while (*link) {
        struct position *one = *link;
        if (one->capture != capture) {
            link = &one->next;
            continue;
        }
        *link = one->next;
        node_set_empty(&one->after);
        free(one);
    }
    struct capture **at = &captures;
    while (*at != capture)
        at = &(*at)->next;
    *at = capture->next;
    free(capture);
}

void capture_end_all(void) {
    while (captures)
        end(captures);
}

bool capture_is_on(cudaStream_t stream) {
    return captures && find(stream);
}

enum cudaStreamCaptureStatus capture_status_of(cudaStream_t stream) {
    const struct position *at = find(stream);
    return !at                   ? cudaStreamCaptureStatusNone
           : at->capture->broken ? cudaStreamCaptureStatusInvalidated
                                 : cudaStreamCaptureStatusActive;
}

static cudaError_t invalidated(void) {
    return api_error(cudaErrorStreamCaptureInvalidated,
                     "the capture was broken by an earlier call that cannot be in it");
}

cudaError_t capture_add(cudaStream_t stream, struct work *work) {
    struct position *at = find(stream);
    if (at->capture->broken) {
        work_drop(work);
        return invalidated();
    }
    cudaGraphNode_t node;
    cudaError_t error = graph_add(&node, at->capture->graph, &at->after, work);
    if (error == cudaSuccess) {
        at->after.count = 0;
        if (!node_set_add(&at->after, node))
            error = api_error(cudaErrorMemoryAllocation, "the host has no memory left");
    }
    return error;
}

cudaError_t capture_forbids(cudaStream_t stream, const char *what) {
    struct position *at = find(stream);
    if (!at)
        return cudaSuccess;
    at->capture->broken = true;
    return api_error(cudaErrorStreamCaptureUnsupported, "the stream is being captured, and this call %s", what);
}

cudaError_t capture_forbids_all(const char *what) {
    for (struct capture *one = captures; one; one = one->next) {
        if (one->mode == cudaStreamCaptureModeRelaxed)
            continue;
        one->broken = true;
        return api_error(cudaErrorStreamCaptureUnsupported, "a stream is being captured, and this call %s", what);
    }
    return cudaSuccess;
}

// The legacy default stream and those that block with it wait for each other.
cudaError_t capture_forbids_legacy(void) {
    for (struct capture *one = captures; one; one = one->next) {
        if (!stream_blocks(one->origin))
            continue;
        one->broken = true;
        return api_error(
            cudaErrorStreamCaptureImplicit,
            "a stream that blocks with the default stream is being captured; give the work to that stream, "
            "or create it with cudaStreamNonBlocking");
    }
    return cudaSuccess;
}

bool capture_record(cudaEvent_t event, cudaStream_t stream) {
    const struct position *at = find(stream);
    capture_forget(event);
    struct position *stands = at ? make(event, at->capture) : NULL;
    return stands && node_set_add_all(&stands->after, &at->after);
}

bool capture_wait(cudaStream_t stream, cudaEvent_t event) {
    const struct position *stands = find(event);
    struct position *at = stands ? find(stream) : NULL;
    if (stands && !at)
        at = make(stream, stands->capture);
    return stands && at && node_set_add_all(&at->after, &stands->after);
}

bool capture_knows(cudaEvent_t event) {
    return captures && find(event);
}

// graph NULL: a new one.
static cudaError_t begin(cudaStream_t stream, cudaGraph_t graph, enum cudaStreamCaptureMode mode) {
    static unsigned long long last_id;
    cudaError_t error = stream_check(stream);
    if (error != cudaSuccess)
        return error;
    if ((unsigned)mode > cudaStreamCaptureModeRelaxed)
        return api_error(cudaErrorInvalidValue, "there is no capture mode %d", (int)mode);
    if (!stream || stream == cudaStreamLegacy)
        return api_error(cudaErrorStreamCaptureUnsupported,
                         "the default stream cannot be captured; create another one");
    if (find(stream))
        return api_error(cudaErrorIllegalState, "the stream is being captured already");
    struct capture *made = calloc(1, sizeof *made);
    if (made) {
        *made = (struct capture){graph ? graph : graph_new(), graph, stream, mode, ++last_id, false, captures};
        captures = made;
    }
    if (!made || !made->graph || !make(stream, made)) {
        if (made)
            end(made);
        return api_error(cudaErrorMemoryAllocation, "the host has no memory left");
    }
    return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode) {
    return DEVICE_CALL(begin(stream, NULL, mode));
}

// What comes next in the stream comes after these nodes, and those that are there already where it is said.
static cudaError_t set_after(cudaStream_t stream, const cudaGraphNode_t *after, size_t count, bool keep) {
    struct position *at = find(stream);
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < count && error == cudaSuccess; i++) {
        error = graph_check_node(after[i]);
        if (error == cudaSuccess && after[i]->graph != at->capture->graph)
            error = api_error(cudaErrorInvalidValue, "a dependency is a node of another graph");
    }
    if (error == cudaSuccess && !keep)
        at->after.count = 0;
    for (size_t i = 0; i < count && error == cudaSuccess; i++)
        if (!node_set_add(&at->after, after[i]))
            error = api_error(cudaErrorMemoryAllocation, "the host has no memory left");
    return error;
}

static cudaError_t begin_into(cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
                              enum cudaStreamCaptureMode mode) {
    cudaError_t error = graph_check(graph);
    if (error == cudaSuccess && count > 0 && !after)
        error = api_error(cudaErrorInvalidValue, "the pointer to the nodes is NULL");
    if (error == cudaSuccess)
        error = begin(stream, graph, mode);
    return error == cudaSuccess ? set_after(stream, after, count, false) : error;
}

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *after,
                                          const cudaGraphEdgeData *edges, size_t count,
                                          enum cudaStreamCaptureMode mode) {
    (void)edges;
    return DEVICE_CALL(begin_into(stream, graph, after, count, mode));
}

// Whether all nodes come before the stream's end: those of other streams, too.
static bool is_joined(const struct position *last) {
    struct node_set before = {0};
    bool whole = node_set_add_all(&before, &last->after);
    for (size_t i = 0; i < before.count && whole; i++)
        whole = node_set_add_all(&before, &before.node[i]->after);
    whole = whole && before.count == last->capture->graph->nodes.count;
    node_set_empty(&before);
    return whole;
}

static cudaError_t finish(cudaStream_t stream, cudaGraph_t *graph) {
    struct position *at = find(stream);
    cudaError_t error = stream_check(stream);
    if (error == cudaSuccess && !graph && !(at && at->capture->lent))
        error = api_error(cudaErrorInvalidValue, "the result is NULL");
    if (error != cudaSuccess)
        return error;
    if (graph)
        *graph = NULL;
    if (!at)
        return api_error(cudaErrorIllegalState, "the stream is not being captured");
    struct capture *capture = at->capture;
    cudaGraph_t made = capture->graph;
    bool lent = capture->lent;
    if (capture->broken)
        error = invalidated();
    else if (capture->origin != stream)
        return api_error(cudaErrorStreamCaptureUnmatched, "the capture began in another stream");
    else if (!lent && !is_joined(at))
        error = api_error(cudaErrorStreamCaptureUnjoined,
                          "a stream that was captured on the way was not joined: record an event in it, and let the "
                          "first stream wait for that");
    end(capture);
    if (error == cudaSuccess && graph)
        *graph = made;
    else if (!lent)
        graph_free(made);
    return error;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph) {
    return DEVICE_CALL(finish(stream, graph));
}

static cudaError_t get_status(cudaStream_t stream, enum cudaStreamCaptureStatus *status) {
    cudaError_t error = !status ? api_error(cudaErrorInvalidValue, "the result is NULL") : stream_check(stream);
    if (error == cudaSuccess)
        *status = capture_status_of(stream);
    return error;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status) {
    return DEVICE_CALL(get_status(stream, status));
}

#if CUDART_VERSION >= 13000
static cudaError_t get_info(cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id,
                            cudaGraph_t *graph, const cudaGraphNode_t **nodes, size_t *count) {
    cudaError_t error = get_status(stream, status);
    const struct position *at = error == cudaSuccess ? find(stream) : NULL;
    if (!at)
        return error;
    if (id)
        *id = at->capture->id;
    if (graph)
        *graph = at->capture->graph;
    if (nodes)
        *nodes = at->after.node;
    if (count)
        *count = at->after.count;
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
static cudaError_t update(cudaStream_t stream, const cudaGraphNode_t *after, size_t count, unsigned flags) {
    cudaError_t error = stream_check(stream);
    if (error == cudaSuccess && (flags > cudaStreamSetCaptureDependencies || (count > 0 && !after)))
        error = api_error(cudaErrorInvalidValue, "the flags are unknown or the pointer to the nodes is NULL");
    if (error == cudaSuccess && !find(stream))
        error = api_error(cudaErrorIllegalState, "the stream is not being captured");
    return error == cudaSuccess ? set_after(stream, after, count, flags == cudaStreamAddCaptureDependencies) : error;
}

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *after,
                                                const cudaGraphEdgeData *edges, size_t count, unsigned int flags) {
    (void)edges;
    return DEVICE_CALL(update(stream, after, count, flags));
}
#endif

// Which mode a thread's captures are held to; here that of the capture itself decides.
static cudaError_t exchange(enum cudaStreamCaptureMode *mode) {
    static _Thread_local enum cudaStreamCaptureMode current = cudaStreamCaptureModeGlobal;
    if (!mode || (unsigned)*mode > cudaStreamCaptureModeRelaxed)
        return api_error(cudaErrorInvalidValue, "the mode is NULL or unknown");
    enum cudaStreamCaptureMode before = current;
    current = *mode;
    *mode = before;
    return cudaSuccess;
}

cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode) {
    return DEVICE_CALL(exchange(mode));
}
