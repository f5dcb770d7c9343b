// What judge and worker say to each other.
#ifndef RUNNER_WORKER_WIRE_H
#define RUNNER_WORKER_WIRE_H

#include "runner/worker.h"

enum { WIRE_ROWS = 4096 }; // of an output, at most in one piece

struct wire_hello {
    struct device device;
    int operation; // its index
    unsigned dtypes;
    bool gives_optional, repeats;
    char lacking[256];
};

enum wire_request { WIRE_COVERS, WIRE_FITS, WIRE_CALL, WIRE_END };

struct wire_question {
    enum wire_request request;
    uint64_t nonce; // drawn anew for each; what is answered repeats it
    struct problem_case which;
    // Of a call; the inputs' values follow.
    bool optional, delayed, again, beside;
    uint64_t places, order, budget;
    float softmax_scale;
    bool finite;
    int64_t kept[MAX_TENSORS];
    char out[1024];
};

struct wire_answer {
    uint64_t nonce;
    bool yes;
    struct obstacle obstacle;
};

// The whole of it; false where the other side is gone.
bool wire_send(int socket, const void *data, size_t size);
bool wire_receive(int socket, void *data, size_t size);

#endif
