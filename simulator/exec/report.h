// Findings: each one once, with the line in the .cu file, thread and block, and one sentence on the usual cause.
#ifndef SIMULATOR_EXEC_REPORT_H
#define SIMULATOR_EXEC_REPORT_H

#include "launch.h"

#include <stdint.h>

enum sim_finding_kind {
    SIM_FINDING_OUT_OF_BOUNDS,
    SIM_FINDING_SHARED_OUT_OF_BOUNDS,
    SIM_FINDING_LOCAL_OUT_OF_BOUNDS,
    SIM_FINDING_MISALIGNED,
    SIM_FINDING_UNINITIALISED_GLOBAL,
    SIM_FINDING_UNINITIALISED_SHARED,
    SIM_FINDING_RACE_SHARED,
    SIM_FINDING_RACE_WARP,
    SIM_FINDING_RACE_GLOBAL,
    SIM_FINDING_DIVERGENT_BARRIER,
    SIM_FINDING_DEADLOCK,
    SIM_FINDING_ABSENT_LANES,
    SIM_FINDING_MISSING_WAIT,
    SIM_FINDING_INSTRUCTION_LIMIT,
    SIM_FINDING_ASSERT,
    SIM_FINDING_TRAP,
    SIM_FINDING_UNKNOWN_INSTRUCTION,
    SIM_FINDING_READ_ONLY,
    SIM_FINDING_KINDS
};

// Adds a finding; a second one of the same kind at the same instruction pair only counts. Thread-safe. detail is one
// line without block, thread and usual cause, which are added. Where it says {here} and {there}, the places of
// instruction and other_instruction are put in; where there is no {here}, the place of instruction goes before it.
// other_instruction is -1 where there is none.
void sim_report(enum sim_finding_kind kind, const struct ptx_kernel *kernel, int32_t instruction,
                int32_t other_instruction, struct sim_dim block, struct sim_dim thread, const char *detail, ...)
    __attribute__((format(printf, 7, 8)));

// Where that finding is known already: its count, to be raised without asking again until the launch ends. Else NULL.
_Atomic uint64_t *sim_report_known(enum sim_finding_kind kind, int32_t instruction, int32_t other_instruction);

// "file.cu:line", with the calls it was inlined through.
void sim_report_place(const struct ptx_kernel *kernel, int32_t instruction, char *text, size_t size);

// Prints what was found since the last call on stderr, and returns how many distinct findings there were.
unsigned sim_report_flush(void);
unsigned sim_report_total(void);

// The kind of the first finding of all, as its line begins; NULL where there was none.
const char *sim_report_first(void);

#endif
