#!/usr/bin/env bats
# Hopper's own instructions: programs that nvcc compiled for sm_90a, run by the simulator and compared with the host; and
# variants of one of them with one mistake each, made by sed, which have to be found while the right one is not accused.

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
        wrap 16 f32 f16 16
        wrap 16 f16 f16 16
        wrap 16 f32 tf32 8
        wrap 16 f32 e4m3 32
        wrap 16 f32 e5m2 32
    } >"$programs/wgmma.cuh"
    compile_all forms types integers swizzles pool fragments grouped sparse
    export LD_LIBRARY_PATH=build/simulator
}

setup() {
    cd "$BATS_TEST_DIRNAME/../.."
}

# wrap N SUM TYPE K: wrappers of one wgmma
wrap() {
    awk -f "$sources/wgmma.awk" -v n="$1" -v sum="$2" -v type="$3" -v k="$4"
}

# variants: a name, how many keys it is run with, and what sed does, to make of the attention kernel one with a mistake.
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

@test "attention through TMA, mbarrier and wgmma is right, and nothing is said" {
    for n in 1 63 64 65 128 129 200 513; do
        run "$programs/all" attention "$n"
        echo "$output"
        [ "$status" -eq 0 ]
        [[ $output != *simulator:* ]]
    done
}

@test "without AVX2 and without analyses it is right, too" {
    SIMULATOR_LANES=generic "$programs/all" attention 200
    SIMULATOR_ANALYSES=off "$programs/all" attention 200
}

@test "each form gives the host's result, and nothing is said" {
    cases=$("$programs/all" forms)
    [ "$(wc -w <<<"$cases")" -ge 5 ]
    for name in $cases; do
        run "$programs/all" forms "$name"
        echo "$name: $output"
        [ "$status" -eq 0 ]
        [ "$name" = encoder ] || [ "$output" = "" ]
    done
}

@test "wgmma of each type, from shared memory and from registers, and nothing is said" {
    silent "$programs/all" types
}

@test "wgmma of bytes and of bits, with sums of 32 bits, and nothing is said" {
    silent "$programs/all" integers
}

@test "wgmma of a sparse A of each type, from shared memory and from registers, and nothing is said" {
    silent "$programs/all" sparse
    SIMULATOR_LANES=generic silent "$programs/all" sparse
}

@test "metadata of a sparse wgmma that mean nothing" {
    run "$programs/all" sparse zeros
    echo "$output"
    [ "$status" -eq 1 ]
    [[ $output == *"bad operand of wgmma: "*"takes 0x00000000 for metadata of tf32, whose digits have to be 4 or e"* ]]
}

@test "a tensor map that the driver would refuse is refused, and the argument named" {
    run "$programs/all" forms encoder
    for argument in globalAddress 'globalAddress is NULL' tensorRank 'globalDim[1]' 'globalStrides[0]' 'boxDim[0]' 'boxDim[1]' 'elementStrides[1]' oobFill \
        'tensorRank is 2; with an interleave' 'globalStrides[1] is 8208 bytes; with an interleave' 'swizzle is 2; with an interleave' \
        'interleave is 3; there are none' 'interleave is 16B; the driver takes this map' 'interleave is 32B; the driver takes'; do
        [[ $output == *"cuTensorMapEncodeTiled: $argument"* ]]
    done
    [[ $output == *", has to be a multiple of 32 bytes with an interleave"* ]]
}

@test "accumulators read before their wait" {
    broken early "wgmma's registers used too early: early.cu:$(($(line early) - 1))"
    broken early_pv "wgmma's registers used too early"
}

@test "registers of a wgmma written before their wait, and a wgmma before any fence" {
    silent "$programs/all" fragments right
    silent "$programs/all" fragments sum_written_after
    for kernel in fragment_written fragment_added_to fragment_of_one_lane; do
        run "$programs/all" fragments $kernel
        echo "$kernel: $output"
        [ "$status" -eq 1 ]
        [[ $output == *"wgmma's registers used too early: "*"writes a register that the wgmma at "*" may still be reading"* ]]
    done
    run "$programs/all" fragments sum_written
    echo "$output"
    [ "$status" -eq 1 ]
    [[ $output == *"writes a register that the wgmma at "*" may still be writing"* ]]
    run "$programs/all" fragments no_fence
    echo "$output"
    [ "$status" -eq 1 ]
    [[ $output == *"is a wgmma before any wgmma.fence"* ]]
}

