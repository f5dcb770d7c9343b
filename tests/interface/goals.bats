#!/usr/bin/env bats
# Each goal of `make help`, and how goals go together.

load ../long
load helpers

small=SHAPE=1,2,20,16

@test "make and make help list every goal" {
    run make
    [ "$status" -eq 0 ]
    for goal in check bench trace profile diff reset all plots post doctor test clean; do
        grep -q -E "^make (lesson-02 )?$goal " <<<"$output"
    done
    for variable in DEVICE SHAPE CAUSAL DATA KERNEL SEED TIME_LIMIT; do
        grep -q "\b$variable=" <<<"$output"
    done
    [ "$(make help)" = "$output" ]
}

@test "make lesson-02 prints the subject, the files to edit and the next commands" {
    run make lesson-02
    [ "$status" -eq 0 ]
    [[ $output == *lessons/02_vectorized/attention.cu* ]]
    [[ $output == *"make lesson-02 check"* ]]
    [[ $output == *lessons/02_vectorized/README.md* ]]
    run make lesson-03
    [[ $output == *lessons/03_fused_softmax/softmax.cu* ]]
    [ "$(make -j4 lesson-01 lesson-02 lesson-03)" = "$(make lesson-01 && make lesson-02 && make lesson-03)" ]
}

@test "check passes for a solved lesson and names the device" {
    solve 01
    run make lesson-01 check $small
    echo "$output"
    [ "$status" -eq 0 ]
    [[ ${output,,} == *simulat* ]]
}

@test "check of a fresh lesson fails and points at its first blank" {
    fresh 01
    run make lesson-01 check $small
    echo "$output"
    [ "$status" -eq 2 ]
    line=$(grep -n -m 1 'TODO 1 ' lessons/01_basic_attention/attention.cu | cut -d : -f 1)
    [[ $output == *"lessons/01_basic_attention/attention.cu:$line: TODO 1"* ]]
    [[ $output == *"Error 1"* ]]
}

@test "the order of goals does not matter, and a lesson named twice is checked once" {
    solve 01
    run make lesson-01 check lesson-01 $small
    [ "$status" -eq 0 ]
    [ "$(grep -c "^lesson-01_.* right on" <<<"$output")" -eq 1 ]
    [[ $output != *warning* ]]
}

@test "lesson 03 checks softmax.cu and then attention.cu, even if the first fails" {
    long
    fresh 03
    solution=solutions/03_fused_softmax
    cp $solution/attention.cu lessons/03_fused_softmax/attention.cu
    run make lesson-03 check
    echo "$output"
    [ "$status" -eq 2 ]
    [[ $output == *lessons/03_fused_softmax/softmax.cu:*"TODO 1"* ]]
    [[ $output != *lessons/03_fused_softmax/attention.cu:*TODO* ]]
    grep -q '^lesson-03_fused_softmax/softmax: 0 of 48 cases' <<<"$output"
    grep -q -E '^lesson-03_fused_softmax/attention: ([0-9]+) of \1 cases right' <<<"$output"
    run make lesson-03 check PART=attention SHAPE=1,1,64,64
    [ "$status" -eq 0 ]
    [[ $output != *softmax.cu:* ]]
    grep -q '^lesson-03_fused_softmax/attention: 1 of 1 case right' <<<"$output"
    solve 03
    make lesson-03 check QUICK=1
}

@test "check runs several lessons and solutions in one call" {
    solve 01 02
    run make lesson-01 lesson-02 solution-01 check $small
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output == *lesson-01* && $output == *lesson-02* && $output == *solution-01* ]]
}

@test "make check checks every lesson, and a failure does not stop the others" {
    long
    solve 01 03 04
    fresh 02
    run make check $small
    echo "$output"
    [ "$status" -eq 2 ]
    [[ $output == *lesson-01* && $output == *lesson-03* && $output == *lesson-04* ]]
    [[ $output == *"lessons/02_vectorized/attention.cu:"*TODO* ]]
}

@test "make solutions check checks every solution" {
    run make solutions check $small
    echo "$output"
    [ "$status" -eq 0 ]
    for number in $(numbers); do
        [[ $output == *solution-$number* ]]
    done
}

@test "the command that a failed check prints reruns that case" {
    fresh 01
    run make lesson-01 check
    again=$(sed -n 's/^  again: //p' <<<"$output" | tail -n 1)
    echo "$again"
    [[ $again == "make lesson-01 check SHAPE="*SEED=* ]]
    run $again
    echo "$output"
    [ "$status" -eq 2 ]
    [[ $output == *", 1 case, seed ${again##*SEED=}"* || $output == *"  again: $again"* ]]
}

@test "CAUSAL=1, SEED and DATA reach the check" {
    long
    solve 04
    run make lesson-04 check $small CAUSAL=1 SEED=7
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output == *causal* ]]
    [[ $output == *7* ]]
    run make lesson-04 check DATA=tests/fixtures/torch/batch_heads
    echo "$output"
    [ "$status" -eq 0 ]
}

