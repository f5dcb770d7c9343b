// The common implementation of unsupported calls.
#include "unsupported.h"
#include "api.h"

cudaError_t api_unsupported_call(const char *call) {
    api_enter(call);
    api_record_unsupported_call();
    return api_leave(api_error(cudaErrorNotSupported, "this call is not supported by the simulator"));
}

// The only call that returns no error code, so a stub cannot replace it. It only packs its arguments.
struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, enum cudaChannelFormatKind kind) {
    return (struct cudaChannelFormatDesc){x, y, z, w, kind};
}
