#!/usr/bin/env bats
# bench on a GPU that does not exist: kernels are C functions, and its clock is the tests'. A run is stopped and goes on, noise
# is seen and timed again, results of two GPUs are not mixed.

bats_require_minimum_version 1.5.0
load ../long
load helpers

setup_file() {
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    place=$BATS_FILE_TMPDIR
    include=${CUDA_HOME:-/usr/local/cuda}/include
    mkdir -p "$place/bin" "$place/gpu"
    cp build/bin/attention build/bin/runner "$place/bin"
    library=$(ldd build/bin/runner | awk '$1 ~ /^libcudart/ { print $1 }')
    echo "$library { global: *; };" >"$place/map"
    compile="gcc -std=c17 -D_GNU_SOURCE=1 -O2 -Wall -Wextra -Werror -shared -fPIC -Icommon -isystem $include"
    $compile -Wl,--version-script="$place/map" -Wl,-soname="$library" tests/runner/fake_cudart.c -o "$place/gpu/$library"
    for name in libcuda.so.1 libnvidia-ml.so.1; do
        $compile -Wl,-soname=$name tests/runner/fake_driver.c -o "$place/gpu/$name"
    done
    $compile tests/runner/fake_timed.c -o "$place/timed.so" -lm
    $compile tests/runner/fake_softmax.c -o "$place/softmax.so" -lm
    $compile -DLACKING tests/runner/fake_timed.c -o "$place/lacking.so" -lm
    $compile tests/runner/fake_ceilings.c -o "$place/ceilings.so" -lm
    export place
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    export LD_LIBRARY_PATH=$place/gpu FAKE_CLOCK=1 NO_COLOR=1
    rows=results/fake-gpu/attention.csv
    two="--name solution-01_first --kernel $place/timed.so --name solution-02_second --kernel $place/timed.so"
    ladder="$two --sizes 16,32,48,64 --ceilings $place/ceilings.so --results results --commit abc --state state --seed 7"
}

bench() {
    run "$place/bin/attention" bench --device gpu "$@"
    echo "$output"
}

# column NAME of each row of the file $2 that has $3 in it.
column() {
    awk -F , -v name="$1" -v part="${3-}" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        index($0, part) { print $at[name] }' "$2"
}

# Starts the ladder and stops it once there are $1 rows.
stop_after() {
    PAUSE=0.3 "$place/bin/attention" bench --device gpu $ladder "${@:2}" >out 2>err &
    launcher=$!
    for _ in $(seq 300); do
        [ "$(cat "$rows" 2>/dev/null | wc -l)" -gt "$1" ] && break
        sleep 0.1
    done
    kill -INT $launcher
    status=0
    wait $launcher || status=$?
    cat out err
    [ "$status" -eq 130 ]
}

@test "the whole plan: ceilings before and after, every size cold and warm, one run" {
    bench $ladder
    [ "$status" -eq 0 ]
    [ "$(tail -n +2 $rows | wc -l)" -eq 32 ] # 2 kernels, 2 head dimensions, 4 sizes, cold and warm
    [ "$(cut -d , -f 2,11,13,29 $rows | tail -n +2 | sort -u | wc -l)" -eq 32 ]
    [ "$(column cache $rows | sort | uniq -c | xargs)" = "16 cold 16 warm" ]
    [ "$(column noise $rows | sort -u)" = steady ]
    [ "$(cat results/fake-gpu/*.csv | grep -v '^run,' | cut -d , -f 1 | sort -u | wc -l)" -eq 1 ]
    [ "$(column what results/fake-gpu/ceilings.csv | xargs)" = "copy fma_fp32 copy fma_fp32" ]
    [[ ${lines[-1]} == "added to results/fake-gpu as run "* ]]
    [ -z "$(ls state)" ]
}

