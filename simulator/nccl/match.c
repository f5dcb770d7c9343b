// Finds the counterparts of sends, receives and all-gathers, and passes the messages on to the simulator. Sends and
// receives between two ranks meet in the order of the calls, as all-gathers of a communicator do.
#include "calls.h"

#include "../simulator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Weak, so that a program can be linked with this library and with NVIDIA's runtime, in whose place the simulator's is
// loaded.
#pragma weak simulator_exchange
#pragma weak simulator_report_communication

enum { NAME_TEXT = 80, LINE_TEXT = 512, MOST_LISTED = 6 };

static const char *const names[] = {"ncclSend", "ncclRecv", "ncclAllGather"};

// A text that stays valid, since later findings name the message.
static const char *intern(const char *text) {
    static struct name {
        struct name *next;
        char text[NAME_TEXT];
    } * known;
    for (const struct name *name = known; name; name = name->next)
        if (strcmp(name->text, text) == 0)
            return name->text;
    struct name *name = malloc(sizeof *name);
    if (!name)
        return "a message";
    snprintf(name->text, NAME_TEXT, "%s", text);
    name->next = known;
    known = name;
    return name->text;
}

static const char *name_of(const struct call *call, int peer) {
    char text[NAME_TEXT];
    if (call->kind == CALL_ALL_GATHER)
        snprintf(text, NAME_TEXT, "ncclAllGather of rank %d", call->comm->rank);
    else
        snprintf(text, NAME_TEXT, "%s of rank %d %s rank %d", names[call->kind], call->comm->rank,
                 call->kind == CALL_SEND ? "to" : "from", peer);
    return intern(text);
}

static void settle(struct call *call, ncclResult_t result) {
    call->matched = true;
    call->result = result;
    if (result != ncclSuccess)
        call->comm->error = result;
}

// ---- The messages that are to be exchanged

struct messages {
    struct simulator_message *message;
    size_t count, room;
};

static bool add(struct messages *all, const struct call *from, const struct call *to, void *to_address) {
    if (all->count == all->room) {
        size_t room = all->room ? 2 * all->room : 16;
        struct simulator_message *grown = realloc(all->message, room * sizeof *grown);
        if (!grown)
            return false;
        all->message = grown;
        all->room = room;
    }
    all->message[all->count++] = (struct simulator_message){.from = from->from,
                                                            .to = to_address,
                                                            .bytes = from->bytes,
                                                            .sender = from->stream,
                                                            .receiver = to->stream,
                                                            .from_device = from->comm->device,
                                                            .to_device = to->comm->device,
                                                            .sent = name_of(from, to->comm->rank),
                                                            .received = name_of(to, from->comm->rank)};
    return true;
}

static bool overlap(const void *a, size_t a_bytes, const void *b, size_t b_bytes) {
    return (const char *)a < (const char *)b + b_bytes && (const char *)b < (const char *)a + a_bytes;
}

// What one message writes, no other one of the same time may read or write.
static bool check_overlaps(const struct messages *all) {
    char line[LINE_TEXT];
    for (size_t i = 0; i < all->count; i++) {
        const struct simulator_message *writer = &all->message[i];
        for (size_t j = 0; j < all->count; j++) {
            const struct simulator_message *other = &all->message[j];
            bool reads = overlap(writer->to, writer->bytes, other->from, other->bytes);
            bool writes = j < i && overlap(writer->to, writer->bytes, other->to, other->bytes);
            if (!reads && !writes)
                continue;
            snprintf(line, sizeof line, "%s writes bytes that %s, at the same time, %s [nccl-overlap]",
                     writer->received, reads ? other->sent : other->received, reads ? "reads" : "writes");
            simulator_report_communication(line);
            return false;
        }
    }
    return true;
}

// ---- Counterparts

static bool same_size(struct call *one, struct call *other) {
    char line[LINE_TEXT];
    if (one->bytes == other->bytes)
        return true;
    snprintf(line, sizeof line, "%s has %zu bytes, and its counterpart, %s, has %zu [nccl-size]",
             name_of(one, one->peer), one->bytes, name_of(other, other->peer), other->bytes);
    simulator_report_communication(line);
    return false;
}

