// What each kind of finding is called, and its usual cause.
#ifndef SIMULATOR_MACHINE_REPORT_WORDS_H
#define SIMULATOR_MACHINE_REPORT_WORDS_H

#include "../findings.h"

extern const char *const report_kind_name[SIM_FINDING_KINDS];
extern const char *const report_usual_cause[SIM_FINDING_KINDS];

#endif
