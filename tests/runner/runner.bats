#!/usr/bin/env bats
# The launcher and the runner with kernels that are C functions, on a CUDA runtime that has no device: every way in which
# a kernel can fail, and its message.

load ../long
load helpers

setup_file() {
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    place=$BATS_FILE_TMPDIR compile=
    include=${CUDA_HOME:-/usr/local/cuda}/include
    mkdir -p "$place/bin" "$place/simulator" "$place/gpu"
    cp build/bin/attention build/bin/runner "$place/bin"
    library=$(ldd build/bin/runner | awk '$1 ~ /^libcudart/ { print $1 }')
    echo "$library { global: *; };" >"$place/map"
    compile="gcc -std=c17 -D_GNU_SOURCE=1 -O2 -Wall -Wextra -Werror -Wno-unused-variable -shared -fPIC -Icommon -isystem $include"
    $compile -Wl,--version-script="$place/map" -Wl,-soname="$library" tests/runner/fake_cudart.c -o "$place/gpu/$library"
    $compile -DSIMULATED -Wl,--version-script="$place/map" -Wl,-soname="$library" tests/runner/fake_cudart.c \
        -o "$place/simulator/$library"
    $compile -Wl,-soname=libcuda.so.1 tests/runner/fake_driver.c -o "$place/gpu/libcuda.so.1"
    own="common/dtype.c common/message.c"
    $compile tests/runner/fake_attention.c $own -o "$place/attention.so" -lm
    $compile -DMODEST tests/runner/fake_attention.c $own -o "$place/modest.so" -lm
    $compile -DSIXTEEN_BITS tests/runner/fake_attention.c $own -o "$place/sixteen.so" -lm
    $compile tests/runner/fake_softmax.c -o "$place/softmax.so" -lm
    gcc -shared -fPIC -x c /dev/null -o "$place/empty.so"
    export place
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    cat >blank.cu <<'END'
    // TODO 1 (about 2 lines): the sum?
    sum += x;
    // END TODO 1
    // TODO 2 (about 3 lines): and the quotient?
    // END TODO 2
END
}

# The launcher, with the fake simulator.
simulated() {
    run "$place/bin/attention" "$1" --name lesson-04 --source blank.cu --kernel "$place/attention.so" --device sim --seed 7 "${@:2}"
    echo "$output"
}

# The same with the fake GPU.
gpu() {
    LD_LIBRARY_PATH=$place/gpu run "$place/bin/attention" "$@" --device gpu --seed 7
    echo "$output"
}

wrong() {
    MISTAKE=$1 simulated check "${@:3}"
    [ "$status" -eq 1 ]
    [[ $output == *"$2"* ]]
}

@test "a right kernel passes the whole matrix" {
    long
    simulated check
    [ "$status" -eq 0 ]
    [[ ${lines[0]} == "lesson-04 on Fake GPU (simulated), "*" cases, seed 7" ]]
    [[ ${lines[-1]} =~ ^"lesson-04: "([0-9]+)" of "([0-9]+)" cases right on Fake GPU (simulated), " ]]
    [ "${BASH_REMATCH[1]}" -eq "${BASH_REMATCH[2]}" ]
    [ "${BASH_REMATCH[1]}" -gt 40 ]
    # Three cases have more keys than this device has shared memory for; and the additional checks on a GPU are listed.
    [ "$(grep -c '^  not run: .* of shared memory a block here' <<<"$output")" -eq 3 ]
    [[ ${lines[-2]} == "  a GPU would add: tensors of more than 2^31 elements"* ]]
    [ "${#lines[@]}" -eq 6 ]
}

@test "a right kernel passes with CAUSAL, in the other layout, on each kind of inputs, and quickly" {
    simulated check --causal --quick
    [ "$status" -eq 0 ]
    simulated check --layout bnhd --quick
    [ "$status" -eq 0 ]
    for family in normal large rising nan-key inf-value tiny; do
        simulated check --inputs $family --shape 1,2,9:70,64
        [ "$status" -eq 0 ]
    done
    simulated check --quick --verbose
    [ "$status" -eq 0 ]
    [ "$(grep -c '^  right ' <<<"$output")" -ge 7 ]
}