@test "medians, TFLOP/s and ceilings follow from the clock" {
    bench $ladder
    # 200 us at 64 x 64, in proportion to the pairs below that.
    [ "$(column median_us $rows ,64,64,64,0, | sort -u)" = 200.000 ]
    [ "$(column median_us $rows ,16,16,128,0, | sort -u)" = 12.500 ]
    [ "$(column tflops $rows ,64,64,64,0, | sort -u)" = 0.0839 ] # 4 * 16 * 64^3 FLOPs in 200 us
    # 10^9 FLOPs in 10 ms; an eighth of the memory, 2^25 bytes, read and written in 25 ms: cudaMemcpy takes 34.
    [ "$(column median results/fake-gpu/ceilings.csv fma_fp32 | sort -u)" = 0.100 ]
    [ "$(column median results/fake-gpu/ceilings.csv copy | sort -u)" = 2.684 ]
    [ "$(grep -c '^reached: copy 3 GB/s by a float4 kernel (2 by cudaMemcpy), fp32 multiply-add 0.1 TFLOP/s$' <<<"$output")" -eq 2 ]
    [ "$(column sm_clock_before_mhz $rows | sort -u)" = 1980 ]
}

@test "a stopped bench keeps whole shapes and reports them; the next bench resumes the same run" {
    stop_after 5
    kept=$(tail -n +2 $rows | wc -l)
    [ $((kept % 4)) -eq 0 ] # the rows of a shape are there or not
    [ "$(grep -c . err)" -eq 1 ]
    [[ $(cat err) =~ ^$'\n'?"stopped: "([0-9]+)" of 10 steps are recorded in results/fake-gpu as run "([-T0-9]+)"; the same command resumes the run, FRESH=1 starts over"$ ]]
    steps=${BASH_REMATCH[1]} first=${BASH_REMATCH[2]}
    [ $((steps - 1)) -eq $((kept / 4)) ]
    bench $ladder
    [ "$status" -eq 0 ]
    [[ $output == *"resumes run $first: $steps of 10 steps are already recorded; FRESH=1 starts over [resumed]"* ]]
    [ "$(column run $rows | sort -u)" = "$first" ]
    [ "$(tail -n +2 $rows | wc -l)" -eq 32 ]
    [ "$(cut -d , -f 2,11,13,29 $rows | tail -n +2 | sort -u | wc -l)" -eq 32 ]
    [ "$(wc -l <results/fake-gpu/ceilings.csv)" -eq 5 ]
    # Complete: the next one is another run.
    bench $ladder
    [ "$(column run $rows | sort -u | wc -l)" -eq 2 ]
    [[ $output != *"[resumed]"* ]]
}

@test "a run is not resumed with another driver, GPU, commit or kernel, and FRESH starts over" {
    long
    ladder=${ladder/16,32,48,64/16,32}
    stop_after 1
    first=$(column run $rows | sort -u)
    cp -r results kept && cp -r state remembered
    again() { rm -rf results state; cp -r kept results; cp -r remembered state; }
    DRIVER=600.2 bench $ladder
    [[ $output == *"run $first was interrupted and cannot be resumed: the driver was 500.1 and is 600.2; starting a new run [not-resumed]"* ]]
    [ "$(column run $rows | sort -u | wc -l)" -eq 2 ]
    again
    bench $ladder --commit abc-dirty
    [[ $output == *"the commit was abc and is abc-dirty"*"[not-resumed]"* ]]
    again
    cp "$place/timed.so" changed.so
    echo >>changed.so
    bench ${ladder/$place\/timed.so/changed.so}
    [[ $output == *"the library of solution-01_first was "*" and is "*"[not-resumed]"* ]]
    again
    FAKE_NAME="Other GPU" bench $ladder
    [ "$status" -eq 0 ]
    [[ $output != *"[resumed]"* ]]
    [ "$(wc -l <results/other-gpu/attention.csv)" -eq 17 ]
    [ "$(cat results/fake-gpu/attention.csv | cksum)" = "$(cat kept/fake-gpu/attention.csv | cksum)" ]
    again
    bench $ladder --fresh
    [[ $output != *"$first"* ]]
    [ "$(column run $rows | sort -u | wc -l)" -eq 2 ]
    again
    bench ${ladder/16,32/16}
    [[ $output != *"$first"* ]] # another list of sizes is another run
}

@test "a kernel that crashes: the rows recorded before are kept and reported" {
    CRASH=32 bench $ladder
    [ "$status" -eq 1 ]
    [[ $output == *"error: "*" B,H,N,D = 1,16,32,64, verifying solution-01_first: Segmentation fault [crashed]"* ]]
    [[ ${lines[-1]} == "stopped: 2 of 10 steps are recorded in results/fake-gpu as run "* ]]
    [ "$(tail -n +2 $rows | wc -l)" -eq 4 ]
    bench $ladder
    [ "$status" -eq 0 ]
    [[ $output == *": 2 of 10 steps "*"[resumed]"* ]]
    [ "$(tail -n +2 $rows | wc -l)" -eq 32 ]
    bench $two --shape 1,100,1000000,64 --results results # bad input is one line, and keeps nothing
    [ "$status" -eq 2 ]
    [ "${#lines[@]}" -eq 2 ]
    [[ ${lines[1]} == "error: SHAPE=1,100,1000000,64: needs "* ]]
}

