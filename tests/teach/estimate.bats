#!/usr/bin/env bats
# Validates the estimated times with times of an H200. Works in the checkout itself and writes only to build/.

load ../long

setup() {
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    unset DEVICE SHAPE CAUSAL DATA KERNEL SEED TIME_LIMIT MAKEFLAGS MAKELEVEL SIMULATOR_DEVICE
    make build/bin/teach build/bin/attention build/bin/runner >/dev/null
}

# The two numbers of "Within 25 %: 120 of 140."
within_and_all() {
    sed -n 's/^Within 25 %: \([0-9]*\) of \([0-9]*\)\.$/\1 \2/p'
}

compare() { # NN
    source=$(echo solutions/"$1"_*/attention.cu)
    make "build/kernels/${source%.cu}.so" >/dev/null
    build/bin/teach compare --name estimate --source "$source" --kernel "build/kernels/${source%.cu}.so"
}

@test "90 % of the times of an H200 are estimated within 25 %, also for lessons that were not used for fitting" {
    run build/bin/teach estimates results/nvidia-h200
    echo "$output"
    [ "$status" -eq 0 ]
    read -r near all <<<"$(within_and_all <<<"$output")"
    [ "$all" -ge 650 ]
    [ $((10 * near)) -ge $((9 * all)) ]
    read -r near all <<<"$(awk -F '|' '/^\| (03|04|07|08|11|14|16|20) / { all += $3; near += $4 } END { print near, all }' <<<"$output")"
    [ "$all" -ge 150 ]
    [ $((10 * near)) -ge $((9 * all)) ]
}

@test "90 % of the times of lessons 05 to 08 on an H100 are estimated within 25 %" {
    run build/bin/teach estimates results/nvidia-h100-80gb-hbm3
    echo "$output"
    [ "$status" -eq 0 ]
    read -r near all <<<"$(awk -F '|' '/^\| (05|06|07|08)/ { all += $3; near += $4 } END { print near, all }' <<<"$output")"
    [ "$all" -ge 60 ]
    [ $((10 * near)) -ge $((9 * all)) ]
}

@test "the busiest unit agrees with Nsight Compute in 90 % of the profiled cases" {
    run build/bin/teach estimates results/nvidia-h200
    echo "$output"
    read -r same count <<<"$(sed -n 's/^Same unit in \([0-9]*\) of \([0-9]*\);.*/\1 \2/p' <<<"$output")"
    [ "$count" -ge 28 ]
    [ $((10 * same)) -ge $((9 * count)) ]
}

@test "the mean estimate of every lesson is within a quarter of the measured time" {
    run build/bin/teach estimates results/nvidia-h200
    awk -F '|' '/^\| [01][0-9]/ && $6 ~ / to / { rows++; if ($5 < 0.75 || $5 > 1.25) bad++ } END { exit rows < 14 || bad }' <<<"$output"
}

@test "the tables in teach/estimate.md are up to date" {
    scripts/estimates --check
}

@test "each lesson whose work is recorded is estimated faster than the previous one" {
    last=1000000000
    for lesson in lessons/[0-9][0-9]_*; do
        [ -e "$lesson/work.csv" ] || continue
        us=$(build/bin/teach estimates recorded "$lesson/work.csv")
        echo "$lesson $us"
        awk -v us="$us" -v last="$last" 'BEGIN { exit !(us > 0 && us < last) }'
        last=$us
    done
}

@test "a passing check and a trace end with the estimate and its accuracy" {
    before=$(cat results/*/*.csv | cksum)
    claim=$(build/bin/teach estimates results/nvidia-h200 | sed -n 's/^Within 25 %: \(.*\)\.$/within 25 % of \1 measured times/p')
    run compare 04
    echo "$output"
    [[ ${lines[-2]} == "Estimated time on an H200 (SHAPE=1,16,4096,64): 3."*" ms; solution: 3."*" ms. Bottleneck: shared memory (active "* ]]
    [[ $claim && ${lines[-1]} == *"$claim"* ]]
    run make solution-04 trace SHAPE=1,2,64,64
    [[ ${lines[-2]} == "Estimated time on an H200 (SHAPE=1,2,64,64): "*" us. Bottleneck: latency "* ]]
    [[ ${lines[-1]} == *"$claim"* ]]
    [ "$(cat results/*/*.csv | cksum)" = "$before" ]
}

@test "no estimate is printed for a GPU on which the model was not validated" {
    SIMULATOR_DEVICE=a100 run compare 02
    [[ $output != *[Ee]stimated* ]]
}

@test "the estimate shows the cost of bank conflicts: rows of K without padding" {
    long
    folder=build/estimate-test/04_tiled_online_softmax
    mkdir -p $folder
    sed 's/float K\[KEYS\]\[D + 4\]/float K[KEYS][D]/' solutions/04_tiled_online_softmax/attention.cu >$folder/attention.cu
    make build/kernels/$folder/attention.so >/dev/null
    run build/bin/teach compare --name estimate --source $folder/attention.cu --kernel build/kernels/$folder/attention.so
    echo "$output"
    own=$(sed -n 's/^Estimated time on an H200 ([^)]*): \([0-9.]*\) ms.*/\1/p' <<<"$output") solution=$(sed -n 's/.*; solution: \([0-9.]*\) ms.*/\1/p' <<<"$output")
    awk -v own="$own" -v solution="$solution" 'BEGIN { exit !(own > 1.3 * solution) }'
}

@test "the recorded work of the solutions equals the current counts" {
    long # registers are a part of it, and ptxas says how many
    command -v sqlite3 >/dev/null || skip "sqlite3 is not installed; ./setup gets it"
    scripts/record-work --check 1,1,128,64 01 02 03 04 05 06 07 08
}

@test "the same for 16-bit solutions whose tile depends on causality" {
    long
    command -v sqlite3 >/dev/null || skip "sqlite3 is not installed; ./setup gets it"
    scripts/record-work --check 16,16,1024,128 08 09
}

# counted NN DTYPE SHAPE SAMPLE: multiply-adds and exponentials of all blocks, from those that were run
counted() {
    source=$(echo solutions/"$1"_*/attention.cu)
    make "build/kernels/${source%.cu}.so" >/dev/null
    SIMULATOR_TRACE=1 SIMULATOR_ANALYSES=off SIMULATOR_SAMPLE=$4 SIMULATOR_WORK_CSV=$BATS_TEST_TMPDIR/work.csv build/bin/attention check \
        --name sample --source "$source" --kernel "build/kernels/${source%.cu}.so" --device sim --sample work --seed 1 --dtype "$2" --shape "$3" >/dev/null
    awk -F , 'NR > 1 { sum += ($11 + $13 + $15 + $16) * $7 / $8 } END { printf "%.0f\n", sum }' "$BATS_TEST_TMPDIR/work.csv"
}

@test "sampled blocks represent all blocks, also for a dynamic tile scheduler" {
    long
    [ "$(counted 02 fp32 1,1,128,64 4)" -eq "$(counted 02 fp32 1,1,128,64 0)" ]
    # 512 work tiles for 132 blocks.
    awk -v some="$(counted 13 bf16 8,64,192,64 4)" -v all="$(counted 13 bf16 8,64,192,64 0)" \
        'BEGIN { print some, all; exit !(all > 0 && some > 0.85 * all && some < 1.15 * all) }'
}