@test "a right kernel passes the whole matrix with CAUSAL, and in the other layout" {
    long
    simulated check --causal
    [ "$status" -eq 0 ]
    simulated check --layout bnhd
    [ "$status" -eq 0 ]
}

@test "cases outside a lesson are listed, and are an error when they are requested" {
    run "$place/bin/attention" check --name lesson-01 --kernel "$place/modest.so" --device sim
    [ "$status" -eq 0 ]
    [[ $output =~ "not part of this lesson: causal masks ("[1-9][0-9]*" cases)" ]]
    [[ $output == *"strides (10 cases)"*"grouped heads (4 cases)"* ]]
    for asked in --causal "--shape 1,1,8,8 --causal" "--shape 1,4:2,8,8" "--shape 1,1,8,8 --layout bnhd"; do
        run "$place/bin/attention" check --name lesson-01 --kernel "$place/modest.so" --device sim $asked
        echo "$output"
        [ "$status" -eq 2 ]
        [ "${#lines[@]}" -eq 1 ]
    done
    simulated check --shape 1,1,4:2000,8
    [ "$status" -eq 2 ]
    [[ $output == "error: lesson-04 needs 125.0 KiB of shared memory a block here, and Fake GPU (simulated) has 99.0 KiB" ]]
}

@test "16-bit tensors: both types, grouped heads, strides, log-sum-exp, and the tolerance of their roundings" {
    sixteen="$place/bin/attention check --name lesson-09 --kernel $place/sixteen.so --device sim --seed 7"
    if [ "${TEST_ALL-}" ]; then
        run $sixteen
        echo "$output"
        [ "$status" -eq 0 ]
    fi
    simulated check --quick
    quick=$(sed -n 's/.*: \([0-9]*\) of .* right.*/\1/p' <<<"$output")
    run $sixteen --quick
    [[ $output == *": $((2 * quick)) of $((2 * quick)) cases right"* ]] # in fp16 and in bf16
    run $sixteen --quick --dtype bf16
    [[ $output == *": $quick of $quick cases right"* ]]
    run $sixteen --shape 1,8:2,9,64 --layout 4608,64,512 --causal --dtype fp16 --verbose
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output == *"right  SHAPE=1,8:2,9,64 fp16 causal 4608,64,512 "* ]]
}

@test "a few skipped keys of many, and half of the type's precision fail in 16 bits, with a command that repeats them" {
    long
    for mistake in eight-keys coarse-weights; do
        MISTAKE=$mistake run "$place/bin/attention" check --name lesson-09 --kernel "$place/sixteen.so" --device sim --seed 7 \
            --shape 1,1,4:4096,64 --dtype bf16
        echo "$output"
        [ "$status" -eq 1 ]
        [[ $output == *"again: make lesson-09 check SHAPE=1,1,4:4096,64 DTYPE=bf16 SEED=7 DEVICE=sim"* ]]
    done
}

@test "a type that the lesson does not have, key heads that do not divide, strides that overlap: one line" {
    refused() {
        run "$place/bin/attention" check --name lesson-09 --kernel "$place/sixteen.so" --device sim "${@:2}"
        echo "$output"
        [ "$status" -eq 2 ]
        [ "$output" = "error: $1" ]
    }
    refused "DTYPE=fp32: lesson-09 takes fp16 or bf16" --dtype fp32
    refused "DTYPE=fp8 is unknown: use fp32, fp16, bf16 or e4m3 [unknown-value]" --dtype fp8
    refused "SHAPE=1,8:3,9,64 cannot be used: 8 heads cannot share 3 key heads evenly [unknown-value]" --shape 1,8:3,9,64
    refused "LAYOUT=576,64,64: elements of q and o overlap: from one row to the next are 64 elements, and 128 are needed [conflict]" \
        --shape 1,2,9,64 --layout 576,64,64
    refused "LAYOUT=1,2 is unknown: use bhnd, bnhd, mixed, pages16, or three strides in elements, BATCH,HEAD,ROW [unknown-value]" --shape 1,2,9,64 --layout 1,2
    refused "strides in LAYOUT are those of one shape: give SHAPE=B,H,N,D, too [conflict]" --layout 576,64,64
}