@test "tiles read before the barrier that TMA signals is waited for" {
    broken no_wait_k "missing wait: wgmma.cuh"
    broken no_wait_q "missing wait: wgmma.cuh"
}

@test "a stage filled again before its consumers arrived" {
    broken early_release "race with an asynchronous unit"
    broken no_wait_empty "misuse of an mbarrier"
    broken other_parity "deadlock: "
}

@test "ordinary stores that TMA reads without a proxy fence, or without a barrier" {
    broken no_proxy_fence "missing proxy fence"
    broken no_named_barrier "race with an asynchronous unit"
}

@test "barriers used before their set-up is visible" {
    remarked no_init_fence "with no fence.mbarrier_init between the two"
    broken no_sync "with nothing between the two"
    broken no_init "before any mbarrier.init"
}

@test "bytes announced that are not those that come" {
    broken few_bytes "announces 16384 bytes for phase 0"
    broken many_bytes "lacks 0 of 1 arrivals; 65536 bytes announced, 32768 arrived"
}

@test "arrivals that can never be reached, and a wait for the wrong phase" {
    broken wrong_count "lacks 1 of 3 arrivals"
    broken wrong_phase "deadlock: "
    broken too_many "lacks 1 of 1 arrivals"
}

@test "in other orders of warps and copies the right one is right, and too small a count lets a stage be overwritten" {
    for seed in ${TEST_ALL:+1 2 3} 4 5 ${TEST_ALL:+6 7 8}; do # make test-all has others, too
        export SIMULATOR_ORDER=$seed
        run "$programs/all" attention 300
        echo "$seed: $output"
        [ "$status" -eq 0 ]
        [[ $output != *simulator:* ]]
    done
    # Where it is overwritten in one order, and in which, hangs on the host's threads, too.
    for seed in $(seq 60); do
        export SIMULATOR_ORDER=$seed
        run "$programs/all" too_many 300
        [ "$status" -eq 1 ]
        if [[ $output == *"race with an asynchronous unit"* ]]; then break; fi
    done
    [[ $output == *"race with an asynchronous unit"* ]]
}

@test "shared memory that is given up while a copy reads it" {
    broken no_store_wait "the block ends while the copy at"
}

@test "tensor maps in the wrong memory, or of a tensor that is not there" {
    broken local_map "no const __grid_constant__ one"
    broken beyond "bad tensor map"
}

@test "a box that begins between units of 16 bytes is an instruction that a GPU calls illegal" {
    broken between "from element 3 of its rows on, which is byte 6, no multiple of 16"
    [[ $output == *cudaErrorIllegalInstruction* || $output == *"an illegal instruction was encountered"* ]]
}

@test "a store of a box that begins before its tensor is an instruction that a GPU calls illegal" {
    broken before "stores a box from coordinate -8 of dimension 1 on"
    [[ $output == *cudaErrorIllegalInstruction* || $output == *"an illegal instruction was encountered"* ]]
    broken left "stores a box from coordinate -64 of dimension 0 on"
}

@test "warps of a warpgroup that go different ways" {
    broken diverged "divergent warpgroup"
    broken half_warp "divergent warpgroup"
}

@test "registers that setmaxnreg cannot have" {
    broken registers "registers that are not there"
    broken dec "registers that are not there"
}

@test "registers that setmaxnreg may have, by the launch bounds and by what ptxas said" {
    for kernel in all_of_256 few_of_256 most_of_384 maxnreg; do
        silent "$programs/all" pool $kernel
    done
    run "$programs/all" pool without_blocks
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output == *"simulator: remark: "*"does nothing: ptxas leaves it out"* ]]
    run "$programs/all" pool too_many
    echo "$output"
    [ "$status" -eq 1 ]
    [[ $output == *"registers that are not there"* ]]
    # What ptxas said counts for more: with 96 there are not enough for 240.
    kernel=$(grep -ao '_ZN9part_pool11most_of_384[A-Za-z]*' "$programs/all" | head -n 1)
    printf '%s\n' "ptxas info    : Compiling entry function '$kernel' for 'sm_90a'" 'ptxas info    : Used 96 registers' >"$programs/all.ptxas"
    run "$programs/all" pool most_of_384
    rm "$programs/all.ptxas"
    echo "$output"
    [ "$status" -eq 1 ]
    [[ $output == *"registers that are not there"* ]]
}

