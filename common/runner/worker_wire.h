// The messages between the checking process and the worker.
#ifndef RUNNER_WORKER_WIRE_H
#define RUNNER_WORKER_WIRE_H

#include "runner/worker.h"

enum { WIRE_ROWS = 4096 }; // of an output, at most, per message

struct wire_hello {
    struct device device;
    int operation; // its index
    unsigned dtypes;
    bool writes_optional, repeats;
    char lacking[256];
};

enum wire_request_kind { WIRE_COVERS, WIRE_FITS, WIRE_CALL, WIRE_END };

struct wire_request {
    enum wire_request_kind kind;
    uint64_t nonce; // random for each request; its reply repeats it
    struct problem_case which;
    // Of a call; the values of the inputs follow.
    bool optional, delayed, rerun, concurrent;
    uint64_t offset_seed, order, budget;
    float softmax_scale;
    bool finite;
    int64_t kept[MAX_TENSORS];
    char out[1024];
};

struct wire_reply {
    uint64_t nonce;
    bool yes;
    struct obstacle obstacle;
};

// Sends or receives all bytes; false if the other side has closed the socket.
bool wire_send(int socket, const void *data, size_t size);
bool wire_receive(int socket, void *data, size_t size);

#endif
