#!/usr/bin/env bats
# Clusters of blocks: programs that nvcc compiles for sm_90a, run by the simulator and compared with the host; and variants
# with one mistake each, made by sed, which have to be reported, while the correct programs must not be.

load ../long
load hopper/variants

setup_file() {
    cd "$BATS_TEST_DIRNAME/../.."
    prepare build/tests/cluster cluster.cu
    compile_all cluster_forms
    export LD_LIBRARY_PATH=build/simulator
}

setup() {
    cd "$BATS_TEST_DIRNAME/../.."
}

# variants: a name, the case of the run, and the sed script that makes one mistake in cluster.cu.
variants() {
    cat <<'END'
not_zeroed histogram /\/\/ zeroed$/d
not_counted histogram /\/\/ counted$/d
no_such_bin histogram s/\[x\[i\] % BINS\], 1); *\/\/ count/[x[i] % BINS + BINS * 200], 1);/
not_there reduction /\/\/ parts are there$/d
not_read reduction /\/\/ parts are read$/d
no_such_rank reduction s/rank < ADDENDS; rank++/rank <= ADDENDS; rank++/
relaxed reduction s/cluster_sync(); *\/\/ parts are there/cluster_arrive_relaxed(); cluster_wait();/
own_only reduction s/load_cluster(mapa(&part\[threadIdx.x\], rank)); *\/\/ add/load_own(mapa(\&part[threadIdx.x], rank));/; s/^constexpr int ADDENDS.*/&\nDEVICE int load_own(uint32_t a) { int v; asm volatile("ld.shared.s32 %0, [%1];" : "=r"(v) : "r"(a)); return v; }/
twice reduction s/cluster_sync(); *\/\/ parts are there/cluster_arrive(); &/
unarrived reduction s/cluster_sync(); *\/\/ parts are there/cluster_sync(); cluster_wait();/
no_set_up multicast /cluster_arrive_relaxed(); *\/\/ set up/d; /\/\/ wait set up/d
no_init_fence multicast /\/\/ init fence$/d
no_wait_empty multicast s/mbarrier_wait(&s.empty\[stage\], .*\/\/ wait empty/if (i >= STAGES) __nanosleep(100);/
own_empty multicast s/mbarrier_init(&s.empty\[i\], 2);/mbarrier_init(\&s.empty[i], 1);/; s/if (threadIdx.x < 34)/if (threadIdx.x < 33)/; s/threadIdx.x - 32)); *\/\/ release/rank));/
no_wait_full multicast /\/\/ wait full$/d
half_expected multicast s/TILE \* 4); *\/\/ expect/HALF * 4);/
too_many multicast s/mbarrier_init(&s.empty\[i\], 2);/mbarrier_init(\&s.empty[i], 3);/
not_read_yet multicast /\/\/ all have read$/d
early_exit multicast /\/\/ done$/d
one_alone multicast s/^    cluster_sync(); *\/\/ done/    if (rank == 0) cluster_sync(); else mbarrier_wait(\&s.full[0], tiles \/ STAGES + 1);/
no_inbox ring /\/\/ inboxes are there$/d
no_wait_filled ring /\/\/ wait filled$/d
not_taken ring s/mbarrier_wait(&taken, step & 1); *\/\/ wait taken/__nanosleep(10);/
other_barrier ring s/mapa(&filled\[box\], next)); *\/\/ hand on/mapa(\&filled[box], rank));/
by_barriers ring /\/\/ all is taken$/d
no_proxy_fence exchange /\/\/ proxy fence$/d
not_arrived exchange /\/\/ wait arrived$/d
used_again exchange s/cluster_sync(); *\/\/ both have read/__syncthreads();/
exchange_exit exchange /\/\/ both have read$/d; /\/\/ use again$/d
unaligned exchange s/mine, THREADS \* 4, mapa(&arrived, other)); *\/\/ copy$/mine + 1, THREADS * 4, mapa(\&arrived, other));/
END
}

@test "kernels with clusters are correct, without findings" {
    cases=$("$programs/all" cluster)
    [ "$(wc -w <<<"$cases")" -ge 5 ]
    for name in $cases; do
        silent "$programs/all" cluster "$name"
    done
}

@test "each form of the instructions gives the host's result, without findings except the runtime's refusals" {
    cases=$("$programs/all" cluster_forms)
    [ "$(wc -w <<<"$cases")" -ge 6 ]
    for name in $cases; do
        run "$programs/all" cluster_forms "$name"
        echo "$name: $output"
        [ "$status" -eq 0 ]
        [ "$name" = refusals ] || [ "$name" = occupancy ] || [ "$output" = "" ]
    done
}

