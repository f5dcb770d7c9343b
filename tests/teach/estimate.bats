#!/usr/bin/env bats
# The estimate of the time, against what an H200 took. Works in the checkout itself, and writes to build/ only.

load ../long

setup() {
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    unset DEVICE SHAPE CAUSAL DATA KERNEL SEED TIME_LIMIT MAKEFLAGS MAKELEVEL SIMULATOR_DEVICE
    make build/bin/teach build/bin/attention build/bin/runner >/dev/null
}

# The two numbers of "Within 25 %: 120 of 140."
near_and_all() {
    sed -n 's/^Within 25 %: \([0-9]*\) of \([0-9]*\)\.$/\1 \2/p'
}

price() { # NN
    source=$(echo solutions/"$1"_*/attention.cu)
    make "build/kernels/${source%.cu}.so" >/dev/null
    build/bin/teach price --name estimate --source "$source" --kernel "build/kernels/${source%.cu}.so"
}

@test "of what was measured on an H200 nine of ten are estimated within 25 %, and of the lessons on which nothing was chosen" {
    run build/bin/teach estimates results/nvidia-h200
    echo "$output"
    [ "$status" -eq 0 ]
    read -r near all <<<"$(near_and_all <<<"$output")"
    [ "$all" -ge 650 ]
    [ $((10 * near)) -ge $((9 * all)) ]
    read -r near all <<<"$(awk -F '|' '/^\| (03|04|06|07|09|11|12|14) / { all += $3; near += $4 } END { print near, all }' <<<"$output")"
    [ "$all" -ge 150 ]
    [ $((10 * near)) -ge $((9 * all)) ]
}

@test "of lessons 05 to 07 as they are now, timed on an H100, nine of ten are estimated within 25 %" {
    run build/bin/teach estimates results/nvidia-h100-80gb-hbm3
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output != *"Nsight Compute"* ]]
    read -r near all <<<"$(awk -F '|' '/^\| (05|06|07)/ { all += $3; near += $4 } END { print near, all }' <<<"$output")"
    [ "$all" -ge 100 ]
    [ $((10 * near)) -ge $((9 * all)) ]
}

@test "where Nsight Compute was asked which part is busiest, the estimate names it for nine of ten" {
    run build/bin/teach estimates results/nvidia-h200
    echo "$output"
    read -r same count <<<"$(sed -n 's/^The same part in \([0-9]*\) of \([0-9]*\);.*/\1 \2/p' <<<"$output")"
    [ "$count" -ge 28 ]
    [ $((10 * same)) -ge $((9 * count)) ]
}

@test "no lesson is estimated twice as fast or as slow as it is, on the mean" {
    run build/bin/teach estimates results/nvidia-h200
    awk -F '|' '/^\| [01][0-9]/ && $6 ~ / to / { rows++; if ($5 < 0.75 || $5 > 1.25) bad++ } END { exit rows < 14 || bad }' <<<"$output"
}

@test "the page of the estimate shows what is estimated" {
    scripts/estimates --check
}

@test "the ladder rises by the estimate, too" {
    last=1000000000
    for lesson in lessons/[0-9][0-9]_*; do
        us=$(build/bin/teach estimates recorded "$lesson/work.csv")
        echo "$lesson $us"
        awk -v us="$us" -v last="$last" 'BEGIN { exit !(us > 0 && us < last) }'
        last=$us
    done
}

@test "a check that is right and a trace end with the estimate, and with how often it is right" {
    before=$(cat results/*/*.csv | cksum)
    claim=$(build/bin/teach estimates results/nvidia-h200 | sed -n 's/^Within 25 %: \(.*\)\.$/within 25 % for \1 times that were measured/p')
    run price 04
    echo "$output"
    [[ ${lines[-2]} == "estimated 3."*" ms on an H200 with SHAPE=1,16,4096,64 (the solution: 3."*" ms), limited by shared memory, busy "* ]]
    [[ $claim && ${lines[-1]} == *"$claim"* ]]
    run make solution-04 trace SHAPE=1,2,64,64
    [[ ${lines[-2]} == "estimated "*" us on an H200 with SHAPE=1,2,64,64, limited by latency: "* ]]
    [[ ${lines[-1]} == *"$claim"* ]]
    [ "$(cat results/*/*.csv | cksum)" = "$before" ]
}

@test "of a GPU whose times nobody has held it against there is no estimate" {
    SIMULATOR_DEVICE=a100 run price 02
    [[ $output != *estimated* ]]
}

@test "what wastes costs time: rows of K without their padding" {
    long
    folder=build/estimate-test/04_tiled_online_softmax
    mkdir -p $folder
    sed 's/float K\[KEYS\]\[D + 4\]/float K[KEYS][D]/' solutions/04_tiled_online_softmax/attention.cu >$folder/attention.cu
    make build/kernels/$folder/attention.so >/dev/null
    run build/bin/teach price --name estimate --source $folder/attention.cu --kernel build/kernels/$folder/attention.so
    echo "$output"
    own=$(sed -n 's/^estimated \([0-9.]*\) ms .*/\1/p' <<<"$output") solution=$(sed -n 's/.*the solution: \([0-9.]*\) ms.*/\1/p' <<<"$output")
    awk -v own="$own" -v solution="$solution" 'BEGIN { exit !(own > 1.3 * solution) }'
}

@test "what is recorded of the solutions' work is what is counted" {
    command -v sqlite3 >/dev/null || skip "sqlite3 is not installed; ./setup gets it"
    scripts/record-work --check 1,1,128,64 01 02 03 04 05 06 07
}

@test "and of the solutions in 16 bits that choose a tile by the mask" {
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

@test "a sample of blocks stands for all of them, where they take their work from a counter, too" {
    long
    [ "$(counted 02 fp32 1,1,128,64 4)" -eq "$(counted 02 fp32 1,1,128,64 0)" ]
    # 512 items of work for 132 blocks.
    awk -v some="$(counted 13 bf16 8,64,192,64 4)" -v all="$(counted 13 bf16 8,64,192,64 0)" \
        'BEGIN { print some, all; exit !(all > 0 && some > 0.85 * all && some < 1.15 * all) }'
}
