// Binds memory instructions. false: the form of the instruction is not supported.
#ifndef SIMULATOR_MEMORY_BIND_MEMORY_H
#define SIMULATOR_MEMORY_BIND_MEMORY_H

#include "../machine/binder.h"

bool bind_transfer(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound); // ld, ldu, st
bool bind_atomic(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound);   // atom, red
bool bind_async(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound);    // cp.async, async.c

bool bind_mbarrier(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound); // mbarrier_run.c
bool bind_pending_count(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound);
bool bind_proxy_fence(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound);
bool bind_bulk(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound); // bulk_run.c
bool bind_async_store(struct binder *binder, const struct ptx_instruction *ptx,
                      struct bound *bound); // bulk_copy_remote.c
bool bind_bulk_group(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound);

#endif