@test "a wrong output: number, map, first element, command that repeats it, open blank" {
    wrong last-key "[wrong-output]" --shape 1,2,9:70,64
    [[ $output == *"wrong  case SHAPE=1,2,9:70,64: wrong output [wrong-output]"* ]]
    [[ $output == *" of 1152 elements wrong [wrong-elements]"* ]]
    [[ $output == *"first: o[0][0]["*", expected "* ]]
    [[ $output != *" |"* ]] # no map of what is not finished
    [[ $output == *"again: make lesson-04 check SHAPE=1,2,9:70,64 SEED=7 DEVICE=sim"* ]]
    [[ $output == *"blank.cu:4: TODO 2 (about 3 lines): and the quotient?"* ]]
    [[ $output == *"TODO 2"*"wrong  case"* ]]
    [[ ${lines[-1]} == "lesson-04: 0 of 1 case right on "* ]]
    rm blank.cu
    wrong last-key "heads with wrong elements: 2 of 2" --shape 1,2,9:70,64
    [[ $output != *" |"* ]] # nor of what has nothing that is right
    wrong last-key "  map of the output of batch 0 head 0 (line: 2 queries; character: 2 elements; # wrong, . right)" --shape 1,2,30:20,64 --causal # fully masked rows are right
    [[ $output == *" |"* ]]
    wrong last-key "SHAPE=2,3,5,8 CAUSAL=1 LAYOUT=bnhd INPUTS=large SEED=7" --shape 2,3,5,8 --causal --layout bnhd --inputs large
}

@test "the command that repeats a failing case of the matrix fails in the same way" {
    wrong first-head "again: make"
    again=$(sed -n 's/.*again: make lesson-04 check SHAPE=\([^ ]*\).* SEED=\([0-9]*\) DEVICE=sim/--shape \1 --seed \2/p' <<<"$output" | head -1)
    first=$(grep -m 1 'first: ' <<<"$output")
    wrong first-head "$first" $again
}

@test "three failing cases are enough" {
    wrong last-key "stopped after "
    [ "$(grep -c '^wrong ' <<<"$output")" -eq 3 ]
    [[ $output =~ "stopped after "[0-9]+" of "[0-9]+" cases" ]]
}

@test "a wrong log-sum-exp, one wrong head, unwritten elements, NaN" {
    wrong lse "33 of 33 elements of lse wrong [wrong-elements]"
    rm blank.cu # without an open blank there is a diagnosis
    wrong lse "[lse-formula]"
    wrong first-head "heads with wrong elements: 1 of 2" --shape 1,2,9,64
    wrong unwritten "  1 of 576 elements was never written: it still holds the initial poison value [unwritten-elements]" --shape 1,1,9,64
    wrong nothing "  the whole output was never written: the kernel stored nothing there [unwritten-output]" --shape 1,1,9,64
    wrong nothing "diagnosis: the kernel writes no output [nothing-written]" --shape 1,1,9,64
    wrong nan "  1 element is NaN or infinite instead of finite [not-finite-elements]" --shape 1,1,9,64
    wrong nan "first: o[0][0][0][0]" --shape 1,1,9,64
}

@test "errors of launches and kernels" {
    wrong error "attention_forward() returned an error: some other error (cudaErrorOther) [launch-error]"
    wrong unreported "[launch-error-not-returned]"
    wrong asynchronous "[kernel-failed]"
    wrong illegal-address "a kernel failed while it ran: an illegal memory access was encountered (cudaErrorIllegalAddress) [kernel-failed]"
    [ "$(grep -c '^wrong ' <<<"$output")" -eq 3 ] # the device was reset and the check went on
    FAKE_NO_RESET=1 wrong illegal-address "stopped after 1 of "
}

@test "a finding of the simulator fails a case with the right numbers" {
    wrong finding "the simulator reported 1 error, see above [simulator-errors]" --shape 1,1,9,64
    [[ $output == *"race: two threads wrote the same byte"* ]]
    [[ $output != *"[wrong-elements]"* ]]
}

