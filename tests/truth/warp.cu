// Instructions that exchange data between the lanes of a warp.
#include "forms.cuh"

// All lanes participate, unless the form reduces the mask.
#define SHUFFLE(F, mode, clamp)                                                                                        \
    F(shfl_sync_##mode##_b32, I32, I32, SHIFT, NONE,                                                                   \
      ".reg .b32 lane; and.b32 lane, %2, 31; shfl.sync." #mode ".b32 %0, %1, lane, " clamp ", 0xffffffff;", EXACT, 0)  \
    F(shfl_sync_##mode##_pred_b32, I32, I32, SHIFT, NONE,                                                              \
      ".reg .pred p; .reg .b32 lane; and.b32 lane, %2, 31; "                                                           \
      "shfl.sync." #mode ".b32 %0|p, %1, lane, " clamp ", 0xffffffff; @!p add.u32 %0, %0, 1;",                         \
      EXACT, 0)

#define VOTE(F, mode)                                                                                                  \
    F(vote_sync_##mode##_pred, I32, I32, I32, NONE,                                                                    \
      ".reg .pred p, q; setp.lt.s32 q, %1, %2; vote.sync." #mode ".pred p, q, 0xffffffff; selp.u32 %0, 1, 0, p;",      \
      EXACT, 0)

#define REDUX(F, op, type)                                                                                             \
    F(redux_sync_##op##_##type, I32, I32, NONE, NONE, "redux.sync." #op "." #type " %0, %1, 0xffffffff;", EXACT, 0)

#define FORMS(F)                                                                                                       \
    SHUFFLE(F, up, "0")                                                                                                \
    SHUFFLE(F, down, "31")                                                                                             \
    SHUFFLE(F, bfly, "31")                                                                                             \
    SHUFFLE(F, idx, "31")                                                                                              \
    F(shfl_sync_bfly_width_8, I32, I32, NONE, NONE, "shfl.sync.bfly.b32 %0, %1, 4, 0x181f, 0xffffffff;", EXACT, 0)     \
    F(shfl_sync_down_width_16, I32, I32, NONE, NONE, "shfl.sync.down.b32 %0, %1, 3, 0x100f, 0xffffffff;", EXACT, 0)    \
    F(shfl_sync_even_lanes, I32, I32, NONE, NONE,                                                                      \
      ".reg .pred even; .reg .b32 lane; mov.u32 lane, %%laneid; and.b32 lane, lane, 1; setp.eq.u32 even, lane, 0; "    \
      "mov.u32 %0, 7; @even shfl.sync.bfly.b32 %0, %1, 2, 31, 0x55555555;",                                            \
      EXACT, 0)                                                                                                        \
    VOTE(F, all)                                                                                                       \
    VOTE(F, any)                                                                                                       \
    VOTE(F, uni)                                                                                                       \
    F(vote_sync_ballot_b32, I32, I32, I32, NONE,                                                                       \
      ".reg .pred q; setp.lt.s32 q, %1, %2; vote.sync.ballot.b32 %0, q, 0xffffffff;", EXACT, 0)                        \
    F(match_any_sync_b32, I32, I32, NONE, NONE,                                                                        \
      ".reg .b32 low; and.b32 low, %1, 3; match.any.sync.b32 %0, low, 0xffffffff;", EXACT, 0)                          \
    F(match_any_sync_b64, I32, I64, NONE, NONE,                                                                        \
      ".reg .b64 low; and.b64 low, %1, 3; match.any.sync.b64 %0, low, 0xffffffff;", EXACT, 0)                          \
    F(match_all_sync_b32, I32, I32, NONE, NONE,                                                                        \
      ".reg .pred p; .reg .b32 warp; mov.u32 warp, %%tid.x; shr.u32 warp, warp, 5; "                                   \
      "match.all.sync.b32 %0|p, warp, 0xffffffff; @p add.u32 %0, %0, 5;",                                              \
      EXACT, 0)                                                                                                        \
    F(match_all_sync_differ, I32, I32, NONE, NONE,                                                                     \
      ".reg .pred p; .reg .b32 lane; mov.u32 lane, %%laneid; "                                                         \
      "match.all.sync.b32 %0|p, lane, 0xffffffff; @p add.u32 %0, %0, 5;",                                              \
      EXACT, 0)                                                                                                        \
    REDUX(F, add, u32)                                                                                                 \
    REDUX(F, add, s32)                                                                                                 \
    REDUX(F, min, u32)                                                                                                 \
    REDUX(F, min, s32)                                                                                                 \
    REDUX(F, max, u32)                                                                                                 \
    REDUX(F, max, s32)                                                                                                 \
    REDUX(F, and, b32)                                                                                                 \
    REDUX(F, or, b32)                                                                                                  \
    REDUX(F, xor, b32)                                                                                                 \
    F(movmatrix_trans_b16, I32, I32, NONE, NONE, "movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;", EXACT, 0)            \
    F(brx_idx, I32, I32, I32, NONE,                                                                                    \
      ".reg .b32 which; and.b32 which, %2, 3; table: .branchtargets zero, one, two, three; "                           \
      "brx.idx which, table; zero: add.u32 %0, %1, 5; bra done; one: not.b32 %0, %1; bra done; "                       \
      "two: shl.b32 %0, %1, 3; bra done; three: brev.b32 %0, %1; done: bar.warp.sync 0xffffffff;",                     \
      EXACT, 0)                                                                                                        \
    F(activemask_b32, I32, NONE, NONE, NONE, "activemask.b32 %0;", EXACT, 0)                                           \
    F(elect_sync, I32, NONE, NONE, NONE, ".reg .pred p; elect.sync %0|p, 0xffffffff; @p add.u32 %0, %0, 100;", EXACT,  \
      0)                                                                                                               \
    F(lane_masks, I32, NONE, NONE, NONE,                                                                               \
      ".reg .b32 m; mov.u32 %0, %%lanemask_lt; mov.u32 m, %%lanemask_ge; xor.b32 %0, %0, m; "                          \
      "mov.u32 m, %%lanemask_eq; add.u32 %0, %0, m; mov.u32 m, %%lanemask_le; xor.b32 %0, %0, m; "                     \
      "mov.u32 m, %%lanemask_gt; sub.u32 %0, %0, m;",                                                                  \
      EXACT, 0)                                                                                                        \
    F(special_registers, I32, NONE, NONE, NONE,                                                                        \
      ".reg .b32 t; mov.u32 %0, %%tid.x; mov.u32 t, %%ntid.x; mad.lo.u32 %0, %0, 1000, t; mov.u32 t, %%ctaid.x; "      \
      "mad.lo.u32 %0, %0, 1000, t; mov.u32 t, %%nctaid.x; add.u32 %0, %0, t; mov.u32 t, %%laneid; "                    \
      "mad.lo.u32 %0, t, 7, %0; mov.u32 t, %%ntid.y; add.u32 %0, %0, t; mov.u32 t, %%tid.z; add.u32 %0, %0, t;",       \
      EXACT, 0)

TRUTH_KERNELS(FORMS)
TRUTH_TABLE(truth_warp, FORMS)