@test "a bench that is stopped before it records a row reports that" {
    PAUSE=300 "$place/bin/attention" bench --device gpu $two --sizes 16 --results results --state state >out 2>err &
    launcher=$!
    until_running
    kill -INT $launcher
    wait $launcher || true
    [ "$(grep . err)" = "stopped: nothing was recorded" ]
    [ ! -e results ]
    bench $two --sizes 16 --results results --state state
    [[ $output != *"[resumed]"* ]]
}

@test "a case that is noisy once is timed again and not marked" {
    # Every fifth launch takes twice as long, but only for a while.
    NOISE=20 NOISE_LAUNCHES=100 bench $two --shape 1,16,64,64 --results results --commit abc
    [ "$status" -eq 0 ]
    [ "$(column noise $rows | sort -u)" = steady ]
    [ "$(column p95_us $rows | sort -u)" = 200.000 ]
    [[ $output != *noisy* ]]
}

@test "a case that stays noisy is marked in the rows, in the table and at the end" {
    NOISE=20 bench $two --shape 1,16,64,64 --results results --commit abc
    [ "$status" -eq 0 ]
    [ "$(column noise $rows | sort -u)" = noisy ]
    [ "$(column p95_us $rows | sort -u)" = 400.000 ]
    [ "$(grep -c 'e-0[0-9]  noisy$' <<<"$output")" -eq 2 ]
    [ "$(grep -c '^4 timings are noisy: spread over more than 5 %' <<<"$output")" -eq 1 ]
}

@test "a clock that drops while a shape is timed is noise" {
    DROP=3 bench $two --shape 1,16,64,64 --results results --commit abc
    [ "$(column noise $rows | sort -u)" = noisy ]
    [[ $output == *"or the SM clock dropped"* ]]
}

@test "short launches are timed in batches; differences below the resolution of events are no noise" {
    long
    # 1.25 us a launch, 80 of them between two events that are off by up to 0.9 us.
    export US=20
    FAKE_JITTER=0.9 bench $two --shape 1,16,16,64 --results results --commit abc
    [ "$(column noise $rows | sort -u)" = steady ]
    awk -F , 'NR > 1 && ($15 < 1.25 || $15 > 1.28) { exit 1 }' $rows
    rm -r results
    # Where L2 is overwritten before each launch they cannot be batched.
    FAKE_JITTER=0.9 bench $two --shape 1,1,16,16 --results results --commit abc
    [ "$(column noise $rows ,cold, | sort -u)" = steady ]
    awk -F , 'NR > 1 && $15 > 1.5 { found = 1 } END { exit !found }' $rows
    rm -r results
    FAKE_JITTER=3 bench $two --shape 1,1,16,16 --results results --commit abc
    [ "$(column noise $rows ,cold, | sort -u)" = noisy ]
}

@test "inputs too small to rotate through L2: L2 is overwritten, and the table says so" {
    bench $two --shape 1,1,16,16 --results results --commit abc
    [[ $output == *"64 sets of inputs, L2 overwritten before each launch"* || $output == *"63 sets of inputs, L2 overwritten before each launch"* ]]
    bench $two --shape 1,16,64,64 --results results --commit abc
    [[ $output != *overwritten* ]]
}

@test "rows of another GPU are never added to a folder, whether name or SMs differ" {
    bench $two --shape 1,16,16,64 --results results --commit abc
    before=$(cksum <$rows)
    FAKE_SMS=20 bench $two --shape 1,16,16,64 --results results --commit abc
    [ "$status" -eq 2 ]
    [[ ${lines[-1]} == "error: results/fake-gpu/attention.csv has rows of another GPU than Fake GPU with 20 SMs: "* ]]
    FAKE_NAME="Fake_GPU" bench $two --shape 1,16,16,64 --results results --commit abc
    [ "$status" -eq 2 ]
    [ "$(cksum <$rows)" = "$before" ]
    printf 'half,a,row' >>$rows
    bench $two --shape 1,16,16,64 --results results --commit abc
    [ "$status" -eq 2 ]
    [[ ${lines[-1]} == *"ends in half a row: delete its last line first" ]]
}