@test "a descriptor that leads out of shared memory" {
    broken descriptor "of B, which is beyond"
}

# swizzle MAP DESCRIPTOR
swizzle() {
    run "$programs/all" swizzles "$@"
    echo "$*: $output"
}

@test "a descriptor whose swizzle is not that of the copy's tensor map" {
    for of in 0 1 2 3; do
        silent "$programs/all" swizzles $of $of
        for by in 0 1 2 3; do
            [ $of = $by ] && continue
            swizzle $of $by
            [ "$status" -eq 1 ]
            [[ $output == *"bad operand of wgmma: "*"swizzles.cu"* ]]
        done
    done
    source=$sources/swizzles.cu
    swizzle 3 1
    for words in "for A with a swizzle of 32 bytes, as the descriptor says" "has put it there with a swizzle of 128 bytes" \
        "swizzles.cu:$(grep -n '// product$' "$source" | cut -d : -f 1)" "swizzles.cu:$(grep -n '// load a$' "$source" | cut -d : -f 1)"; do
        [[ $output == *"$words"* ]]
    done
    swizzle 3 0
    [[ $output == *"with no swizzle, as the descriptor says"* ]]
    swizzle 3 3 again # by ordinary stores, of which nothing is known
    [ "$status" -eq 0 ]
    swizzle 2 1 again
    [[ $output != *"bad operand of wgmma"* ]]
}

@test "a trace of launches counts bulk copies, in whole sectors; one of what threads ask for does not" {
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

# grouped WHAT TEXT: tensor maps made with that mistake, which ends with a finding that contains TEXT and the line of the copy
grouped() {
    run "$programs/all" grouped "$1"
    echo "$1: $output"
    [ "$status" -eq 1 ]
    [[ $output == *"simulator: bad tensor map: "*"grouped.cu:$(grep -n "// ${3:-load}\$" "$sources/grouped.cu" | cut -d : -f 1)"*"$2"* ]]
}

@test "tensor maps that a kernel makes of the host's, as products of groups do, and nothing is said" {
    for how in right in_global from_zeros by_stores; do
        silent "$programs/all" grouped $how
        SIMULATOR_ORDER=3 silent "$programs/all" grouped $how
        SIMULATOR_ANALYSES=off silent "$programs/all" grouped $how
    done
}

@test "a changed tensor map that is used before it is released and acquired" {
    for how in no_acquire other_acquire early_acquire; do
        grouped $how "that the kernel has changed, and the block has not executed a fence.proxy.tensormap::generic.acquire for it since"
    done
    grouped no_release "with neither tensormap.cp_fenceproxy nor a fence.proxy.tensormap::generic.release after it"
    SIMULATOR_ANALYSES=off silent "$programs/all" grouped no_acquire
    run "$programs/all" grouped no_syncwarp
    echo "$output"
    [ "$status" -eq 1 ]
    [[ $output == *"race within a warp: "*"with no __syncwarp() between them"* ]]
}

@test "a changed tensor map whose fields the driver would refuse" {
    grouped odd_address "which is no multiple of 16 bytes in device memory"
    grouped odd_stride "stride 0 is 72 bytes; it has to be a multiple of 16 and less than 2^40"
    grouped no_size "the size of dimension 1 is 0"
    grouped large_box "its box has 65535 or more elements along dimension 1; 1 to 256 are possible"
    grouped large_step "the element stride of dimension 1 is 255 or more; 1 to 8 are possible"
    grouped nan_of_integers "it fills with NaN, and its elements are no floating-point numbers"
    grouped interleaved "it has an interleave, whose copies the simulator lacks"
    grouped wide_for_swizzle "a row of its box has 64 bytes; with a swizzle of 32 bytes at most that many are possible"
    grouped other_rank "another number of dimensions than the instruction"
    grouped small_tensor "the tensor map's tensor is larger than that"
    grouped no_map "is neither one that cuTensorMapEncodeTiled wrote nor zeros" change
}
