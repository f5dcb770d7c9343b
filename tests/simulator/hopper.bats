#!/usr/bin/env bats
# Hopper's own instructions: programs that nvcc compiled for sm_90a, run by the simulator and compared with the host; and
# variants of one of them with one mistake each, made by sed, which have to be found while the right one is not accused.

setup_file() {
    cd "$BATS_TEST_DIRNAME/../.."
    read -r NVCC _ version _ <<<"$(scripts/find-cuda)"
    make -s "build/simulator/libcudart.so.${version%%.*}"
    export programs=build/tests/hopper sources=tests/simulator/hopper NVCC
    mkdir -p "$programs"
    {
        wrap 64 f32 bf16 16
        wrap 128 f32 bf16 16
        wrap 16 f32 bf16 16
        wrap 16 f32 f16 16
        wrap 16 f16 f16 16
        wrap 16 f32 tf32 8
        wrap 16 f32 e4m3 32
        wrap 16 f32 e5m2 32
    } >"$programs/wgmma.cuh"
    compile attention "$sources/attention.cu"
    compile forms "$sources/forms.cu"
    compile types "$sources/types.cu"
    export LD_LIBRARY_PATH=build/simulator
}

setup() {
    cd "$BATS_TEST_DIRNAME/../.."
}

# wrap N SUM TYPE K: wrappers of one wgmma
wrap() {
    awk -f "$sources/wgmma.awk" -v n="$1" -v sum="$2" -v type="$3" -v k="$4"
}

# compile NAME FILE
compile() {
    LD_LIBRARY_PATH= "$NVCC" -std=c++20 -lineinfo -cudart shared --no-compress -gencode arch=compute_90a,code=compute_90a \
        -I"$programs" -I"$sources" -o "$programs/$1" "$2"
}

# broken NAME TEXT SED...: the attention kernel, changed by sed, fails with a finding that contains TEXT
broken() {
    local name=$1 text=$2
    shift 2
    sed "$@" "$sources/attention.cu" >"$programs/$name.cu"
    cmp -s "$programs/$name.cu" "$sources/attention.cu" && return 1
    compile "$name" "$programs/$name.cu"
    run "$programs/$name" 300
    echo "$output"
    [ "$status" -eq 1 ]
    [[ $output == *"$text"* ]]
    rm "$programs/$name" "$programs/$name.cu"
}

# line COMMENT: of the attention kernel that carries it, as findings name it
line() {
    grep -n "// $1\$" "$sources/attention.cu" | cut -d : -f 1
}

@test "attention through TMA, mbarrier and wgmma is right, and nothing is said" {
    for n in 1 63 64 65 128 129 200 513; do
        run "$programs/attention" "$n"
        echo "$output"
        [ "$status" -eq 0 ]
        [[ $output != *simulator:* ]]
    done
}

@test "without AVX2 and without analyses it is right, too" {
    SIMULATOR_LANES=generic "$programs/attention" 200
    SIMULATOR_ANALYSES=off "$programs/attention" 200
}

@test "each form gives the host's result, and nothing is said" {
    cases=$("$programs/forms")
    [ "$(wc -w <<<"$cases")" -ge 5 ]
    for name in $cases; do
        run "$programs/forms" "$name"
        echo "$name: $output"
        [ "$status" -eq 0 ]
        [ "$name" = encoder ] || [ "$output" = "" ]
    done
}

@test "wgmma of each type, from shared memory and from registers, and nothing is said" {
    run "$programs/types"
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$output" = "" ]
}

@test "a tensor map that the driver would refuse is refused, and the argument named" {
    run "$programs/forms" encoder
    for argument in globalAddress tensorRank 'globalDim[1]' 'globalStrides[0]' 'boxDim[0]' 'boxDim[1]' 'elementStrides[1]' oobFill; do
        [[ $output == *"cuTensorMapEncodeTiled: $argument"* ]]
    done
}

@test "accumulators read before their wait" {
    broken early "wgmma's registers used too early: early.cu:$(($(line early) - 1))" -e '/\/\/ wait qk$/d'
    broken early_pv "wgmma's registers used too early" -e '/\/\/ wait pv$/d'
}

