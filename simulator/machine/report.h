// Findings: each one once, with the line in the .cu file, thread and block, and one sentence on the usual cause.
#ifndef SIMULATOR_MACHINE_REPORT_H
#define SIMULATOR_MACHINE_REPORT_H

#include "../findings.h"
#include "launch.h"

#include <stdint.h>

// Gives a finding of this launch at the instruction another usual cause.
void sim_report_cause(enum sim_finding_kind kind, int32_t instruction, const char *cause);

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

// Who wants to know of findings: found, as each is made, under the report's lock; told, as it is printed. NULL: nobody.
// instruction and other_instruction are as given to sim_report.
struct sim_report_watcher {
    void (*found)(enum sim_finding_kind kind, const struct ptx_kernel *kernel, int32_t instruction,
                  int32_t other_instruction, struct sim_dim block, struct sim_dim thread);
    void (*told)(enum sim_finding_kind kind, int32_t instruction, int32_t other_instruction, const char *text,
                 uint64_t count);
};
void sim_report_watch(const struct sim_report_watcher *watcher);

// "race", say: as a finding's line begins.
const char *sim_report_kind(enum sim_finding_kind kind);

// Prints what was found since the last call on stderr, and returns how many distinct findings there were.
unsigned sim_report_flush(void);
unsigned sim_report_total(void);

// The kind of the first finding of all, as its line begins; NULL where there was none.
int sim_report_first(void);

#endif
