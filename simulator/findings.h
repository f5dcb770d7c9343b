// The kinds of errors and warnings that the simulator reports, for the simulator and the harness alike.
#ifndef FINDINGS_H
#define FINDINGS_H

enum sim_severity { SIM_ERROR, SIM_WARNING };

enum sim_finding_kind {
#define FINDING(name, severity, code, title, cause) name,
#include "findings.def"
#undef FINDING
    SIM_FINDING_KINDS
};

#endif