@test "tiles read before the barrier that TMA signals is waited for" {
    broken no_wait_k "missing wait: wgmma.cuh" -e '/\/\/ wait k$/d'
    broken no_wait_q "missing wait: wgmma.cuh" -e '/\/\/ wait q$/d'
}

@test "a stage filled again before its consumers arrived" {
    broken early_release "race with an asynchronous unit" \
        -e 's/mbarrier_wait(&s.v_full\[stage\], parity);/&if (t == 0) mbarrier_arrive(\&s.empty[stage]);/' -e '/\/\/ release$/d' \
        -e 's/^        if (t == 0)$//'
    broken no_wait_empty "misuse of an mbarrier" -e '/\/\/ wait empty$/d'
    broken other_parity "deadlock: " -e 's/(i \/ STAGES & 1) ^ 1); *\/\/ wait empty/(i \& 1) ^ 1);/'
}

@test "ordinary stores that TMA reads without a proxy fence, or without a barrier" {
    broken no_proxy_fence "missing proxy fence" -e '/\/\/ proxy fence$/d'
    broken no_named_barrier "race with an asynchronous unit" -e '/\/\/ named barrier$/d'
}

@test "barriers used before their set-up is visible" {
    broken no_init_fence "no fence.mbarrier_init" -e '/\/\/ init fence$/d'
    broken no_sync "with nothing between the two" -e '/\/\/ after init$/d'
    broken no_init "before any mbarrier.init" -e 's/mbarrier_init(&s.q_full, 1);//'
}

@test "bytes announced that are not those that come" {
    broken few_bytes "announces 16384 bytes for phase 0" -e 's/, Q_BYTES); *\/\/ expect q/, Q_BYTES \/ 2);/'
    broken many_bytes "lacks 0 of 1 arrivals; 65536 bytes announced, 32768 arrived" \
        -e 's/, Q_BYTES); *\/\/ expect q/, Q_BYTES * 2);/'
}

@test "arrivals that can never be reached, and a wait for the wrong phase" {
    broken wrong_count "lacks 1 of 3 arrivals" -e 's/WARPGROUPS); *\/\/ empty count/WARPGROUPS + 1);/'
    broken wrong_phase "deadlock: " -e 's/& 1) ^ 1); *\/\/ wait empty/\& 1));/'
    broken too_many "lacks 1 of 1 arrivals" -e 's/WARPGROUPS); *\/\/ empty count/1);/'
}

@test "shared memory that is given up while a copy reads it" {
    broken no_store_wait "the block ends while the copy at" -e '/\/\/ wait store$/d'
}

@test "tensor maps in the wrong memory, or of a tensor that is not there" {
    broken local_map "no const __grid_constant__ one" -e 's/const __grid_constant__ CUtensorMap q/CUtensorMap q/'
    broken beyond "bad tensor map" -e 's/map_2d(device\[1\], n,/map_2d(device[1], n + 100,/'
}

@test "warps of a warpgroup that go different ways" {
    broken diverged "divergent warpgroup" -e 's/^        wgmma_fence();/        if (t < 96) wgmma_fence();/' \
        -e 's/^        for (int kk = 0; kk < D \/ 16; kk++) {/        if (t < 96) for (int kk = 0; kk < D \/ 16; kk++) {/'
    broken half_warp "divergent warpgroup" -e 's/^        wgmma_fence();/        if (lane < 16) wgmma_fence();/'
}

@test "registers that setmaxnreg cannot have" {
    broken registers "registers that are not there" -e 's/setmaxnreg_inc<240>/setmaxnreg_inc<248>/'
    broken dec "registers that are not there" -e 's/setmaxnreg_inc<240>/setmaxnreg_dec<240>/'
}

@test "a descriptor that leads out of shared memory" {
    broken descriptor "of B, which is beyond" -e 's/chunk \* BN \* CHUNK \* 2 + within, 16, 1024, 1),/chunk * BN * CHUNK * 2 + within, 16, 16368, 1),/'
}
