// Where the calls end up that the simulator does not have.
#include "unsupported.h"
#include "api.h"

cudaError_t runtime_unsupported(const char *call) {
    api_enter(call);
    api_note_lacked();
    return api_leave(api_error(cudaErrorNotSupported, "the simulator does not have this call"));
}

// The one call of NVIDIA's that returns no error, so that no stub can stand for it. It only packs its arguments.
struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, enum cudaChannelFormatKind kind) {
    return (struct cudaChannelFormatDesc){x, y, z, w, kind};
}
