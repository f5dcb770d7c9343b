// Findings: each one once, with its line in the .cu file, thread and block, code and usual cause.
#ifndef SIMULATOR_MACHINE_REPORT_H
#define SIMULATOR_MACHINE_REPORT_H

#include "../findings.h"
#include "launch.h"

#include <stdint.h>

// Replaces the usual cause of this launch's finding at the instruction; "": none is known.
void sim_report_cause(enum sim_finding_kind kind, int32_t instruction, const char *cause);

// Adds a finding; a second one of the same kind at the same pair of instructions only increments its count.
// Thread-safe. detail is one line without block, thread and usual cause, which are appended. {here} and {there} in it
// are replaced by the locations of instruction and other_instruction; if there is no {here}, the location of
// instruction precedes the detail. other_instruction is -1 if there is none. A detail that ends in " [code]" has that
// code instead of its kind's.
void sim_report(enum sim_finding_kind kind, const struct ptx_kernel *kernel, int32_t instruction,
                int32_t other_instruction, struct sim_dim block, struct sim_dim thread, const char *detail, ...)
    __attribute__((format(printf, 7, 8)));

// The same for a call of the program or an access by the host, which have no thread and no instruction.
void sim_report_call(enum sim_finding_kind kind, const char *detail, ...) __attribute__((format(printf, 2, 3)));

// The count of that finding, valid until the launch ends, so that the caller can increment it; NULL if there is none
// yet.
_Atomic uint64_t *sim_report_counter(enum sim_finding_kind kind, int32_t instruction, int32_t other_instruction);

// The name of the operation that a reader of the PTX ISA knows: "mbarrier.try_wait", "TMA load", "wgmma".
const char *sim_report_operation(const struct ptx_instruction *instruction);

// "file.cu:line", with the calls it was inlined through.
void sim_report_location(const struct ptx_kernel *kernel, int32_t instruction, char *text, size_t size);

// Receives findings: found, as each is made, while the report is locked; printed, when it is printed. NULL: no
// listener. instruction and other_instruction are those that were passed to sim_report.
struct sim_report_listener {
    void (*found)(enum sim_finding_kind kind, const struct ptx_kernel *kernel, int32_t instruction,
                  int32_t other_instruction, struct sim_dim block, struct sim_dim thread);
    void (*printed)(enum sim_finding_kind kind, int32_t instruction, int32_t other_instruction, const char *text,
                    uint64_t count);
};
void sim_report_listen(const struct sim_report_listener *listener);

// The title of a kind, for example "race", with which a finding's line begins.
const char *sim_report_title(enum sim_finding_kind kind);

// Prints all findings since the last call on stderr, and returns the number of distinct ones.
unsigned sim_report_flush(void);
unsigned sim_report_total(void);

// Counts a finding that another process has printed.
void sim_report_count(enum sim_finding_kind kind);

// The kind of the program's first finding, -1 if there was none.
int sim_report_first(void);

#endif
