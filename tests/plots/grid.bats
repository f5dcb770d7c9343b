#!/usr/bin/env bats
# The charts of 16 bits: which rows they take, from which run, and what is said of those that they do not.

bats_require_minimum_version 1.5.0

setup() {
    project=$BATS_TEST_DIRNAME/../..
    root=$BATS_TEST_TMPDIR/root
    gpu=$root/results/example-gpu
    mkdir -p "$gpu" "$root/solutions"
    cp -R "$project/plots" "$root/"
    rm -rf "$root/plots/charts"
    charts=$root/build/plots/example-gpu/solutions
    cd "$root"
    columns=run,lesson,device,sm_count,driver,cuda,dtype,B,H,Hkv,Nq,Nk,D,causal,median_us,min_us,p95_us,repeats
    columns+=,sm_clock_before_mhz,sm_clock_after_mhz,tflops,bytes,gb_per_s,rel_rms_error,peak_tflops,peak_gb_per_s
    columns+=,date,commit,cache,noise
    echo "$columns,layout,lse" >"$gpu/attention.csv"
    echo "run,device,sm_count,driver,cuda,what,unit,median,min,max,repeats,sm_clock_before_mhz,sm_clock_after_mhz,date,commit" \
        >"$gpu/ceilings.csv"
    ceiling run0 fma_fp32 66
    ceiling run1 mma_bf16 596
    ceiling run1 wgmma_bf16 911
}

ceiling() { # run what value
    echo "$1,Some GPU,10,1.0,13.0,$2,TFLOP/s,$3,1,1,9,1900,1900,2026-01-0${1#run}T00:00:00Z,abc" >>"$gpu/ceilings.csv"
}

# row RUN LESSON DTYPE N D CAUSAL TFLOPS [LAYOUT LSE [NOISE]]: of the grid.
row() {
    echo "$1,$2,Some GPU,10,1.0,13.0,$3,$((16384 / $4)),$((2048 / $5)),$((2048 / $5)),$4,$4,$5,$6,100,99,101,30,1900,1900,$7,1,1,2e-3,1070.5,4000,2026-01-0${1#run}T00:00:00Z,abc,cold,${10:-steady},${8:-bhnd},${9:-0}" \
        >>"$gpu/attention.csv"
}

# Two sizes of a contestant: 512 and 4096 keys.
two() { # run lesson dtype D causal tflops tflops
    row "$1" "$2" "$3" 512 "$4" "$5" "$6"
    row "$1" "$2" "$3" 4096 "$4" "$5" "$7"
}

draw() {
    run --separate-stderr plots/draw --svg
    echo "$output"
    echo "$stderr"
    [ "$status" -eq 0 ]
}

text() {
    sed -n 's/<desc id="[a-z0-9-]*-text">\(.*\)<\/desc>/\1/p' "$charts/$1.svg"
}

@test "a chart for each type, head dimension and mask, with every figure in its text, and for a phone" {
    two run2 peer-torch_flash bf16 128 0 300 356
    two run2 peer-fa3 bf16 128 0 515.48 730.44
    two run2 peer-fa3 bf16 128 1 327 696
    two run2 peer-fa3 bf16 64 0 322 530
    two run2 peer-fa3 fp16 64 1 221 484
    draw
    [ "$(cd "$charts" && ls tflops-*.svg | grep -v -e dark -e phone | xargs)" = \
        "tflops-bf16-d128-causal.svg tflops-bf16-d128.svg tflops-bf16-d64.svg tflops-fp16-d64-causal.svg" ]
    said=$(text tflops-bf16-d128)
    echo "$said"
    [[ $said == *"Some GPU, bf16, 16384 tokens, H × D = 2048, D=128, no mask."* ]]
    [[ $said == *"PyTorch flash: 300 at N=512, 356 at N=4096; FlashAttention-3: 515 at N=512, 730 at N=4096;"* ]]
    [[ $said == *"wgmma alone, 911 TFLOP/s: 911 at N=512,"*"mma.sync alone, 596 TFLOP/s: 596 at"*"16-bit peak on paper"* ]]
    [[ $said == *"ceilings by bf16 products on the tensor cores alone, in another run of 2026-01-01." ]]
    [[ $(text tflops-bf16-d128-causal) == *"D=128, causal mask. FlashAttention-3: 327 at N=512, 696 at N=4096;"* ]]
    [ "$(text tflops-bf16-d128)" = "$(text tflops-bf16-d128-phone-dark)" ]
    for file in "$charts"/tflops-*.svg; do awk -f "$project/tests/plots/check-svg.awk" "$file"; done
    # Linear, from 0: the same distance from 0 to 200 as from 200 to 400.
    sed -n 's/.*<text[^>]*>\(.*\)<\/text>.*/\1/p' "$charts/tflops-bf16-d128.svg" | grep -c -x -e 0 -e 200 -e 400 -e 1000 | grep -qx 4
    [[ $stderr != *"rows are in no chart"* ]]
}

