#!/usr/bin/env bats
# A third operation, a row sum: what it adds is in this folder, under 200 lines with its reference, its entry in the table and
# its cases. Everything else is the harness as it stands: it checks, names a mistake, counts traffic, times and records.

setup_file() {
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    place=$BATS_FILE_TMPDIR
    include=${CUDA_HOME:-/usr/local/cuda}/include
    mkdir -p "$place/bin" "$place/gpu" build/operations
    make --no-print-directory build/bin/attention build/bin/runner build/kernels/tests/operations/row_sum.so >/dev/null || return 1
    sed '1i #define MISTAKE' tests/operations/row_sum.cu >build/operations/short.cu
    cp tests/operations/row_sum.h build/operations
    make --no-print-directory build/kernels/build/operations/short.so >/dev/null || return 1
    library=$(ldd build/bin/runner | awk '$1 ~ /^libcudart/ { print $1; exit }')
    folder=$(ldd build/bin/runner | awk '$1 ~ /^libcudart/ { print $3; exit }' | xargs dirname)
    cp build/bin/attention "$place/bin"
    ln -s "$PWD/build/simulator" "$place/simulator"
    compile="gcc -std=c17 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror -Icommon -isystem $include"
    objects=$(ls build/objects/common/*.o build/objects/common/host/*.o build/objects/common/operations/*.o \
        build/objects/common/runner/*.o build/objects/teach/{layout,shared,expression,text,process}.o | grep -v '/operations/operations\.o$')
    $compile -Itests/operations tests/operations/row_sum.c $objects -o "$place/bin/runner" \
        -L"$folder" -l:"$library" -ldl -lm -pthread || return 1
    # A GPU that does not exist, for the bench.
    echo "$library { global: *; };" >"$place/map"
    $compile -shared -fPIC -Wl,--version-script="$place/map" -Wl,-soname="$library" tests/runner/fake_cudart.c -o "$place/gpu/$library"
    $compile -shared -fPIC -Wl,-soname=libcuda.so.1 tests/runner/fake_driver.c -o "$place/gpu/libcuda.so.1"
    $compile -shared -fPIC -x c -Itests/operations -o "$place/fake_sum.so" - <<'END'
#include "row_sum.h"
void fake_spend(double us);
const int row_sum_version = 1;
cudaError_t row_sum_forward(const struct row_sum_problem *p, cudaStream_t stream) {
    (void)stream;
    for (int64_t r = 0; r < p->rows; r++) {
        double sum = 0;
        for (int c = 0; c < p->columns; c++)
            sum += p->in[r * p->columns + c];
        p->out[r] = (float)sum;
    }
    fake_spend(100);
    return cudaSuccess;
}
END
    export place
}

setup() {
    cd "$BATS_TEST_DIRNAME/../.." || return 1
}

attention() {
    run "$place/bin/attention" "$@"
    echo "$output"
}

@test "a new operation takes under 200 lines, and no other file knows of it" {
    [ "$(wc -l <tests/operations/row_sum.c)" -lt 200 ]
    run grep -rlE --exclude=README.md 'row_sum_|"row sum"' common make scripts simulator Makefile
    [ "$output" = "" ]
}

@test "it is checked on the simulator, over its cases and in a shape of one's own" {
    attention check --name sum --kernel build/kernels/tests/operations/row_sum.so --device sim
    [ "$status" -eq 0 ]
    [[ $output == *"sum: 6 of 6 cases right on "* ]]
    attention check --name sum --kernel build/kernels/tests/operations/row_sum.so --device sim --shape 5,77
    [ "$status" -eq 0 ]
    attention check --name sum --kernel build/kernels/tests/operations/row_sum.so --device sim --shape 1,2,3,4 --dtype bf16
    [ "$status" -eq 2 ]
    [ "$output" = "error: DTYPE=bf16: sum takes fp32" ]
}

@test "its mistake is diagnosed" {
    attention check --name sum --kernel build/kernels/build/operations/short.so --device sim --seed 1
    [ "$status" -eq 1 ]
    [[ $output == *"first: out[0] (row) is "* ]]
    [[ $output == *"diagnosis: the last element is not added [last-element-missing]"* ]]
}

@test "its traffic is counted" {
    SIMULATOR_TRACE=1 SIMULATOR_TRACE_CSV=$BATS_TEST_TMPDIR/trace.csv attention check --name sum \
        --kernel build/kernels/tests/operations/row_sum.so --device sim --sample trace
    [ "$status" -eq 0 ]
    [[ $output == *"SHAPE=16,1000"* ]]
    [ "$(wc -l <"$BATS_TEST_TMPDIR/trace.csv")" -gt 2 ]
}

@test "it is timed, and recorded in a file of its own" {
    cd "$BATS_TEST_TMPDIR"
    LD_LIBRARY_PATH=$place/gpu FAKE_CLOCK=1 attention bench --device gpu --name solution-90_sum --kernel "$place/fake_sum.so" \
        --results results --commit abc
    [ "$status" -eq 0 ]
    [[ $output == *"ROWS,COLUMNS = 64,1000, fp32, "* ]]
    # 64 * 1001 * 4 bytes in 100 us; cold and warm.
    [ "$(cut -d , -f 2,7-11,13 results/fake-gpu/row_sum.csv | sort -u)" = "lesson,dtype,rows,columns,median_us,gb_per_s,cache
solution-90_sum,fp32,64,1000,100.000,2.56,cold
solution-90_sum,fp32,64,1000,100.000,2.56,warm" ]
}
