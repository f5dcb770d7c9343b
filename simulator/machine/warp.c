#include "warp.h"

#include "block.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void warp_run_lanes(struct warp *warp, const struct bound *bound, uint32_t mask) {
    uint64_t aside[LANES];
    bound->lanes(aside, operand_data(warp, bound->a), operand_data(warp, bound->b), operand_data(warp, bound->c),
                 bound->extra);
    if (bound->saturate)
        warp->lanes->saturate_f32(aside, aside, aside, aside, 0);
    if (bound->result_cell == 8) {
        warp_write64(warp, bound->d, aside, mask);
    } else if (bound->result_cell == 4) {
        warp_write32(warp, bound->d, (const uint32_t *)(const void *)aside, mask);
    } else {
        uint32_t bits;
        memcpy(&bits, aside, sizeof bits);
        warp_write_predicate(warp, bound->d, bits, mask);
    }
}

bool warp_can_run(const struct warp *warp) {
    for (int i = 0; i < warp->splits; i++)
        if (warp->split[i].state == SPLIT_READY)
            return true;
    return false;
}

enum step warp_wait(struct warp *warp, uint32_t mask) {
    struct split *now = warp->now;
    if (mask != now->mask)
        warp_add_split(warp, now->mask & ~mask, now->pc + 1);
    now->state = SPLIT_AT_EVENT;
    now->event = warp->block->events;
    return STEP_MOVED;
}

struct split *warp_add_split(struct warp *warp, uint32_t mask, int32_t pc) {
    struct split *part = &warp->split[warp->splits++];
    *part = *warp->now;
    part->mask = mask;
    part->pc = pc;
    warp->now->mask &= ~mask;
    return part;
}

void warp_remove_split(struct warp *warp, struct split *split) {
    *split = warp->split[--warp->splits];
}

struct sim_dim warp_thread(const struct warp *warp, unsigned warp_index, int lane) {
    struct sim_dim size = warp->run->launch->block;
    unsigned thread = warp_index * LANES + (unsigned)lane;
    return (struct sim_dim){thread % size.x, thread / size.x % size.y, thread / size.x / size.y};
}

void lane_list(uint32_t mask, char text[LANE_LIST_TEXT]) {
    int length = snprintf(text, LANE_LIST_TEXT, "%s ", mask & (mask - 1) ? "lanes" : "lane");
    for (int first = 0, end; first < LANES; first = end + 1) {
        for (end = first; end < LANES && mask >> end & 1;)
            end++;
        if (end == first)
            continue;
        bool last = end == LANES || mask >> end == 0, is_first = text[length - 1] == ' ';
        length += snprintf(text + length, (size_t)(LANE_LIST_TEXT - length), end - first > 1 ? "%s%d to %d" : "%s%d",
                           is_first ? ""
                           : last   ? " and "
                                    : ", ",
                           first, end - 1);
    }
}

bool warp_reported(struct warp *warp, enum sim_finding_kind kind, const struct bound *bound,
                   const struct bound *other) {
    int32_t line = bound->line, other_line = other ? other->line : -1;
    for (int i = 0; i < REPORTED; i++) {
        if (warp->reported[i].count && warp->reported[i].kind == kind && warp->reported[i].line == line &&
            warp->reported[i].other == other_line) {
            atomic_fetch_add_explicit(warp->reported[i].count, 1, memory_order_relaxed);
            return true;
        }
    }
    _Atomic uint64_t *count = sim_report_counter(kind, line, other_line);
    if (count) {
        unsigned entry = warp->reported_next++ % REPORTED;
        warp->reported[entry].kind = kind;
        warp->reported[entry].line = line;
        warp->reported[entry].other = other_line;
        warp->reported[entry].count = count;
        atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
    }
    return count;
}

// Replaces {op} and {other} by the operation and its place.
static void insert_operations(const char *detail, const struct bound *bound, const struct bound *other, char *text,
                              size_t size) {
    size_t length = 0;
    while (*detail && length + 1 < size) {
        bool is_op = strncmp(detail, "{op}", 4) == 0, is_other = other && strncmp(detail, "{other}", 7) == 0;
        if (is_op || is_other) {
            length += (size_t)snprintf(text + length, size - length, is_op ? "%s at {here}" : "%s at {there}",
                                       sim_report_operation(is_op ? bound->ptx : other->ptx));
            length = length < size ? length : size - 1;
            detail += is_op ? 4 : 7;
        } else {
            text[length++] = *detail++;
        }
    }
    text[length] = 0;
}

void warp_report(struct warp *warp, enum sim_finding_kind kind, const struct bound *bound, const struct bound *other,
                 int lane, const char *detail, ...) {
    char detailed[768], text[1024];
    va_list arguments;
    if (warp_reported(warp, kind, bound, other))
        return;
    va_start(arguments, detail);
    vsnprintf(detailed, sizeof detailed, detail, arguments);
    va_end(arguments);
    insert_operations(detailed, bound, other, text, sizeof text);
    sim_report(kind, warp->run->kernel->ptx, bound->line, other ? other->line : -1, warp->block->index,
               warp_thread(warp, warp->index, lane), "%s", text);
}

enum step warp_fatal(struct warp *warp, enum sim_status status) {
    int none = SIM_OK;
    atomic_compare_exchange_strong(&warp->run->status, &none, (int)status);
    return STEP_STOP;
}