@test "the run with the most lessons, then the most timings, then the newest; lessons in colour before the peers" {
    two run2 solution-09_two bf16 64 0 222 223
    two run2 solution-08_one bf16 64 0 111 112
    two run2 peer-fa3 bf16 64 0 333 334
    two run3 solution-08_one bf16 64 0 555 556
    two run3 peer-fa3 bf16 64 0 666 667
    two run3 peer-torch_cudnn bf16 64 0 667 668
    two run3 peer-torch_flash bf16 64 0 668 669
    draw
    [[ $(text tflops-bf16-d64) == *"no mask. 08 one: 111 at N=512, 112 at N=4096; 09 two: 222 at N=512, 223 at N=4096; FlashAttention-3: 333 at"* ]]
    [[ $(text tflops-bf16-d64) != *[56]6[67]* ]]
    sed -i '/^run2,solution-09/d' "$gpu/attention.csv"
    draw
    [[ $(text tflops-bf16-d64) == *"08 one: 555 at"* ]]
    two run4 solution-08_one bf16 64 0 777 778
    for peer in peer-fa3 peer-torch_cudnn peer-torch_flash; do two run4 $peer bf16 64 0 700 701; done
    draw
    [[ $(text tflops-bf16-d64) == *"08 one: 777 at"* ]]
}

@test "rows of another layout, with lse, not of the grid, or that miss the type's accuracy: in no chart, and said" {
    two run2 peer-fa3 bf16 64 0 322 530
    row run2 peer-fa3 bf16 1024 64 0 999 bnhd 0
    row run2 peer-fa3 bf16 2048 64 0 999 bhnd 1
    row run2 peer-torch_flash bf16-inexact 512 64 0 999
    row run2 peer-torch_flash bf16-inexact 1024 64 0 999
    sed '/peer-fa3,.*,512,512,64,/!d; s/,32,32,32,/,1,32,32,/; s/,322,/,999,/' "$gpu/attention.csv" >more
    cat more >>"$gpu/attention.csv"
    draw
    [[ $stderr == *"5 rows are in no chart"* ]]
    [[ $(text tflops-bf16-d64) == *"no mask. FlashAttention-3: 322 at N=512, 530 at N=4096; wgmma"* ]]
    [[ $(text tflops-bf16-d64) != *999* ]]
}

@test "a file from before there were the last columns is read as one with bhnd and 0" {
    two run2 peer-fa3 bf16 64 0 322 530
    draw
    cp "$charts/tflops-bf16-d64.svg" new.svg
    sed -i 's/,layout,lse$//; s/,bhnd,0$//' "$gpu/attention.csv"
    draw
    cmp new.svg "$charts/tflops-bf16-d64.svg"
    sed -i '1 s/$/,layout,lse/; 1 !s/$/,hbnd,0/' "$gpu/attention.csv"
    run plots/draw --svg
    [ "$status" -eq 2 ]
    [[ $output == *"attention.csv:2: layout is 'hbnd', not bhnd or bnhd"* ]]
}

@test "without the tensor cores' rate the chart has none, and it is said; a noisy timing is ringed" {
    row run2 peer-fa3 bf16 512 64 0 322
    row run2 peer-fa3 bf16 4096 64 0 530 bhnd 0 noisy
    sed -i '/_bf16/d' "$gpu/ceilings.csv"
    draw
    [[ $stderr == *"what the tensor cores reach alone is not measured: the charts of bf16 have no ceilings"* ]]
    [[ $(text tflops-bf16-d64) == *"FlashAttention-3: 322 at N=512, ~530 at N=4096; 16-bit peak"* ]]
    [[ $(text tflops-bf16-d64) != *alone* ]]
    grep -q '>ringed: noisy' "$charts/tflops-bf16-d64.svg"
}

@test "a learner's own lesson stands in the place of its solution, and without one there is no chart of their own" {
    two run2 solution-08_one bf16 64 0 111 112
    two run2 peer-fa3 bf16 64 0 322 530
    two run3 solution-08_one bf16 64 0 113 114
    two run3 solution-09_two bf16 64 0 222 223
    two run3 lesson-09_two bf16 64 0 201 202
    two run3 lesson-09_two fp16 128 1 201 202
    two run3 peer-fa3 fp16 64 0 322 530
    draw
    charts=$root/build/plots/example-gpu/lessons
    [[ $(text tflops-bf16-d64) == *"own lessons, bf16"*"08 one*: 113 at N=512, 114 at N=4096; 09 two: 201 at N=512, 202 at N=4096; wgmma"* ]]
    [ -e "$charts/tflops-fp16-d128-causal.svg" ]
    [ ! -e "$charts/tflops-fp16-d64.svg" ]
}