@test "results that cannot be written are refused before anything is timed" {
    # Root may write everywhere, unless it gives that up.
    as=
    [ "$(id -u)" -ne 0 ] || as="setpriv --bounding-set -dac_override"
    mkdir results
    chmod a-w results
    run $as "$place/bin/attention" bench --device gpu $two --sizes 16 --ceilings "$place/ceilings.so" --results results/own \
        --commit abc
    echo "$output"
    [ "$status" -eq 2 ]
    [ "${#lines[@]}" -eq 2 ]
    [[ ${lines[1]} == "error: results/own/fake-gpu/attention.csv cannot be written, as results: Permission denied; RESULTS=folder selects another folder" ]]
}

@test "a baseline that cannot run here is reported once, and the others are timed" {
    bench $two --name baseline-cublas_unfused --kernel "$place/lacking.so" --sizes 16,32 --results results --commit abc
    [ "$status" -eq 0 ]
    [ "$(grep -c 'baseline-cublas_unfused' <<<"$output")" -eq 1 ]
    [[ $output == *"baseline-cublas_unfused is skipped: a library is missing [skipped]"* ]]
    [ "$(grep -c baseline $rows)" -eq 0 ]
    [ "$(tail -n +2 $rows | wc -l)" -eq 16 ]
    bench $two --name solution-03_third --kernel "$place/lacking.so" --sizes 16 --results results --commit abc
    [ "$status" -eq 1 ]
}

@test "attention and row softmax in one run" {
    long
    bench $two --name solution-03_softmax --kernel "$place/softmax.so" --sizes 16 --results results --commit abc --quick
    [ "$status" -eq 2 ]
    bench $two --shape 1,16,16,64 --results results --commit abc --name solution-03_softmax --kernel "$place/softmax.so"
    [ "$status" -eq 0 ]
    [ "$(cat results/fake-gpu/*.csv | grep -v '^run,' | cut -d , -f 1 | sort -u | wc -l)" -eq 1 ]
    [ "$(column rows results/fake-gpu/softmax.csv)" = 256 ]
}

@test "a terminal shows one progress line: shape, step, percentage, time left; other outputs have none" {
    export TERM=xterm
    run script -qec "stty cols 200; $place/bin/attention bench --device gpu $ladder" /dev/null
    [[ $output == *$'\r\033[K'* ]]
    grep -aq '  0 % (1 of 10) ceilings: ' <<<"$output"
    grep -aqE ' [0-9]+ % \([0-9]+ of 10\) B,H,N,D = 1,16,[0-9]+,(64|128): timing, repetition [0-9]+ of [0-9]+; about [0-9]+ s left' <<<"$output"
    # Each table row is a line of its own once the terminal has done what it is told.
    [ "$(tr '\r' '\n' <<<"$output" | sed 's/^\x1b\[K//' | grep -ac '^  solution-01_first ')" -eq 8 ]
    run script -qec "stty cols 50; $place/bin/attention bench --device gpu $ladder" /dev/null
    tr '\r' '\n' <<<"$output" | sed 's/\x1b\[K//g' | grep -a ' of 10) ' | awk 'length($0) > 49 { exit 1 }'
    # What ends a run takes the place of that line.
    CRASH=32 run script -qec "$place/bin/attention bench --device gpu $ladder" /dev/null
    [[ $output == *$'\r\033[K'"error: "*"B,H,N,D = 1,16,32,64"*"[crashed]"* ]]
    # Asked whether it could run, it says nothing where it could.
    [ -z "$(bench --ready --sizes 16 --results results)" ]
    bench $ladder --fresh
    [[ $output != *$'\033'* && $output != *$'\r'* && $output != *"of 10)"* ]]
}

@test "SIZES that cannot be used" {
    for sizes in "" 0 16, a 16,x 16,32,16 99999999 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17; do
        bench $two --sizes "$sizes"
        [ "$status" -eq 2 ]
        [ "${#lines[@]}" -eq 1 ]
        [[ $output == *"SIZES=$sizes cannot be used"* ]]
    done
}