static struct call *find_receive(struct call *first, const struct call *send) {
    for (struct call *call = first; call; call = call->next)
        if (!call->matched && call->kind == CALL_RECEIVE && call->comm->clique == send->comm->clique &&
            call->comm->rank == send->peer && call->peer == send->comm->rank)
            return call;
    return NULL;
}

static void match_send(struct messages *all, struct call *first, struct call *send) {
    struct call *receive = find_receive(first, send);
    if (!receive)
        return;
    ncclResult_t result = !same_size(send, receive)               ? ncclInvalidUsage
                          : !add(all, send, receive, receive->to) ? ncclSystemError
                                                                  : ncclSuccess;
    settle(send, result);
    settle(receive, result);
}

static void match_all_gather(struct messages *all, struct call *first, const struct clique *clique) {
    struct call *of[MOST_RANKS] = {NULL};
    int found = 0;
    for (struct call *call = first; call; call = call->next) {
        int rank = call->comm->rank;
        if (call->matched || call->kind != CALL_ALL_GATHER || call->comm->clique != clique || of[rank])
            continue;
        of[rank] = call;
        found++;
    }
    if (found < clique->ranks)
        return;
    ncclResult_t result = ncclSuccess;
    for (int to = 0; to < clique->ranks && result == ncclSuccess; to++) {
        for (int from = 0; from < clique->ranks && result == ncclSuccess; from++) {
            char *place = (char *)of[to]->to + (size_t)from * of[to]->bytes;
            if (!same_size(of[from], of[to]))
                result = ncclInvalidUsage;
            else if (place != of[from]->from && !add(all, of[from], of[to], place))
                result = ncclSystemError;
        }
    }
    for (int rank = 0; rank < clique->ranks; rank++)
        settle(of[rank], result);
}

void match_calls(struct call *first) {
    struct messages all = {0};
    for (struct call *call = first; call; call = call->next)
        if (!call->matched && call->kind == CALL_SEND)
            match_send(&all, first, call);
        else if (!call->matched && call->kind == CALL_ALL_GATHER)
            match_all_gather(&all, first, call->comm->clique);
    bool good = check_overlaps(&all) && (!all.count || simulator_exchange(all.message, all.count));
    for (struct call *call = first; call; call = call->next)
        if (call->matched && !good)
            settle(call, ncclUnhandledCudaError);
    free(all.message);
}

// ---- Deadlocks

static bool is_listed(const struct call *first, const struct clique *clique, int rank) {
    for (const struct call *call = first; call; call = call->next)
        if (!call->matched && call->comm->clique == clique && call->comm->rank == rank)
            return true;
    return false;
}

void report_deadlock(const struct call *first) {
    char line[LINE_TEXT] = "";
    int listed = 0;
    size_t used = 0;
    for (const struct call *call = first; call; call = call->next) {
        if (call->matched || ++listed > MOST_LISTED)
            continue;
        const struct clique *clique = call->comm->clique;
        used += (size_t)snprintf(line + used, sizeof line - used, "%srank %d waits in %s", used ? "; " : "",
                                 call->comm->rank, names[call->kind]);
        if (call->kind != CALL_ALL_GATHER)
            used += (size_t)snprintf(line + used, sizeof line - used, " of %zu bytes %s rank %d", call->bytes,
                                     call->kind == CALL_SEND ? "to" : "from", call->peer);
        for (int rank = 0; rank < clique->ranks; rank++) {
            bool awaited = call->kind == CALL_ALL_GATHER ? rank != call->comm->rank : rank == call->peer;
            if (awaited && !is_listed(first, clique, rank))
                used += (size_t)snprintf(line + used, sizeof line - used, ", and rank %d in nothing", rank);
        }
    }
    snprintf(line + used, sizeof line - used, ": nothing of this is what the other side waits for [nccl-deadlock]");
    simulator_report_communication(line);
}
