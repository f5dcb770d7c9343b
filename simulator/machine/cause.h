// The usual causes of findings.
#ifndef SIMULATOR_MACHINE_CAUSE_H
#define SIMULATOR_MACHINE_CAUSE_H

#include "../findings.h"

#include <stdbool.h>
#include <stddef.h>

// words: the finding's line, which may show more than the kind does. same: of a race, one instruction makes both
// accesses.
const char *finding_cause(enum sim_finding_kind kind, bool same, const char *words);

#endif
