#!/usr/bin/env bats
# Kernels of Hopper: programs that nvcc compiles for sm_90a, run by the simulator and compared with the host; and variants of
# one of them with one mistake each, made by sed, which have to be reported, while the correct program must not be.

load hopper/variants

setup_file() {
    cd "$BATS_TEST_DIRNAME/../.."
    prepare build/tests/hopper attention.cu
    {
        echo '#pragma once'
        echo '#include "hopper.cuh"'
        wrap 64 f32 bf16 16
        wrap 128 f32 bf16 16
        wrap 16 f32 bf16 16
    } >"$programs/wgmma.cuh"
    compile_all forms swizzles pool fragments grouped sparse
    export LD_LIBRARY_PATH=build/simulator
}

setup() {
    cd "$BATS_TEST_DIRNAME/../.."
}

# wrap N SUM TYPE K: prints wrappers of one wgmma
wrap() {
    awk -f "$sources/wgmma.awk" -v n="$1" -v sum="$2" -v type="$3" -v k="$4"
}

# variants: a name, the number of keys of the run, and the sed script that makes one mistake in the attention kernel.
variants() {
    cat <<'END'
early 300 /\/\/ wait qk$/d
early_pv 300 /\/\/ wait pv$/d
no_wait_k 300 /\/\/ wait k$/d
no_wait_q 300 /\/\/ wait q$/d
early_release 300 s/mbarrier_wait(&s.v_full\[stage\], parity);/&if (t == 0) mbarrier_arrive(\&s.empty[stage]);/; /\/\/ release$/d; s/^        if (t == 0)$//
no_wait_empty 300 /\/\/ wait empty$/d
other_parity 300 s/(i \/ STAGES & 1) ^ 1); *\/\/ wait empty/(i \& 1) ^ 1);/
no_proxy_fence 300 /\/\/ proxy fence$/d
no_named_barrier 300 /\/\/ named barrier$/d
no_init_fence 300 /\/\/ init fence$/d
no_sync 300 /\/\/ after init$/d
no_init 300 s/mbarrier_init(&s.q_full, 1);//
few_bytes 300 s/, Q_BYTES); *\/\/ expect q/, Q_BYTES \/ 2);/
many_bytes 300 s/, Q_BYTES); *\/\/ expect q/, Q_BYTES * 2);/
wrong_count 300 s/WARPGROUPS); *\/\/ empty count/WARPGROUPS + 1);/
wrong_phase 300 s/& 1) ^ 1); *\/\/ wait empty/\& 1));/
too_many 300 s/WARPGROUPS); *\/\/ empty count/1);/
no_store_wait 300 /\/\/ wait store$/d
local_map 300 s/const __grid_constant__ CUtensorMap q/CUtensorMap q/
between 300 s/c \* CHUNK, row); *\/\/ load/c * CHUNK + 3, row);/
before 300 s/blockIdx.x \* ROWS + group \* BM); *\/\/ store/-8); \/\/ store/
left 300 s/c \* CHUNK,$/c * CHUNK - 64,/
beyond 300 s/map_2d(device\[1\], n,/map_2d(device[1], n + 100,/
diverged 300 s/^        wgmma_fence();/        if (t < 96) wgmma_fence();/; s/^        for (int kk = 0; kk < D \/ 16; kk++) {/        if (t < 96) for (int kk = 0; kk < D \/ 16; kk++) {/
half_warp 300 s/^        wgmma_fence();/        if (lane < 16) wgmma_fence();/
registers 300 s/setmaxnreg_inc<240>/setmaxnreg_inc<248>/
dec 300 s/setmaxnreg_inc<240>/setmaxnreg_dec<240>/
descriptor 300 s/chunk \* BN \* CHUNK \* 2 + within, 16, 1024, 1),/chunk * BN * CHUNK * 2 + within, 16, 16368, 1),/
END
}

@test "attention through TMA, mbarrier and wgmma is correct, without findings" {
    for n in 1 63 64 65 128 129 200 513; do
        run "$programs/all" attention "$n"
        echo "$output"
        [ "$status" -eq 0 ]
        [[ $output != *simulator:* ]]
    done
}

@test "it is also correct without AVX2 and without analyses" {
    SIMULATOR_LANES=generic "$programs/all" attention 200
    SIMULATOR_ANALYSES=off "$programs/all" attention 200
}

@test "each form of the instructions gives the host's result, without findings" {
    cases=$("$programs/all" forms)
    [ "$(wc -w <<<"$cases")" -ge 4 ]
    for name in $cases; do
        run "$programs/all" forms "$name"
        echo "$name: $output"
        [ "$status" -eq 0 ]
        [ "$name" = encoder ] || [ "$output" = "" ]
    done
}

@test "undefined metadata of a sparse wgmma" {
    run "$programs/all" sparse
    echo "$output"
    [ "$status" -eq 1 ]
    [[ $output == *" sparsity metadata 0x00000000;"*"[wgmma-metadata]"* ]]
    golden
}

@test "a tensor map that the driver refuses is refused, and the message names the argument" {
    run "$programs/all" forms encoder
    for argument in globalAddress 'globalAddress is NULL' tensorRank 'globalDim[1]' 'globalStrides[0]' 'boxDim[0]' 'boxDim[1]' 'elementStrides[1]' oobFill \
        'tensorRank is 2; with an interleave' 'globalStrides[1] is 8208 bytes; with an interleave' 'swizzle is 2; with an interleave' \
        'interleave is 3, but must be NONE' 'interleave is 16B, which the driver accepts' 'interleave is 32B, which the driver accepts'; do
        [[ $output == *"cuTensorMapEncodeTiled: $argument"* ]]
    done
    [[ $output == *", must be a multiple of 32 bytes with an interleave"* ]]
}

@test "accumulators that are read before wgmma.wait_group" {
    broken early "[missing-wgmma-wait]"
    [[ $output == *"early.cu:$(($(line early) - 1)) "*"[missing-wgmma-wait]"* ]]
    broken early_pv "[missing-wgmma-wait]"
}

@test "registers of a wgmma that are written before wgmma.wait_group, and a wgmma without a fence" {
    silent "$programs/all" fragments right
    silent "$programs/all" fragments sum_written_after
    for kernel in fragment_written fragment_added_to fragment_of_one_lane; do
        run "$programs/all" fragments $kernel
        echo "$kernel: $output"
        [ "$status" -eq 1 ]
        [[ $output == *" writes "*" reading;"*"[missing-wgmma-wait]"* ]]
        golden
    done
    run "$programs/all" fragments sum_written
    echo "$output"
    [ "$status" -eq 1 ]
    [[ $output == *" writes "*" writing;"*"[missing-wgmma-wait]"* ]]
    golden
    run "$programs/all" fragments no_fence
    echo "$output"
    [ "$status" -eq 1 ]
    [[ $output == *"[wgmma-fence]"* ]]
    golden
}

@test "tiles that are read without waiting on the mbarrier that TMA signals" {
    for variant in no_wait_k no_wait_q; do
        broken $variant "[missing-wait]"
        [[ $output == *"missing wait: wgmma at wgmma.cuh"* ]]
    done
}

@test "a stage that is refilled before its consumers have released it" {
    broken early_release "[async-race]"
    [[ $output == *": TMA load at "*", which the wgmma at "*" may still read: wait for the wgmma first (wgmma.wait_group, "* ]]
    broken no_wait_empty "[mbarrier-arrivals]"
    broken other_parity "[deadlock]"
}

@test "ordinary stores that TMA reads without a proxy fence or without a barrier" {
    broken no_proxy_fence "[proxy-fence]"
    broken no_named_barrier "[async-race]"
}

@test "mbarriers that are used before their initialization is visible" {
    warned no_init_fence "[mbarrier-init-fence]"
    broken no_sync "[mbarrier-init-race]"
    broken no_init "[mbarrier-uninitialized]"
}

@test "expect-tx with another byte count than the copies" {
    broken few_bytes "[transaction-bytes]"
    [[ $output == *" 16384 bytes in phase 0 "* ]]
    broken many_bytes "[transaction-bytes]"
    [[ $output == *"lacks 0 of 1 arrivals and 32768 of 65536 bytes"* ]]
}

@test "an arrival count that is never reached, and a wait for the wrong phase" {
    broken wrong_count "lacks 1 of 3 arrivals"
    broken wrong_phase "[deadlock]"
    broken too_many "lacks 1 of 1 arrivals"
}

@test "in other orders of warps and copies attention is correct, and with too small an arrival count a stage is overwritten" {
    for seed in ${TEST_ALL:+1 2 3} 4 5 ${TEST_ALL:+6 7 8}; do # make test-all runs more
        export SIMULATOR_ORDER=$seed
        run "$programs/all" attention 300
        echo "$seed: $output"
        [ "$status" -eq 0 ]
        [[ $output != *simulator:* ]]
    done
    # In which order it is overwritten also depends on the host's threads.
    for seed in $(seq 60); do
        export SIMULATOR_ORDER=$seed
        run "$programs/all" too_many 300
        [ "$status" -eq 1 ]
        if [[ $output == *"[async-race]"* ]]; then break; fi
    done
    [[ $output == *"[async-race]"* ]]
}

@test "a block that exits while a copy reads its shared memory" {
    broken no_store_wait "[missing-store-wait]"
}

@test "tensor maps in the wrong memory, or of a tensor that is out of bounds" {
    broken local_map "[tensor-map-local]"
    broken beyond "[tensor-map-bounds]"
}

@test "a box that starts between multiples of 16 bytes is an illegal instruction" {
    broken between "[misaligned-access]"
    [[ $output == *": TMA load at "*" coordinate 3 in dimension 0 (innermost)"*" byte 6 of a row,"* ]]
    [[ $output == *cudaErrorIllegalInstruction* || $output == *"an illegal instruction was encountered"* ]]
}

@test "a store of a box that starts before its tensor is an illegal instruction" {
    broken before "[negative-coordinate]"
    [[ $output == *": TMA store at "*" has coordinate -8 in dimension 1 (0 = innermost);"* ]]
    [[ $output == *cudaErrorIllegalInstruction* || $output == *"an illegal instruction was encountered"* ]]
    broken left "[negative-coordinate]"
    [[ $output == *" has coordinate -64 in dimension 0 (0 = innermost);"* ]]
}

@test "warps of a warpgroup that diverge" {
    broken diverged "[divergent-warpgroup]"
    broken half_warp "[divergent-warpgroup]"
}

@test "setmaxnreg beyond the register budget" {
    broken registers "[register-budget]"
    broken dec "[register-budget]"
}

@test "setmaxnreg within the register budget, by the launch bounds and by ptxas" {
    for kernel in all_of_256 few_of_256 most_of_384 maxnreg; do
        silent "$programs/all" pool $kernel
    done
    run "$programs/all" pool without_blocks
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output == *"simulator: warning: "*"[setmaxnreg-ignored]"* ]]
    golden
    run "$programs/all" pool too_many
    echo "$output"
    [ "$status" -eq 1 ]
    [[ $output == *"[register-budget]"* ]]
    # The register count of ptxas takes precedence: 96 per thread are not enough for 240.
    kernel=$(grep -ao '_ZN9part_pool11most_of_384[A-Za-z]*' "$programs/all" | head -n 1)
    printf '%s\n' "ptxas info    : Compiling entry function '$kernel' for 'sm_90a'" 'ptxas info    : Used 96 registers' >"$programs/all.ptxas"
    run "$programs/all" pool most_of_384
    rm "$programs/all.ptxas"
    echo "$output"
    [ "$status" -eq 1 ]
    [[ $output == *"[register-budget]"* ]]
}

