// Where the calls end up that the simulator does not have, and what it tells beyond CUDA's own API.
#include "unsupported.h"
#include "../exec/report.h"
#include "../simulator.h"
#include "api.h"

cudaError_t runtime_unsupported(const char *call) {
    api_enter(call);
    return api_leave(api_error(cudaErrorNotSupported, "the simulator does not have this call"));
}

unsigned simulator_findings(void) {
    return sim_report_total();
}

const char *simulator_first_finding(void) {
    return sim_report_first();
}

// The one call of NVIDIA's that returns no error, so that no stub can stand for it. It only packs its arguments.
struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, enum cudaChannelFormatKind kind) {
    return (struct cudaChannelFormatDesc){x, y, z, w, kind};
}
