#include "control.h"

#include "../simulator.h"

static uint64_t kept;
static bool closed;

bool control_is_open(void) {
    return !closed;
}

void simulator_lock(uint64_t secret) {
    if (!kept)
        kept = secret;
    closed |= kept != 0;
}

void simulator_unlock(uint64_t secret) {
    if (secret == kept)
        closed = false;
}
