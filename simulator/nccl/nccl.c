// A stand-in for NCCL on the simulator: libnccl.so.2 with the calls of common/nccl.h. A group's calls are matched when
// it ends, with those of other threads' groups, and run at once; what NCCL guarantees of their order, the simulator
// keeps as it does for copies (machine/timeline.h). A group whose calls meet no counterpart would never end on GPUs.
#include "calls.h"

#include "../simulator.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { OTHER_THREADS_SECONDS = 2 }; // how long a group waits for the groups of other threads

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct call *calls; // of groups that have ended, in their order
static _Thread_local int depth;
static _Thread_local struct call *group; // the calls of the group that has not ended

static ncclResult_t refuse(ncclResult_t result, const char *call, const char *why) {
    fprintf(stderr, "simulator: %s: %s [%s]\n", call, why, ncclGetErrorString(result));
    return result;
}

const char *ncclGetErrorString(ncclResult_t result) {
    static const char *const text[] = {"no error",
                                       "unhandled cuda error",
                                       "unhandled system error",
                                       "internal error",
                                       "invalid argument",
                                       "invalid usage",
                                       "remote process exited or there was a network error",
                                       "NCCL operation in progress"};
    return (unsigned)result < sizeof text / sizeof *text ? text[result] : "unknown result code";
}

ncclResult_t ncclCommInitAll(ncclComm_t *comm, int ranks, const int *devices) {
    char why[96];
    int present = 0;
    if (!comm || ranks < 1 || ranks > MOST_RANKS)
        return refuse(ncclInvalidArgument, __func__, "the pointer is NULL, or there are too few or too many ranks");
    if (cudaGetDeviceCount(&present) != cudaSuccess)
        return ncclUnhandledCudaError;
    for (int i = 0; i < ranks; i++) {
        int device = devices ? devices[i] : i;
        snprintf(why, sizeof why, "rank %d is to have device %d, and there are %d devices", i, device, present);
        if (device < 0 || device >= present)
            return refuse(ncclInvalidArgument, __func__, why);
        snprintf(why, sizeof why, "two ranks are to have device %d", device);
        for (int j = 0; devices && j < i; j++)
            if (devices[j] == device)
                return refuse(ncclInvalidUsage, __func__, why);
    }
    struct clique *clique = calloc(1, sizeof *clique);
    for (int i = 0; clique && i < ranks; i++) {
        clique->comm[i] = calloc(1, sizeof **clique->comm);
        if (clique->comm[i])
            *clique->comm[i] = (struct ncclComm){.clique = clique, .rank = i, .device = devices ? devices[i] : i};
        clique->alive += clique->comm[i] != NULL;
    }
    if (!clique || clique->alive < ranks)
        return ncclSystemError;
    clique->ranks = ranks;
    memcpy(comm, clique->comm, (size_t)ranks * sizeof *comm);
    return ncclSuccess;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
    if (!comm)
        return ncclInvalidArgument;
    struct clique *clique = comm->clique;
    free(comm);
    if (--clique->alive == 0)
        free(clique);
    return ncclSuccess;
}

ncclResult_t ncclCommAbort(ncclComm_t comm) {
    return ncclCommDestroy(comm);
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *result) {
    if (!comm || !result)
        return ncclInvalidArgument;
    *result = comm->error;
    return ncclSuccess;
}

// ---- Groups

ncclResult_t ncclGroupStart(void) {
    depth++;
    return ncclSuccess;
}

// The links of a folder are two more than the folders in it: here, the process's threads.
static bool has_other_threads(void) {
    struct stat tasks;
    return stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink > 2 + 1;
}

// Waits until another thread's group has changed something; false if none is to be expected.
static bool wait_for_others(void) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += OTHER_THREADS_SECONDS;
    return has_other_threads() && pthread_cond_timedwait(&changed, &lock, &until) != ETIMEDOUT;
}

