// Queries about findings, beyond CUDA's API.
#include "../machine/report.h"
#include "../simulator.h"

unsigned simulator_findings(void) {
    return sim_report_total();
}

int simulator_first_finding(void) {
    return sim_report_first();
}