@test "a descriptor that is out of bounds of shared memory" {
    broken descriptor "[wgmma-outside-tile]"
    [[ $output == *" of B,"* ]]
}

# swizzle MAP DESCRIPTOR: runs wgmma with these swizzle modes of the tensor map and of the descriptor
swizzle() {
    run "$programs/all" swizzles "$@"
    echo "$*: $output"
}

@test "a descriptor with another swizzle mode than the copy's tensor map" {
    for of in 0 1 2 3; do
        silent "$programs/all" swizzles $of $of
        for by in 0 1 2 3; do
            [ $of = $by ] && continue
            swizzle $of $by
            [ "$status" -eq 1 ]
            [[ $output == *"swizzles.cu"*"[wgmma-swizzle]"* ]]
        done
    done
    source=$sources/swizzles.cu
    swizzle 3 1
    for words in "the descriptor of A of the wgmma at " " specifies 32-byte swizzle, but the TMA load at " " with 128-byte swizzle;" \
        "swizzles.cu:$(grep -n '// product$' "$source" | cut -d : -f 1)" "swizzles.cu:$(grep -n '// load a$' "$source" | cut -d : -f 1)"; do
        [[ $output == *"$words"* ]]
    done
    golden
    swizzle 3 0
    [[ $output == *"specifies no swizzle, but the TMA load at "* ]]
    swizzle 3 3 again # by ordinary stores, whose swizzle is not known
    [ "$status" -eq 0 ]
    swizzle 2 1 again
    [[ $output != *"[wgmma-"* ]]
}

