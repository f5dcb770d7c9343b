#!/usr/bin/env bats
# scripts/measure-gpus, measure-decode and measure-backward with fake programs: order, budget and bad input.

bats_require_minimum_version 1.5.0

setup() {
    project=$BATS_TEST_DIRNAME/../..
    cd "$BATS_TEST_TMPDIR" || return 1
    mkdir -p scripts bin build/bin peers
    cp "$project"/scripts/{measure-gpus,measure-decode,measure-backward,shared.sh} scripts/
    cp "$project"/peers/*.sql peers/
    for name in 22_decode 30_ring; do
        mkdir -p solutions/$name
        echo '#include "decode.cuh"' >solutions/$name/attention.cu
    done
    echo '#include "ring.cuh"' >solutions/30_ring/attention.cu
    for program in bin/make bin/python3 build/bin/attention scripts/ablations; do
        printf '#!/bin/sh\necho "%s $*" >>calls\ncase "$*" in *"$BROKEN"*) exit 1 ;; esac\n' "${program##*/}" >$program
    done
    printf '#!/bin/sh\necho abc1234\n' >scripts/commit
    printf '#!/bin/sh\ncase $1 in --list*) echo one; echo two ;; --query*) echo "Fake GPU" ;; esac\n' >bin/nvidia-smi
    chmod +x scripts/* bin/* build/bin/*
    export PATH="$PWD/bin:$PATH" BROKEN=nothing
    for name in 14_warp_specialization 25_backward_fp32 26_backward_mma 27_backward_wgmma 28_deterministic; do
        mkdir -p build/kernels/solutions/$name
        : >build/kernels/solutions/$name/attention.so
    done
    : >build/bin/runner
}

@test "several GPUs: checks, sizes, the distributed package, ablations; a step that fails does not affect the others" {
    BROKEN=SIZES=131072 run scripts/measure-gpus
    echo "$output"
    [ "$status" -eq 1 ]
    [[ $output == *"== failed: make GPUS=2 TIME_LIMIT=300 SIZES=131072 DTYPE=bf16 solution-30 bench [step-failed]"* ]]
    [ "$(cut -d ' ' -f 1 calls | xargs)" = "make make make make make python3 ablations" ]
    grep -qx 'python3 peers/ring.py --gpus 2 --out results/fake-gpu/ring_peers.csv' calls
}

@test "fewer GPUs than asked for, and values that are no numbers, are refused in one line" {
    run scripts/measure-gpus 4
    [ "$status" -eq 2 ]
    [ "$output" = "error: 4 GPUs are asked for, and there are 2 [too-few-gpus]" ]
    for call in "measure-gpus many" "measure-gpus --time-budget" "measure-decode --time-budget 1.5" "measure-backward --time-budget x to"; do
        run scripts/$call
        echo "$output"
        [ "$status" -eq 2 ]
        [[ ${#lines[@]} -eq 1 && $output == *"[unknown-value]" ]]
    done
    for call in "measure-gpus --all" "measure-decode --all" "measure-backward --all" measure-backward; do
        run scripts/$call
        [ "$status" -eq 2 ]
        [[ ${#lines[@]} -eq 1 && $output == *"[usage]" ]]
    done
    [ ! -e calls ]
}

@test "nothing is begun after the budget" {
    for call in "measure-gpus --time-budget 0" "measure-backward --time-budget 0 to"; do
        run scripts/$call
        [ "$status" -eq 1 ]
        [[ $output == *"left out"* ]]
        [ ! -e calls ]
    done
    run scripts/measure-decode --time-budget 0
    [ "$status" -eq 1 ]
    [ "$(cut -d ' ' -f 1 calls)" = make ]
}

@test "decoding: the grid with the peers comes first, then e4m3, what was before, and pages" {
    run scripts/measure-decode --time-budget 100 here
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $(sed -n 2p calls) == "python3 -m peers.decode --results here --time-budget 60" ]]
    [[ $(sed -n 3p calls) == "python3 -m peers.decode --results here --time-budget "*" --cache e4m3" ]]
    [ "$(grep -c '^attention bench ' calls)" -eq 12 ]
    [[ $(tail -n 1 calls) == *"--layout pages16" ]]
}

@test "the backward pass: checks, then the grid in bf16; a library that is missing is named" {
    run scripts/measure-backward to
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $(sed -n 5p calls) == "python3 peers/backward.py --dtype bf16 --csv to/backward-bf16.csv --time-budget "* ]]
    [ "$(grep -c '^ablations ' calls)" -eq 4 ]
    rm build/kernels/solutions/28_deterministic/attention.so
    run scripts/measure-backward to
    [ "$status" -eq 2 ]
    [[ $output == *"28_deterministic/attention.so is missing: make it first [not-built]" ]]
}

@test "the rows are compared: the best lesson over the best exact peer" {
    {
        echo run,lesson,device,dtype,B,H,Hkv,Nk,D,lengths,keys,kv_bytes,median_us,repeats,gb_per_s,rel_rms_error,date,noise
        for row in 1,solution-22_decode,bf16,40 2,solution-22_decode,bf16,20 2,solution-23_decode_wgmma,bf16,10 2,peer-a,bf16,12 \
            2,peer-b,bf16-inexact,5 2,copy,bf16,9; do
            IFS=, read -r at lesson dtype us <<<"$row"
            echo "$at,$lesson,Fake GPU,$dtype,8,32,8,1024,128,equal,8192,33554432,$us,30,1,0,2026-01-01,steady"
        done
    } >rows.csv
    run sqlite3 :memory: ".import --csv rows.csv m" ".read peers/decode.sql"
    echo "$output"
    [[ $output == *"bf16   64 MB and less  1       1          1.2             1.2    0.9"* ]]
    {
        echo run,lesson,device,dtype,B,H,Nq,Nk,D,causal,median_us,min_us,repeats,tflops,rel_error,same_bits
        for row in solution-26_backward_mma,40 solution-27_backward_wgmma,20 solution-28_deterministic,21 peer-a,30; do
            for n in 2048 16384; do
                echo "1,${row%,*},Fake GPU,bf16,8,32,$n,$n,64,1,${row#*,},1,30,1,0,1"
            done
        done
    } >rows.csv
    run sqlite3 :memory: ".import --csv rows.csv m" ".read peers/backward.sql"
    echo "$output"
    [[ $output == *"causal, N <= 2048  1      1          1.5             1.5    1.05"*"all                2      2          1.5"* ]]
    [[ $output == *"solution-27_backward_wgmma  2       2.0"*"solution-28_deterministic   2       0.95"* ]]
}