@test "a kernel that crashes, aborts or hangs ends only the runner" {
    wrong crash "error: crashed in case SHAPE=1,1,9,64: Segmentation fault [crashed]" --shape 1,1,9,64
    wrong abort "error: crashed in case SHAPE=1,1,9,64: Aborted [crashed]" --shape 1,1,9,64
    wrong exit "error: the process exited in case SHAPE=1,1,9,64: a kernel file must not call exit() [exited]" --shape 1,1,9,64
    SECONDS=0
    MISTAKE=endless gpu check --name lesson-04 --source blank.cu --kernel "$place/attention.so" --shape 1,1,9,64 --time-limit 1
    [ "$status" -eq 1 ]
    [[ $output == *"error: case SHAPE=1,1,9,64 took more than 1 s and was stopped: an endless loop? TIME_LIMIT=5 raises the limit [time-limit]"* ]]
    [ "$SECONDS" -le 30 ]
    [ -z "$(pgrep -f "$place/bin/runner")" ]
}

@test "a case of the simulator that takes too long is not verified, and the others are checked" {
    MISTAKE=endless simulated check --shape 1,1,9,64 --time-limit 1
    [ "$status" -eq 3 ]
    [[ $output == *"not verified: case SHAPE=1,1,9,64: it took more than 1 s, "*"TIME_LIMIT=5 raises the limit. [not-verified]"* ]]
    [[ $output != *wrong* ]]
    MISTAKE=endless-once simulated check --time-limit 1 --quick
    [ "$status" -eq 0 ]
    [[ $output == *", 1 not verified, "* ]]
    MISTAKE=endless simulated check --time-limit 1
    [ "$status" -eq 3 ]
    [[ $output == *"stopped after 3 of "* ]]
}

@test "a kernel that refuses most cases is not checked, whatever the others say" {
    MISTAKE=inflated simulated check
    [ "$status" -eq 1 ]
    [[ $output == *" cases of the contract ran, which is no check: "*"[too-few-cases]"* ]]
}

@test "the time of other programs is not that of a case" {
    # Eight others on the one processor leave the case, which computes for a second, some nine of the clock.
    taskset -p -c "$(taskset -p -c $$ | grep -o '[0-9]*$')" $$ >/dev/null
    others=
    for _ in 1 2 3 4 5 6 7 8; do
        (while :; do :; done) 3>&- &
        others="$others $!"
    done
    SECONDS=0
    MISTAKE=slow simulated check --shape 1,1,9,64 --time-limit 3
    kill $others
    [ "$SECONDS" -ge 4 ]
    [ "$status" -eq 0 ]
    [[ $output != *verified* ]]
}

@test "Ctrl-C ends the launcher and what it started" {
    MISTAKE=endless "$place/bin/attention" check --kernel "$place/attention.so" --device sim >out 2>&1 &
    launcher=$!
    until_running
    kill -INT $launcher
    status=0
    wait $launcher || status=$?
    [ "$status" -eq 130 ]
    [ -z "$(pgrep -f "$place/bin/runner")" ]
}

@test "on a GPU writes around the tensors are detected" {
    gpu check --kernel "$place/attention.so" --shape 2,3,17,33
    [ "$status" -eq 0 ]
    MISTAKE=past-the-end gpu check --kernel "$place/attention.so" --shape 2,3,17,33
    [ "$status" -eq 1 ]
    [[ $output == *"the kernel writes out of bounds, next to a tensor [out-of-bounds-write]"*"past the end of o,"* ]]
    MISTAKE=before-the-start gpu check --kernel "$place/attention.so" --shape 2,3,17,33
    [ "$status" -eq 1 ]
    MISTAKE=past-the-end gpu check --kernel "$place/softmax.so" --shape 5,7
    [ "$status" -eq 1 ]
    [[ $output == *"[out-of-bounds-write]"*"past the end of out,"* ]]
}

@test "tensors of more than 2^24 values repeat, on the device and in the reference" {
    long
    gpu check --kernel "$place/attention.so" --shape 1,3,12001:3,512
    [ "$status" -eq 0 ]
    MISTAKE=first-head gpu check --kernel "$place/attention.so" --shape 1,3,12001:3,512
    [ "$status" -eq 1 ]
}

@test "of very many rows a sample is compared, and all are checked for unwritten elements" {
    MISTAKE=first-head gpu check --kernel "$place/attention.so" --shape 1,2,70000:2,8
    [ "$status" -eq 1 ]
    [[ $output == *"(a sample of the rows)"* ]]
    MISTAKE=unwritten gpu check --kernel "$place/attention.so" --shape 1,2,70000:2,8
    [ "$status" -eq 1 ]
    [[ $output == *"1 of 1120000 elements "*"[unwritten-elements]"* ]]
}

