#include "host/estimate.h"

#include "host/budget.h"

#include <math.h>

bool estimate_add(struct estimate *e, struct estimate_unit unit) {
    if (e->units == MOST_UNITS)
        return false;
    e->unit[e->units++] = unit;
    e->current = e->units;
    return true;
}

void estimate_begin(struct estimate *e, int i) {
    e->current = i;
    e->group[e->unit[i].group].seen = 0;
}

void estimate_kernel(struct estimate *e, double seconds) {
    const struct estimate_unit *unit = &e->unit[e->current];
    int *seen = &e->group[unit->group].seen;
    if (*seen < MAX_KERNELS)
        e->group[unit->group].rate[(*seen)++] = seconds / unit->work;
}

// What the launches of a unit take at the rates of its group.
static double launches_seconds(const struct estimate *e, const struct estimate_unit *unit) {
    int kernels = e->group[unit->group].kernels;
    const double *rate = e->group[unit->group].rate;
    double seconds = 0, fastest = INFINITY, fraction = unit->budget / unit->passes / fmax(kernels, 1);
    for (int k = 0; k < kernels; k++)
        fastest = fmin(fastest, rate[k] * unit->work);
    for (int k = 0; k < kernels; k++)
        seconds += rate[k] * unit->work * budget_launches(fraction, rate[k] * unit->work, budget_batch(fastest));
    return unit->passes * seconds;
}

// Of a group that has not been timed, its budget says the most. Below 0: not known.
static double expect(const struct estimate *e, const struct estimate_unit *unit) {
    if (e->group[unit->group].known)
        return launches_seconds(e, unit) + e->group[unit->group].overhead;
    return e->budget > 0 ? unit->budget * e->taken / e->budget : -1;
}

void estimate_done(struct estimate *e, double seconds) {
    struct estimate_unit *unit = &e->unit[e->current];
    unit->done = true;
    e->current = e->units;
    if (!e->group[unit->group].seen) // not timed: it says nothing of the others
        return;
    e->group[unit->group].kernels = e->group[unit->group].seen;
    e->group[unit->group].overhead = fmax(0, seconds - launches_seconds(e, unit));
    e->group[unit->group].known = true;
    e->taken += seconds;
    e->budget += unit->budget;
}

double estimate_remaining(const struct estimate *e, double elapsed) {
    double left = 0;
    for (int i = 0; i < e->units; i++) {
        if (e->unit[i].done)
            continue;
        double expected = expect(e, &e->unit[i]);
        if (expected < 0)
            return -1;
        left += i == e->current ? fmax(0, expected - elapsed) : expected;
    }
    return left;
}

int estimate_finished(const struct estimate *e) {
    int finished = 0;
    for (int i = 0; i < e->units; i++)
        finished += e->unit[i].done;
    return finished;
}
