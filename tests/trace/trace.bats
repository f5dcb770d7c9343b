#!/usr/bin/env bats
# What `make solution-NN trace` prints and writes. Works in the checkout itself: a trace writes to build/ only.

load ../long

setup() {
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    unset DEVICE SHAPE CAUSAL DATA KERNEL SEED TIME_LIMIT MAKEFLAGS MAKELEVEL
}

# Each count of the block "Predictions of the lesson" is the predicted one.
all_as_predicted() {
    awk '/^Predictions of the lesson/ { on = 1; next } on && /^$/ { exit } on && / [0-9.]+$/ { rows++; bad += $NF != "1.000" }
        END { exit !rows || bad }' <<<"$output"
}

@test "the solutions move what their pages predict: every fifth at a small shape, or all at their own in make test-all" {
    # What is predicted are formulas of the shape: a small one tells as much.
    shape=$([ "${TEST_ALL-}" ] || echo SHAPE=1,1,256,64)
    for number in $(printf '%s\n' solutions/[0-9][0-9]_* | sed 's,.*/\(..\)_.*,\1,' | awk -v all="${TEST_ALL-}" '$1 % 5 == 4 || all'); do
        # The small shape is one of attention on one GPU; the others' own shapes are left to make test-all.
        [ "${TEST_ALL-}" ] || ! grep -qE 'decode|backward|ring_attention' "solutions/${number}"_*/attention.cu || continue
        run make solution-$number trace $shape
        echo "$output"
        [ "$status" -eq 0 ]
        all_as_predicted
    done
}

@test "lines, registers and occupancy are shown; CSV and JSON are written" {
    run make solution-04 trace SHAPE=1,2,64,64
    [ "$status" -eq 0 ]
    [[ $output == *"attention_kernel  grid 4x1x1, block 128x1x1"* ]]
    # Registers are known where there is machine code.
    [ "${KERNEL_CODE-}" = ptx ] || [[ $output == *"ptxas: "*" registers per thread, no spills; "*" warps per SM, "* ]]
    [[ $output == *"P_smem[row_of<T>(i, lane)][column_of<T>(j, lane)] = S_rmem[i]"* ]]
    name=build/trace/solution-04_tiled_online_softmax-attention
    head -n 1 $name.csv | grep -q '^group,kernel,mangled,launches,'
    # As many accesses in the one as in the other, and the JSON is whole.
    [ "$(tail -n +2 $name.csv | wc -l)" -eq "$(grep -c '"instruction": ' $name.json)" ]
    [ "$(tail -n 1 $name.json)" = "]}" ]
}

@test "a bank conflict is seen: rows of K without their padding" {
    long
    mkdir -p build/trace/test
    sed 's/float K\[KEYS\]\[D + 4\]/float K[KEYS][D]/' solutions/04_tiled_online_softmax/attention.cu >build/trace/test/kernel.cu
    run make trace KERNEL=build/trace/test/kernel.cu
    echo "$output"
    [ "$status" -eq 0 ]
    # 32 passes where four would do.
    grep -A 1 'const float4 k ' <<<"$output" | grep -q ' 8\.0 '
}

@test "a kernel that fails its check is traced, and the trace says so" {
    long
    mkdir -p build/trace/test
    sed 's/wide, p\.softmax_scale)/wide)/' solutions/04_tiled_online_softmax/attention.cu >build/trace/test/wrong.cu
    run make trace KERNEL=build/trace/test/wrong.cu
    [ "$status" -ne 0 ]
    [[ $output == *"shared load, 16 B per lane"* ]]
    [[ $output == *"[check-failed]"* ]]
}

@test "a trace needs the simulator" {
    run scripts/teach trace --name x --source x.cu --kernel x.so --device gpu
    [ "$status" -eq 2 ]
    [[ $output == *"[simulator-only]"* ]]
}

@test "a formula that is not arithmetic is refused" {
    long
    folder=build/trace/test/formula
    mkdir -p $folder
    cp solutions/04_tiled_online_softmax/attention.cu $folder/
    printf 'name,unit,formula\nglobal_load_bytes,bytes,"system(1)"\n' >$folder/predictions.csv
    run make trace KERNEL=$folder/attention.cu
    [ "$status" -ne 0 ]
    [[ $output == *"predictions.csv:2: the formula system(1) uses more than"* ]]
}

@test "a wrong kernel is traced in one launch of the case, and not in those of a diagnosis" {
    long
    mkdir -p build/trace/test
    sed 's/row_sum\[i\] \*= rescale;//' solutions/04_tiled_online_softmax/attention.cu >build/trace/test/wrong.cu
    run make trace KERNEL=build/trace/test/wrong.cu SHAPE=1,1,64:128,64
    echo "$output"
    [ "$status" -ne 0 ]
    [ "$(grep -c '^attention_kernel  grid' <<<"$output")" -eq 1 ]
}

@test "what is right and wastes is told its price; what the solution does is not" {
    folder=build/trace/test/02_vectorized
    mkdir -p $folder
    sed '/^    const float sum = softmax/i\    float scan = 0;\n    for (int c = 0; c < 4 * columns; c++)\n        scan += Q_smem[c % columns].x; // wasted\n    if (scan == 12345.678f)\n        weight[0] = 0;' \
        solutions/02_vectorized/attention.cu >$folder/attention.cu
    make build/kernels/$folder/attention.so build/kernels/solutions/02_vectorized/attention.so
    run build/bin/teach compare --name wasteful --source $folder/attention.cu --kernel build/kernels/$folder/attention.so
    echo "$output"
    line=$(grep -n '// wasted' $folder/attention.cu | cut -d : -f 1)
    [[ $status -eq 0 && $output == "correct, but uses 4."[0-9]"x the solution's shared loads, most of them at line $line"*"[more-traffic]"* ]]
    # In a function of the file's own: its line, not that of its call.
    sed -e '0,/^template <bool VECTORIZED>/s//__device__ float scan_of(const float4 *values, int count) {\n    float scan = 0;\n    for (int c = 0; c < 4 * count; c++)\n        scan += values[c % count].x; \/\/ wasted\n    return scan;\n}\n\n&/' \
        -e '/^    const float sum = softmax/i\    if (scan_of(Q_smem, columns) == 12345.678f)\n        weight[0] = 0;' \
        solutions/02_vectorized/attention.cu >$folder/attention.cu
    make build/kernels/$folder/attention.so
    run build/bin/teach compare --name wasteful --source $folder/attention.cu --kernel build/kernels/$folder/attention.so
    echo "$output"
    line=$(grep -n '// wasted' $folder/attention.cu | cut -d : -f 1)
    [[ $status -eq 0 && $output == *"x the solution's shared loads, most of them at line $line"*"[more-traffic]"* ]]
    run build/bin/teach compare --name solution --source solutions/02_vectorized/attention.cu \
        --kernel build/kernels/solutions/02_vectorized/attention.so
    [[ $status -eq 0 && $output == "Estimated "* && ${#lines[@]} -eq 2 ]]
}

@test "what is recorded of the solutions is what is counted" {
    scripts/record-counts --check 01 02
    long # the other lessons
    scripts/record-counts --check
}
