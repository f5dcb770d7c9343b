#!/usr/bin/env bats
# Figures of charts of complete results (tests/plots/make-results), compared with the rows, and the messages if rows are missing or
# invalid.

bats_require_minimum_version 1.5.0
load ../long

# A project with complete results; its charts are drawn once.
setup_file() {
    export complete=$BATS_FILE_TMPDIR/complete
    project=$BATS_TEST_DIRNAME/../..
    mkdir -p "$complete/results" "$complete/solutions" "$complete/scripts" "$complete/lessons/05_register_tiling"
    cp -R "$project/plots" "$complete/"
    cp "$project/scripts/shared.sh" "$complete/scripts/"
    rm -rf "$complete/plots/charts"
    mkdir "$complete/build"
    cp "$project/build/sql_text.so" "$complete/build/"
    cp -R "$project"/lessons/0[1-4]_* "$complete/lessons/"
    ln -s "$project/scripts/teach" "$complete/scripts/"
    printf 'name,unit,formula\nglobal_async_copy_bytes,bytes,"B*H*ceil(NQ/64) * 2 * 4 * NK * D"\n' \
        >"$complete/lessons/05_register_tiling/predictions.csv"
    for lesson in 01_basic_attention 02_vectorized 03_fused_softmax 04_tiled_online_softmax 05_register_tiling; do
        mkdir "$complete/solutions/$lesson"
    done
    "$BATS_TEST_DIRNAME/make-results" "$complete/results/example-gpu"
    (cd "$complete" && plots/draw --svg --all && mv build/plots ../drawn)
}

setup() {
    project=$BATS_TEST_DIRNAME/../..
    root=$BATS_TEST_TMPDIR/root
    cp -R "$complete" "$root"
    gpu=$root/results/example-gpu
    charts=$root/build/plots/example-gpu/solutions
    cd "$root"
}

# Restores the charts of the complete results.
use_charts() {
    cp -R "$BATS_FILE_TMPDIR/drawn" build/plots
}

text() {
    sed -n 's/<desc id="[a-z0-9-]*-text">\(.*\)<\/desc>.*/\1/p' "$charts/$1.svg"
}

drawn() {
    sed -n 's/.*<text[^>]*>\(.*\)<\/text>.*/\1/p' "$charts/$1.svg"
}

lacks() {
    if grep -- "$1"; then return 1; fi
}

@test "the ladder shows libraries of its own run only" {
    use_charts
    text ladder-d64 | grep -q 'cuBLAS and a softmax: 26.9'
    text ladder-d64 | lacks efficient
    sed -i 's/^peers1/bench1/' "$gpu/attention.csv"
    plots/draw --svg
    # 0.95 * 34 TFLOP/s.
    text ladder-d64 | grep -q 'PyTorch, memory-efficient: 32.3'
    drawn ladder-d64 | tr '\n' ' ' | grep -q 'the best library reaches 32.3'
}

@test "the chart of peers includes only libraries that were timed at every shape" {
    use_charts
    # 46 * 8192 / 8492 over 34 TFLOP/s.
    text peers | grep -q 'N=8192 D=64 1.31× efficient'
    text peers | grep -q 'N=128 D=64 0.40× efficient'
    drawn peers | tr '\n' ' ' | grep -q '05 register tiling beats the fastest library at 4 of 8 shapes; worst ratio 0.40'
    # A library that lacks one shape is excluded.
    sed -i '/^peers1,peer-torch_efficient,.*,8192,8192,64,/d' "$gpu/attention.csv"
    plots/draw --svg
    text peers | lacks efficient
    text peers | grep -q 'N=4096 D=64 1.95× unfused'
}