@test "kernels with clusters are correct in any order of blocks and warps, without findings" {
    for seed in $(seq "${TEST_ALL:+1}2"); do # twelve in make test-all
        for name in $("$programs/all" cluster); do
            silent "$programs/all" cluster "$name" "$seed"
        done
        silent "$programs/all" cluster_forms atomics "$seed"
    done
}

@test "kernels with clusters are also correct without AVX2, without analyses, and in a trace" {
    for name in $("$programs/all" cluster); do
        SIMULATOR_LANES=generic "$programs/all" cluster "$name"
        SIMULATOR_ANALYSES=off "$programs/all" cluster "$name"
        SIMULATOR_TRACE=1 "$programs/all" cluster "$name"
    done
}

@test "an impossible cluster size is refused, with one line" {
    run "$programs/all" cluster_forms refusals
    echo "$output"
    [[ $output == *"a grid of 3 x 1 x 1 blocks for kernel pairs is not a multiple of its cluster of 2 x 1 x 1"* ]]
    [[ $output == *"clusters of 4 x 1 x 1 blocks contradicts kernel pairs, which requires 2 x 1 x 1"* ]]
    [[ $output == *"1 to 8 blocks are allowed; cudaFuncAttributeNonPortableClusterSizeAllowed"* ]]
    [[ $output == *"kernel bounded: 1 to 4 blocks are allowed"* ]]
}

@test "clusters on a GPU without clusters" {
    long
    cat >"$programs/older.cu" <<'END'
#include "cluster.cuh"
__global__ void plain() {
}
int main() {
    CHECK(launch(plain, 4, 32, 2));
}
END
    LD_LIBRARY_PATH= "$NVCC" -std=c++20 -cudart shared --no-compress -gencode arch=compute_80,code=compute_80 \
        -I"$sources" -o "$programs/older" "$programs/older.cu"
    run env SIMULATOR_DEVICE=a100 "$programs/older"
    echo "$output"
    [ "$status" -eq 1 ]
    [[ $output == *"of kernel plain need compute capability 9.0 or higher, which "*cudaErrorInvalidClusterSize ]]
    SIMULATOR_DEVICE=h200 "$programs/older"
}

@test "shared memory of a block that has not started, or has exited" {
    broken not_there "[cluster-not-started]"
    broken no_set_up "[cluster-not-started]"
    broken no_inbox "[cluster-not-started]"
    broken not_read "[cluster-exited]"
    broken early_exit "[cluster-early-exit]"
    broken exchange_exit "[cluster-early-exit]"
}

@test "blocks that wait by their own mbarriers need no final cluster barrier" {
    run "$programs/all" by_barriers ring
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$output" = "" ]
}

@test "races through another block's shared memory" {
    broken not_zeroed "[cluster-race]"
    [[ $output == *"not_zeroed.cu:$(($(line count) - 4)) writes"* ]]
    broken not_counted "not_counted.cu:$(line count)"
    for variant in relaxed not_read_yet own_empty no_wait_filled not_taken; do
        broken $variant "[cluster-race]"
        [[ $output == *"race between blocks of a cluster: cluster.cuh"* ]]
        [ $variant != relaxed ] || [[ $output == *"wrote at relaxed.cu:$(line part)"* ]]
    done
}

@test "addresses that are not in the cluster's shared memory" {
    broken no_such_rank "[cluster-address]"
    [[ $output == *" cluster rank 4, but the largest rank in the cluster is 3;"* ]]
    broken no_such_bin "[shared-out-of-bounds]"
    broken own_only "[shared-cta-address]"
    broken unaligned "[misaligned-access]"
    [[ $output == *" multiple of 16 bytes;"* ]]
}

@test "barrier.cluster in the wrong order, and a block that never reaches it" {
    broken twice "[barrier-cluster-arrive]"
    broken unarrived "[barrier-cluster-wait]"
    broken one_alone "barrier.cluster; missing arrivals: 96 threads of block (1,0,0)"
    [[ $output == *"phase 4, which is the current one and lacks 1 of 1 arrivals"* ]]
}

@test "stages that two blocks fill without waiting for each other" {
    broken no_wait_empty "[mbarrier-arrivals]"
    broken no_wait_full "[missing-wait]"
    [[ $output == *"missing wait: no_wait_full.cu"* ]]
    broken half_expected "[transaction-bytes]"
    [[ $output == *" 1024 bytes in phase "* ]]
    broken too_many "lacks 1 of 3 arrivals"
    broken no_init_fence "[mbarrier-init-race]"
}

@test "stores and copies between blocks, without a wait, or with another block's mbarrier" {
    broken not_arrived "[missing-wait]"
    [[ $output == *"missing wait: not_arrived.cu"*"[cluster-early-exit]"* ]]
    broken other_barrier "[mbarrier-block]"
    broken no_proxy_fence "[proxy-fence]"
    broken used_again "[async-race]"
    [[ $output == *"race with an asynchronous copy or wgmma: used_again.cu"* ]]
}