// Takes the group's calls off the list and frees them.
static ncclResult_t end_group(struct call **own, size_t count) {
    ncclResult_t result = ncclSuccess;
    for (size_t i = 0; i < count; i++) {
        struct call **link = &calls;
        while (*link != own[i])
            link = &(*link)->next;
        *link = own[i]->next;
        result = result == ncclSuccess ? own[i]->result : result;
        free(own[i]);
    }
    return result;
}

static ncclResult_t run_group(struct call *first) {
    size_t count = 0;
    for (const struct call *call = first; call; call = call->next)
        count++;
    struct call **own = calloc(count + 1, sizeof *own), **end = &calls;
    if (!own)
        return ncclSystemError;
    pthread_mutex_lock(&lock);
    while (*end)
        end = &(*end)->next;
    *end = first;
    for (size_t i = 0; i < count; i++, first = first->next)
        own[i] = first;
    match_calls(calls);
    pthread_cond_broadcast(&changed);
    for (bool waiting = true; waiting;) {
        waiting = false;
        for (size_t i = 0; i < count; i++)
            waiting |= !own[i]->matched;
        if (!waiting || wait_for_others())
            continue;
        report_deadlock(calls);
        for (struct call *call = calls; call; call = call->next)
            if (!call->matched) {
                call->matched = true;
                call->result = call->comm->error = ncclRemoteError;
            }
        pthread_cond_broadcast(&changed);
    }
    ncclResult_t result = end_group(own, count);
    pthread_mutex_unlock(&lock);
    free(own);
    return result;
}

ncclResult_t ncclGroupEnd(void) {
    if (depth == 0)
        return refuse(ncclInvalidUsage, __func__, "no ncclGroupStart precedes it");
    if (--depth > 0 || !group)
        return ncclSuccess;
    struct call *first = group;
    group = NULL;
    return run_group(first);
}

// ---- Calls

static size_t bytes_of(ncclDataType_t type) {
    switch (type) {
    case ncclInt8:
    case ncclUint8:
        return 1;
    case ncclFloat16:
    case ncclBfloat16:
        return 2;
    case ncclInt32:
    case ncclUint32:
    case ncclFloat32:
        return 4;
    default:
        return 8;
    }
}

// A call outside of a group is a group of its own.
static ncclResult_t add(const struct call *made, const char *name) {
    if (!made->comm)
        return refuse(ncclInvalidArgument, name, "the communicator is NULL");
    if (made->peer < 0 || made->peer >= made->comm->clique->ranks)
        return refuse(ncclInvalidArgument, name, "the communicator has no such peer");
    if (made->bytes == 0)
        return ncclSuccess;
    struct call *call = malloc(sizeof *call);
    if (!call)
        return ncclSystemError;
    *call = *made;
    ncclGroupStart();
    struct call **end = &group;
    while (*end)
        end = &(*end)->next;
    *end = call;
    return ncclGroupEnd();
}

ncclResult_t ncclSend(const void *buffer, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
    return add(&(struct call){.kind = CALL_SEND,
                              .comm = comm,
                              .from = buffer,
                              .bytes = count * bytes_of(type),
                              .peer = peer,
                              .stream = stream},
               __func__);
}

ncclResult_t ncclRecv(void *buffer, size_t count, ncclDataType_t type, int peer, ncclComm_t comm, cudaStream_t stream) {
    return add(&(struct call){.kind = CALL_RECEIVE,
                              .comm = comm,
                              .to = buffer,
                              .bytes = count * bytes_of(type),
                              .peer = peer,
                              .stream = stream},
               __func__);
}

ncclResult_t ncclAllGather(const void *from, void *to, size_t count, ncclDataType_t type, ncclComm_t comm,
                           cudaStream_t stream) {
    return add(&(struct call){.kind = CALL_ALL_GATHER,
                              .comm = comm,
                              .from = from,
                              .to = to,
                              .bytes = count * bytes_of(type),
                              .stream = stream},
               __func__);
}