@test "SHAPE that is too large for the memory" {
    simulated check --shape 1,16,100000:8,512
    [ "$status" -eq 2 ]
    [[ $output == "error: SHAPE=1,16,100000:8,512 needs "*" GiB of memory, and Fake GPU (simulated) has "* ]]
    [ "${#lines[@]}" -eq 1 ]
    gpu check --kernel "$place/softmax.so" --shape 1000000,10000
    [ "$status" -eq 2 ]
    [ "${#lines[@]}" -eq 1 ]
}

@test "libraries that cannot be used" {
    for file in missing.so blank.cu "$place/empty.so"; do
        run "$place/bin/attention" check --kernel "$file" --device sim
        echo "$output"
        [ "$status" -eq 2 ]
        [ "${#lines[@]}" -eq 1 ]
    done
    gpu bench --kernel "$place/softmax.so" --kernel "$place/attention.so" --shape 5,7
    [ "$status" -eq 2 ]
}

@test "a row softmax is checked" {
    run "$place/bin/attention" check --name lesson-03 --kernel "$place/softmax.so" --device sim
    echo "$output"
    [ "$status" -eq 0 ]
    for mistake in maximum unwritten; do
        MISTAKE=$mistake run "$place/bin/attention" check --name lesson-03 --kernel "$place/softmax.so" --device sim
        echo "$output"
        [ "$status" -eq 1 ]
        [[ $output == *"first: out["*"again: make lesson-03 check SHAPE="*" INPUTS="* ]]
    done
}

@test "own tensors" {
    cd "$BATS_TEST_DIRNAME/../.."
    simulated check --data tests/fixtures/torch/batch_heads
    [ "$status" -eq 0 ]
    [[ $output == *"o.npy differs from the reference by a relative rms of "* ]]
    simulated check --data tests/fixtures/torch/batch_heads --causal
    [ "$status" -eq 1 ]
    [[ $output == *"o.npy is not the attention of q, k and v, causal, "* ]]
    cp -r tests/fixtures/minilm "$BATS_TEST_TMPDIR/broken"
    truncate -s -1 "$BATS_TEST_TMPDIR/broken/k.npy"
    simulated check --data "$BATS_TEST_TMPDIR/broken"
    [ "$status" -eq 2 ]
    [[ $output == *"k.npy has 316415 bytes of data"*"truncated" ]]
}

@test "bench times interleaved, records what was verified, and nothing on the simulator" {
    gpu bench --name lesson-01 --kernel "$place/attention.so" --name lesson-02 --kernel "$place/modest.so" \
        --shape 1,2,64,32 --results results --commit abc
    [ "$status" -eq 0 ]
    [[ $output == *"B,H,N,D = 1,2,64,32, fp32, 32 sets of inputs"* ]]
    [ "$(wc -l <results/fake-gpu/attention.csv)" -eq 5 ] # two kernels, cold and warm
    [ "$(cut -d, -f1 results/fake-gpu/attention.csv | sort -u | wc -l)" -eq 2 ] # the header's and one run
    gpu bench --name lesson-03 --kernel "$place/softmax.so" --shape 64,64 --results results
    [ "$status" -eq 0 ]
    [ "$(wc -l <results/fake-gpu/softmax.csv)" -eq 2 ]
    MISTAKE=last-key gpu bench --kernel "$place/attention.so" --shape 1,2,64,32 --results other
    [ "$status" -eq 1 ]
    [ ! -e other ]
    run "$place/bin/attention" bench --kernel "$place/attention.so" --device sim
    [ "$status" -eq 2 ]
}

@test "no colour outside a terminal, and none with NO_COLOR" {
    simulated check --quick
    [[ $output != *$'\033'* ]]
    run script -qec "$place/bin/attention check --kernel $place/attention.so --device sim --quick" /dev/null
    [[ $output == *$'\033[32m'* ]]
    NO_COLOR=1 run script -qec "$place/bin/attention check --kernel $place/attention.so --device sim --quick" /dev/null
    [[ $output != *$'\033[3'* ]]
}