@test "noisy timings are marked in the chart and in its text" {
    use_charts
    drawn tflops-d64 | tr '\n' ' ' | grep -q 'Ringed: noisy'
    text softmax | grep -q '4096 × 1024: five passes ~565; one pass ~2771'
    sed -i 's/,noisy\(,bhnd,0\)\{0,1\}$/,steady\1/' "$gpu"/*.csv
    plots/draw --svg
    cat "$charts"/*.svg | lacks 'oisy\|~'
}

@test "the title names a lesson whose rate falls as N grows" {
    awk -F , -v OFS=, '$2 == "solution-03_fused_softmax" && $11 == 8192 && $13 == 64 { $21 = 4.7 } { print }' "$gpu/attention.csv" >rows
    mv rows "$gpu/attention.csv"
    plots/draw --svg
    drawn tflops-d64 | tr '\n' ' ' | grep -q '; 03 falls from 11.2 at N=4096 to 4.7 at N=8192'
}

@test "predicted bytes come from the pages' formulas at the counted shape, counted bytes from ncu" {
    use_charts
    # B*H*NQ * (4 * 4 * NK * D + 2 * 4 * NK) = 277 GB; 225 GB in sectors; 0.43 of them through L2.
    text bytes-d64 | grep -q '01 basic attention: predicted 277 GB, loaded 225 GB, through L2 96.8 GB, device memory 1.21 GB'
    text bytes-d64 | grep -q '05 register tiling: predicted 2.15 GB, loaded 2.2 GB, through L2 1.98 GB'
    drawn bytes-d64 | grep -qx '0.81×'
    drawn bytes-d64 | tr '\n' ' ' | grep -q 'fall from 225 GB to 2.2 GB; 4 of 5 pages predict them within 10 %'
}

@test "utilization of each unit, and the busiest unit" {
    use_charts
    # 42.86 of 60.3 TFLOP/s; 61.5e6 bytes in 1.603 ms, of 4280 GB/s.
    text limits-d64 | grep -q '05 register tiling: useful FLOP/s 71 %, FMA units 64 %, issue slots 67 %, shared memory 56 %, L2 cache 10 %, device memory 1 %'
    drawn limits-d64 | tr '\n' ' ' | grep -q 'shared memory in 01; L2 cache in 02'
}

@test "16 bits: the run with the most lessons, lessons in colour before the peers, below the ceilings of the tensor cores" {
    long
    grep '^grid1,peer-fa3' "$gpu/attention.csv" | sed 's/^grid1,peer-fa3/grid2,solution-08_one/; s/2026-01-04/2026-01-03/' >rows
    cat rows >>"$gpu/attention.csv"
    sed 's/solution-08_one/peer-torch_flash/' rows >>"$gpu/attention.csv"
    plots/draw --svg --all
    text tflops-bf16-d128 | grep -q '08: 572 at N=512.*flash: 572 at N=512'
    text tflops-bf16-d128 | lacks cuDNN
    drawn tflops-bf16-d128 | grep -qx 'wgmma alone 911'
    drawn tflops-bf16-d128 | tr '\n' ' ' | grep -q 'in another run'
    # An older file without the last columns is read as bhnd without lse.
    cp "$charts/tflops-bf16-d64.svg" new.svg
    sed -i 's/,layout,lse$//; s/,bhnd,0$//' "$gpu/attention.csv"
    plots/draw --svg --all
    cmp new.svg "$charts/tflops-bf16-d64.svg"
    # Rows of another layout or with lse are in no chart.
    sed -i '1 s/$/,layout,lse/; 1 !s/$/,bhnd,1/' "$gpu/attention.csv"
    run --separate-stderr plots/draw --svg --all
    [[ $stderr == *"[uncharted-rows]"* ]]
    [ ! -e "$charts/tflops-bf16-d64.svg" ]
}

@test "a learner's own lesson replaces its solution in 16 bits; without one there is no chart of own lessons" {
    long
    for lesson in solution-08_one solution-09_two lesson-09_two; do
        grep '^grid1,peer-fa3' "$gpu/attention.csv" | sed "s/^grid1,peer-fa3/grid2,$lesson/; /,64,1,/d"
    done >rows
    cat rows >>"$gpu/attention.csv"
    plots/draw --svg --all
    charts=$root/build/plots/example-gpu/lessons
    [ "$(cut -f 1 "$charts/charts.tsv" | xargs)" = "tflops-bf16-d128 tflops-bf16-d128-causal tflops-bf16-d64" ]
    text tflops-bf16-d64 | grep -q 'own lessons, .*08: .*; 09: '
}

@test "charts of a removed GPU are removed" {
    long
    use_charts
    "$BATS_TEST_DIRNAME/make-results" results/other-gpu 4 "Other GPU" 0.5
    plots/draw --svg --all
    [ -e build/plots/other-gpu/solutions/ladder-d64.svg ]
    rm -r results/other-gpu
    run --separate-stderr plots/draw --svg
    [ "$status" -eq 0 ]
    grep -qx 'plots/draw: removed build/plots/other-gpu, which belongs to other results \[removed\]' <<<"$stderr"
    [ "$(ls build/plots | xargs)" = "drawn example-gpu" ]
}

@test "a folder that cannot be written: one line, status 2" {
    long
    mkdir -p build
    touch build/plots
    run plots/draw --svg
    echo "$output"
    [ "$status" -eq 2 ]
    [ "$output" = "plots/draw: build/plots/example-gpu/solutions cannot be written; is the disk full? [cannot-write]" ]
}

@test "missing data is reported in one line, and the other charts are drawn" {
    long
    missing() { # file pattern message absent...
        "$BATS_TEST_DIRNAME/make-results" results/example-gpu
        if [ -n "$2" ]; then sed -i "/$2/d" "$gpu/$1"; else rm "$gpu/$1"; fi
        run --separate-stderr plots/draw --svg
        [ "$status" -eq 0 ]
        [ "$(wc -l <<<"$stderr")" -eq 1 ]
        [[ $stderr == *"$3"* ]]
        shift 3
        for chart; do [ ! -e "$charts/$chart.svg" ]; done
        [ -e "$charts/ladder-d64.svg" ]
    }
    missing ceilings.csv '' '[missing-ceilings]'
    missing profile.csv '' '[missing-counters]' bytes-d64 limits-d64
    missing profile.csv '04_tiled.*,64,0,' '04_tiled_online_softmax: not in the charts of utilization and bytes [missing-counters]'
    text limits-d64 | grep -q '03 fused softmax'
    text limits-d64 | lacks '04 tiled'
    missing softmax.csv '' '[missing-timings]' softmax
    sed -i '/peer-/d' "$gpu/attention.csv"
    run --separate-stderr plots/draw --svg
    [[ $stderr == *'no timings of peers'*'[missing-timings]'* ]]
    [ ! -e "$charts/peers.svg" ]
}

@test "an invalid row in any file stops plots/draw before anything is drawn" {
    long
    for wrong in 'ceilings.csv s/4280.00/fast/' 'ceilings.csv s/,50,1980/,50,1980,1980/' 'profile.csv s/,byte,/,byte,none,/' \
        'profile.csv s/,[0-9.]*,2026/,much,2026/' 'attention.csv s/,cold,/,cool,/' 'softmax.csv s/,steady$/,quiet/' \
        'attention.csv s/abc1234/`id`/' "attention.csv s/abc1234/a'b\"c/"; do
        "$BATS_TEST_DIRNAME/make-results" results/example-gpu
        sed -i "2,99${wrong#* }" "$gpu/${wrong%% *}"
        run plots/draw --svg
        [ "$status" -eq 2 ]
        [ "${#lines[@]}" -eq 1 ]
        [[ $output == "results/example-gpu/${wrong%% *}:"[0-9]*": "* ]]
        [ ! -e build ]
    done
}

@test "a folder where a file of results should be: one line, status 2" {
    rm "$gpu/softmax.csv"
    mkdir "$gpu/softmax.csv"
    run plots/draw --svg
    echo "$output"
    [ "$status" -eq 2 ]
    [ "$output" = "results/example-gpu/softmax.csv is a folder, not a file of results; move it away [bad-path]" ]
}

@test "an iteration by time stamps: its segments end to end, and the GEMMs in flight after the scores" {
    {
        echo run,lesson,device,driver,cuda,dtype,B,H,Nq,Nk,D,causal,warpgroups,queries,keys,segment,cycles,steps,over_solution,date,commit
        for part in 04_tiled_online_softmax,300 05_register_tiling,100; do
            for segment in turn,100 ask,200 scores,50 vote,${part#*,} weights,400; do
                echo "stamps1,solution-${part%,*},Example GPU 9000,1.0,13.0,bf16,4,16,4096,4096,128,0,2,128,128,$segment,1000,1.01,2026-01-02T03:04:05Z,abc1234"
            done
        done
    } >"$gpu/steps.csv"
    plots/draw --svg --only timeline
    # 4 x 128 x 128 x 128 operations at 4096 a cycle, without one of the two warpgroups' Q K^T.
    text timeline | grep -q 'D=128, lesson 04: 1050 cycles, 700 after the scores; D=128, lesson 05: 850 cycles, 500 after the scores; GEMMs in flight meanwhile: at least 1536'
    drawn timeline | tr '\n' ' ' | grep -q 'At D=128 the chain after the scores falls from 700 to 500 cycles; the GEMMs in flight take 1536'
    sed -i /,scores,/d "$gpu/steps.csv"
    plots/draw --svg --only timeline
    text timeline | grep -q 'lesson 04: 1000 cycles, 700 after'
}

@test "colours are distinguishable, and check_palette.py finds colours that are not" {
    "$BATS_TEST_DIRNAME/check_palette.py" plots/palette
    for wrong in 's/#af9025/#ffee99/' 's/#659178/#d41f0a/' '/colour.8/d'; do
        sed "$wrong" plots/palette >wrong
        run "$BATS_TEST_DIRNAME/check_palette.py" wrong
        [ "$status" -eq 1 ]
    done
}

@test "every solution has an idea file" {
    for folder in "$project"/solutions/[0-9][0-9]_*/; do
        grep -q . "$project/lessons/$(basename "$folder")/idea"
    done
}