@test "OUT=folder receives the output in the format that DATA=folder reads" {
    data=$BATS_TEST_TMPDIR/data
    cp -R tests/fixtures/torch/batch_heads "$data"
    rm "$data/o.npy"
    make solution-04 check DATA="$data" OUT="$data/new"
    mv "$data/new/o.npy" "$data"
    cmp <(head -c 128 "$data/o.npy") <(head -c 128 tests/fixtures/torch/batch_heads/o.npy)
    run make solution-04 check DATA="$data"
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output == *"/o.npy differs from the reference by a relative rms of "*e-07* ]]
    refused "add SHAPE=B,H,N,D or DATA=folder" make solution-04 check OUT="$data"
    refused "[one-lesson]" make lesson-01 lesson-02 check SHAPE=1,1,16,16 OUT="$data"
    refused "[wrong-action]" make lesson-01 trace OUT="$data"
    refused "OUT=Makefile is no folder" make solution-01 check SHAPE=1,1,16,16 OUT=Makefile
}

@test "KERNEL replaces the lesson's file, from any folder" {
    mkdir -p "$BATS_TEST_TMPDIR/mine"
    cp solutions/01_basic_attention/attention.cu "$BATS_TEST_TMPDIR/mine/my_kernel.cu"
    run make check KERNEL="$BATS_TEST_TMPDIR/mine/my_kernel.cu" $small
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output == *my_kernel* ]]
    fresh 02
    make lesson-02 check KERNEL="$BATS_TEST_TMPDIR/mine/my_kernel.cu" $small
}

@test "bench times the selected lessons, and the row softmax of a lesson that has one" {
    run make -n lesson-02 lesson-04 bench DEVICE= RESULTS= FRESH=0 QUICK=0
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output == *"--name lesson-02_vectorized "*"--name lesson-04_tiled_online_softmax "*"--results 'results'"* ]]
    [[ $output != *unfused_softmax* && $output != *--fresh* && $output != *--quick* ]]
    [[ $(make -n lesson-02 lesson-03 bench DEVICE= FRESH=1) == *"--name unfused_softmax "*--fresh* ]]
}

@test "trace prints the memory traffic by source line" {
    run make solution-02 trace
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output == *attention.cu:* ]]
    [[ $output == *sectors* ]]
}

@test "diff shows the missing lines, and nothing for a solved lesson" {
    fresh 02
    run make lesson-02 diff
    [ "$status" -eq 0 ]
    grep -q '^+' <<<"$output"
    solve 02
    run make lesson-02 diff
    [ "$status" -eq 0 ]
    [ -z "$output" ]
    run make solution-02 diff
    [ "$status" -eq 0 ]
    grep -q '^-// Lesson 01' <<<"$output"
    grep -q '^+// Lesson 02' <<<"$output"
    [[ $output != *TODO* ]]
}

@test "reset writes a fresh skeleton and keeps every old file" {
    file=lessons/01_basic_attention/attention.cu
    fresh 01
    cp $file "$BATS_TEST_TMPDIR/skeleton"
    for n in 1 2 3; do
        echo "// work $n" >>$file
        run make lesson-01 reset
        echo "$output"
        [ "$status" -eq 0 ]
        [[ $output == *"$file.$n"* ]]
        cmp $file "$BATS_TEST_TMPDIR/skeleton"
        [ "$(tail -n 1 $file.$n)" = "// work $n" ]
    done
    rm $file.2
    echo "// work 4" >>$file
    make lesson-01 reset
    [ "$(tail -n 1 $file.2)" = "// work 4" ]
    [ "$(tail -n 1 $file.3)" = "// work 3" ]
}

@test "reset of a fresh skeleton changes nothing" {
    fresh 01
    run make lesson-01 reset
    [ "$status" -eq 0 ]
    [ "$(ls lessons/01_basic_attention/*.cu*)" = lessons/01_basic_attention/attention.cu ]
}

@test "concurrent resets lose no file" {
    file=lessons/01_basic_attention/attention.cu
    fresh 01
    for round in 1 2 3 4 5; do
        echo "// round $round" >>$file
        for _ in 1 2 3; do
            make lesson-01 reset >/dev/null &
        done
        for job in $(jobs -p); do
            wait "$job"
        done
        [ "$(tail -n 1 "$file.$round")" = "// round $round" ]
    done
    [ ! -e $file.6 ]
}

# A program that sums its arguments on the GPU and exits with the status in its first argument.
own_program() {
    cat >"$1" <<'END'
#include "own.h"
#include <cstdio>
#include <cstdlib>

__global__ void add(int *sum, int value) {
    atomicAdd(sum, value);
}

int main(int count, char **arguments) {
    int *sum, result = 0;
    cudaMalloc(&sum, sizeof *sum);
    cudaMemset(sum, 0, sizeof *sum);
    for (int i = 2; i < count; i++)
        add<<<1, THREADS>>>(sum, atoi(arguments[i]));
    cudaMemcpy(&result, sum, sizeof result, cudaMemcpyDeviceToHost);
    printf("%d of '%s'\n", result, arguments[count - 1]);
    return atoi(arguments[1]);
}
END
    echo '#define THREADS 32' >"$(dirname "$1")/own.h"
}

