#!/usr/bin/env bats
# Tensors of 16 bits on the simulator, with a kernel that covers all of the contract: right in both types; and broken ones of
# it are rejected, with the name of their mistake where it has one.

load ../long

setup() {
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    mkdir -p build/dtypes
}

# check FILE.so OPTION...
check() {
    run build/bin/attention check --name lesson-09 --kernel "$1" --device sim --seed 5 "${@:2}"
    echo "$output"
}

# broken NAME SCRIPT OPTION...: what sed makes of the kernel is wrong.
broken() {
    sed "$2" tests/dtypes/attention.cu >build/dtypes/$1.cu
    if cmp -s tests/dtypes/attention.cu build/dtypes/$1.cu; then
        echo "the script '$2' changes nothing" && return 1
    fi
    make --no-print-directory build/kernels/build/dtypes/$1.so >/dev/null
    check build/kernels/build/dtypes/$1.so "${@:3}"
    [ "$status" -eq 1 ]
}

@test "the kernel is right in fp16 and bf16, on the whole matrix in make test-all" {
    make --no-print-directory build/bin/attention build/bin/runner build/kernels/tests/dtypes/attention.so >/dev/null
    check build/kernels/tests/dtypes/attention.so $([ "${TEST_ALL-}" ] || echo --quick)
    [ "$status" -eq 0 ]
    [[ ! ${TEST_ALL-} || $output == *"head dimensions over 256 ("* ]]
    [[ $output =~ ": "([0-9]+)" of "([0-9]+)" cases right" ]]
    [ "${BASH_REMATCH[1]}" -eq "${BASH_REMATCH[2]}" ]
    [ "${BASH_REMATCH[1]}" -ge "$([ "${TEST_ALL-}" ] && echo 120 || echo 10)" ]
}

@test "the output as a file: in its type, with the log-sum-exp, for one type at a time" {
    out=$BATS_TEST_TMPDIR/out
    check build/kernels/tests/dtypes/attention.so --shape 1,2,20,16 --dtype bf16 --out "$out"
    [ "$status" -eq 0 ]
    head -c 128 "$out/o.npy" | grep -aq "'<V2'.*(1, 2, 20, 16)"
    head -c 128 "$out/lse.npy" | grep -aq "'<f4'.*(1, 2, 20)"
    check build/kernels/tests/dtypes/attention.so --shape 1,2,20,16 --out "$out"
    [[ $status -eq 2 && $output == *"has several types: add DTYPE="* ]]
}

@test "eight of 4096 keys are skipped" {
    long
    broken eight-keys 's/key < keys;/key < keys - (p.nk == 4096 ? 8 : 0);/' --shape 1,1,2:4096,64 --dtype bf16
    check build/kernels/build/dtypes/eight-keys.so --shape 1,1,2:4096,64 --dtype fp16
    [ "$status" -eq 1 ]
}

@test "weights in bf16 where tensors are fp16" {
    long
    broken coarse 's/T(weight))/__nv_bfloat16(weight))/' --shape 1,2,20:70,64 --dtype fp16
    [[ $output == *"[rms-error]"* || $output == *"[wrong-elements]"* ]]
    check build/kernels/build/dtypes/coarse.so --shape 1,2,20:70,64 --dtype bf16
    [ "$status" -eq 0 ]
}

@test "scores rounded to 16 bits" {
    long
    broken scores 's/p.softmax_scale \* warp_sum(partial)/to_float(T(p.softmax_scale * warp_sum(partial)))/' --shape 1,1,20:70,64
}

@test "a sum of rounded weights shows in the log-sum-exp" {
    long
    broken sum 's/row_sum \* rescale + weight;/row_sum * rescale + to_float(T(weight));/' --shape 1,1,20:70,64
    [[ $output == *" of lse "*"[wrong-elements]"* ]]
}

@test "query heads that share key heads round-robin" {
    long
    broken groups 's/head \/ (p.heads \/ p.kv_heads)/head % p.kv_heads/' --shape 2,8:4,9:30,64 --dtype bf16
    [[ $output == *"diagnosis: "*"[kv-of-head-by-modulo]"* ]]
}

@test "strides ignored" {
    long
    broken strides 's/batch \* p.o_stride.batch + head \* p.o_stride.head + query \* p.o_stride.row/((batch * p.heads + head) * p.nq + query) * p.head_dim/' \
        --shape 1,3,9:30,64 --layout bnhd
    [[ $output == *"diagnosis: "*"[strides-ignored]"* ]]
}

@test "the log-sum-exp in powers of 2, and of a fully masked row" {
    long
    broken base-2 's/row_max + logf(row_sum);/1.44269504f * (row_max + logf(row_sum));/' --shape 1,2,9:30,64 --dtype bf16
    [[ $output == *"diagnosis: "*"[lse-formula]"* ]]
    broken nothing 's/row_max + logf(row_sum);/keys ? row_max + logf(row_sum) : 0.0f;/' --shape 1,1,30:9,64 --causal --dtype bf16
    [[ $output == *"first: lse[0][0][0] (batch, head, query) is 0, expected -inf"* ]]
    [[ $output == *"[lse-of-masked-row]"* ]]
}