@test "a trace of launches counts bulk copies, in whole sectors; a trace of the threads' requests does not" {
    csv=$programs/bulk.csv
    for mode in launches 1; do
        SIMULATOR_TRACE=$mode SIMULATOR_TRACE_CSV=$csv silent "$programs/all" forms plain_copies
        grep -o ',global,bulk [^"]*' "$csv" >"$programs/bulk-$mode" || true
    done
    cat "$programs"/bulk-*
    [ "$(cat "$programs/bulk-launches")" = ",global,bulk load,4000,1,1,4000,125,125,0,0,
,global,bulk store,4000,1,1,4000,125,125,0,0," ]
    [ ! -s "$programs/bulk-1" ]
}

# grouped MISTAKE CODE [COMMENT]: tensor maps with that mistake are reported with this code, at the line of the copy
grouped() {
    run "$programs/all" grouped "$1"
    echo "$1: $output"
    [ "$status" -eq 1 ]
    [[ $output == *"simulator: error: invalid tensor map: "*"grouped.cu:$(grep -n "// ${3:-load}\$" "$sources/grouped.cu" | cut -d : -f 1)"*"[$2]"* ]]
    golden
}

@test "tensor maps that a kernel modifies, as a grouped GEMM does, without findings" {
    for how in right in_global from_zeros by_stores; do
        silent "$programs/all" grouped $how
        SIMULATOR_ORDER=3 silent "$programs/all" grouped $how
        SIMULATOR_ANALYSES=off silent "$programs/all" grouped $how
    done
}

@test "a modified tensor map that is used before it is released and acquired" {
    for how in no_acquire other_acquire early_acquire; do
        grouped $how tensor-map-acquire
    done
    grouped no_release tensor-map-release
    SIMULATOR_ANALYSES=off silent "$programs/all" grouped no_acquire
    run "$programs/all" grouped no_syncwarp
    echo "$output"
    [ "$status" -eq 1 ]
    [[ $output == *"[warp-race]"* ]]
}

@test "a modified tensor map whose fields the driver would refuse" {
    grouped odd_address tensor-map-field
    grouped odd_stride tensor-map-field
    [[ $output == *" 72 bytes"* ]]
    for what in no_size large_box large_step nan_of_integers interleaved wide_for_swizzle; do
        grouped $what tensor-map-field
    done
    grouped other_rank tensor-map-rank
    grouped small_tensor tensor-map-bounds
    grouped no_map tensor-map-invalid change
}