@test "run builds a program, rebuilds it when one of its files changes, and exits with its status" {
    long
    own_program "$BATS_TEST_TMPDIR/my program's.cu"
    run make run PROGRAM="$BATS_TEST_TMPDIR/my program's.cu" ARGS="0 1 '2 x'"
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$output" = "96 of '2 x'" ]
    echo '#define THREADS N' >"$BATS_TEST_TMPDIR/own.h"
    run make run PROGRAM="$BATS_TEST_TMPDIR/my program's.cu" ARGS="5 1" FLAGS="-DN=4 -DX='a b'"
    echo "$output"
    [ "$status" -eq 2 ]
    [[ $output == "4 of '1'"*"program.mk:"*"run] Error 5" ]]
}

@test "run accepts several files" {
    printf '%s\n' 'int twice(int x) { return 2 * x; }' >"$BATS_TEST_TMPDIR/twice.cpp"
    printf '%s\n' '#include <cstdio>' 'int twice(int x);' '__global__ void show(int x) { printf("%d\n", x); }' \
        'int main() { show<<<1, 1>>>(twice(21)); return cudaDeviceSynchronize(); }' >"$BATS_TEST_TMPDIR/main.cu"
    run make run PROGRAM="$BATS_TEST_TMPDIR/main.cu $BATS_TEST_TMPDIR/twice.cpp"
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$output" = 42 ]
}

@test "run reports the registers per thread, for one file and for linked device code" {
    cat >"$BATS_TEST_TMPDIR/many.cu" <<'END'
#include <cstdio>

__global__ void __maxnreg__(24) few(float *to) {
    to[threadIdx.x] = threadIdx.x;
}

__global__ void __launch_bounds__(128) many(float *to) {
    float x[96];
#pragma unroll
    for (int i = 0; i < 96; i++)
        x[i] = to[i * 128 + threadIdx.x];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 96; i++)
        to[i * 128 + threadIdx.x] = x[(i + 1) % 96] * x[i];
}

int main() {
    int blocks[2];
    cudaFuncAttributes few_has, many_has;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks[0], few, 128, 0);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks[1], many, 128, 0);
    cudaFuncGetAttributes(&few_has, few);
    cudaFuncGetAttributes(&many_has, many);
    printf("%d %d %d\n", few_has.numRegs <= 24 && blocks[0] == 16, many_has.numRegs > 96, blocks[1] < 6);
}
END
    for flags in '' -rdc=true; do
        run make run PROGRAM="$BATS_TEST_TMPDIR/many.cu" FLAGS=$flags
        echo "$output"
        [ "$status" -eq 0 ]
        [ "$output" = "1 1 1" ]
    done
}

@test "run fails if the simulator reports a finding, even if the program exits with 0" {
    cat >"$BATS_TEST_TMPDIR/race.cu" <<'END'
__global__ void reversed(int *to) {
    __shared__ int tile[64];
    tile[threadIdx.x] = threadIdx.x;
    to[threadIdx.x] = tile[63 - threadIdx.x];
}

int main() {
    int *to;
    cudaMalloc(&to, 256);
    reversed<<<1, 64>>>(to);
}
END
    run make run PROGRAM="$BATS_TEST_TMPDIR/race.cu"
    echo "$output"
    [ "$status" -eq 2 ]
    [[ $output == *"race.cu:4"*"[block-race]"*"status 0, but 1 finding "*"status 1"*"Error 1" ]]
}

@test "clean removes build/ and changes neither lessons/ nor results/" {
    solve 01
    cp -a build "$BATS_TEST_TMPDIR/kept"
    echo row >results/row.csv
    find lessons results -type f -exec md5sum {} + | sort >"$BATS_TEST_TMPDIR/before"
    make clean
    [ ! -e build ]
    find lessons results -type f -exec md5sum {} + | sort | cmp - "$BATS_TEST_TMPDIR/before"
    make clean
    cp -a "$BATS_TEST_TMPDIR/kept" build
    rm results/row.csv
}

@test "doctor lists the installed tools and the path of the compiler" {
    run make doctor
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output == *nvcc*CUDA* ]]
}

@test "plots draws from results/ alone" {
    command -v gnuplot >/dev/null || skip "gnuplot is not installed"
    mkdir -p results/example-gpu
    cp "$BATS_TEST_DIRNAME"/../plots/fixtures/attention.csv results/example-gpu/
    mv results "with a space"
    run make plots RESULTS="with a space"
    mv "with a space" results
    echo "$output"
    rm -rf results/example-gpu
    [ "$status" -eq 0 ]
    ls build/plots/example-gpu/solutions/*.svg
}
