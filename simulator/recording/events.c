// The line at which a warp is, and its copies and barriers, in the order of the block.
#include "record.h"

static const char *const event_names[RECORDING_EVENTS] = {
    [RECORDING_COPY] = "copy",
    [RECORDING_COMMIT] = "commit",
    [RECORDING_WAIT] = "wait",
    [RECORDING_ARRIVE] = "arrive",
    [RECORDING_PASS] = "pass",
    [RECORDING_SYNCWARP] = "syncwarp",
    [RECORDING_INIT] = "init",
    [RECORDING_EXPECT] = "expect",
    [RECORDING_SIGNAL] = "signal",
    [RECORDING_TEST] = "test",
    [RECORDING_READY] = "ready",
    [RECORDING_BULK] = "bulk",
    [RECORDING_BULK_COMMIT] = "bulk commit",
    [RECORDING_BULK_WAIT] = "bulk wait",
    [RECORDING_WGMMA] = "wgmma",
    [RECORDING_WGMMA_COMMIT] = "wgmma commit",
    [RECORDING_WGMMA_WAIT] = "wgmma wait",
    [RECORDING_WGMMA_FENCE] = "wgmma fence",
    [RECORDING_FENCE] = "fence",
    [RECORDING_EX2] = "ex2",
};

const char *event_name(enum recording_event event) {
    return event_names[event];
}

void events_step(struct warp *warp, int32_t instruction, uint32_t mask) {
    struct warp_record *record = warp->record;
    struct recording *recording = record->recording;
    struct slot *slot = &recording->slot[record->slot];
    const int32_t place = recording->place[instruction];
    if (recording->ptx->instruction[instruction].opcode == PTX_OP_MMA)
        samples_note(warp, instruction, mask, "mma");
    if (recording->ptx->instruction[instruction].opcode == PTX_OP_EX2)
        recording_note(warp, &warp->code[instruction], RECORDING_EX2, 0, 0);
    // Code without a line, which the compiler moves around, belongs to the current step.
    if (place < 0 || place == record->place || recording_place_at(place)->line == 0)
        return;
    record->place = place;
    if (slot->steps == MOST_STEPS)
        slot->steps_left_out = true;
    else
        slot->step[slot->steps++] = (struct step_record){record->block->seq, place, mask};
}

static bool is_same(const struct event_record *a, const struct event_record *b) {
    return a->event == b->event && a->instruction == b->instruction && a->a == b->a &&
           (a->b == b->b || a->event == RECORDING_SIGNAL);
}

// Lanes of a warp that execute the same operation are one event, and so are repeated attempts of a wait and consecutive
// exponentials.
static bool is_repeated(const struct slot *slot, const struct event_record *event_record) {
    const bool lanes = event_record->event == RECORDING_SIGNAL || event_record->event == RECORDING_TEST ||
                       event_record->event == RECORDING_READY;
    const bool tries = event_record->event == RECORDING_TEST || event_record->event == RECORDING_WGMMA_WAIT;
    const struct event_record *last = &slot->event[slot->events];
    if (event_record->event == RECORDING_EX2 && slot->events && last[-1].event == RECORDING_EX2)
        return true;
    if (tries && slot->events && is_same(last - 1, event_record))
        return true;
    while (lanes && last > slot->event && last[-1].seq == event_record->seq)
        if (is_same(--last, event_record))
            return true;
    return false;
}

void recording_note(struct warp *warp, const struct bound *bound, enum recording_event event, int64_t a, int64_t b) {
    struct warp_record *record = warp->record;
    struct block_record *block = record->block;
    struct event_record event_record = {block->seq, event, pc_of(warp, bound), a, b};
    if (event == RECORDING_ARRIVE) {
        block->use[a] += block->passed[a];
        block->passed[a] = false;
    }
    if (event == RECORDING_PASS)
        block->passed[a] = true;
    if (event == RECORDING_ARRIVE || event == RECORDING_PASS)
        event_record.b = block->use[a];
    if (record->slot < 0)
        return;
    struct slot *slot = &record->recording->slot[record->slot];
    const bool synchronizes = event != RECORDING_WGMMA && event != RECORDING_EX2;
    struct site *site =
        synchronizes ? samples_site(record->recording, event_record.instruction, SITE_NONE, "sync") : NULL;
    if (site && event != RECORDING_PASS)
        site->samples.executed++;
    if (is_repeated(slot, &event_record))
        return;
    if (slot->events == MOST_EVENTS)
        slot->events_left_out = true;
    else
        slot->event[slot->events++] = event_record;
}
