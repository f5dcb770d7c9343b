#!/usr/bin/env bats
# The figures of charts of whole results (tests/plots/make-results), each against what the rows say, and what is said where a
# part of them is missing or wrong.

bats_require_minimum_version 1.5.0

# A project with whole results, and its charts, which are drawn once.
setup_file() {
    export whole=$BATS_FILE_TMPDIR/whole
    project=$BATS_TEST_DIRNAME/../..
    mkdir -p "$whole/results" "$whole/solutions" "$whole/scripts" "$whole/lessons/05_register_tiling"
    cp -R "$project/plots" "$whole/"
    rm -rf "$whole/plots/charts"
    cp -R "$project"/lessons/0[1-4]_* "$whole/lessons/"
    ln -s "$project/scripts/teach" "$whole/scripts/"
    printf 'name,unit,formula\nglobal_async_copy_bytes,bytes,"B*H*ceil(NQ/64) * 2 * 4 * NK * D"\n' \
        >"$whole/lessons/05_register_tiling/predictions.csv"
    for lesson in 01_basic_attention 02_vectorized 03_fused_softmax 04_tiled_online_softmax 05_register_tiling; do
        mkdir "$whole/solutions/$lesson"
    done
    "$BATS_TEST_DIRNAME/make-results" "$whole/results/example-gpu"
    (cd "$whole" && plots/draw --svg && mv build ../built)
}

setup() {
    project=$BATS_TEST_DIRNAME/../..
    root=$BATS_TEST_TMPDIR/root
    cp -R "$whole" "$root"
    gpu=$root/results/example-gpu
    charts=$root/build/plots/example-gpu/solutions
    cd "$root"
}

# The charts of the whole results.
draw_whole() {
    cp -R "$BATS_FILE_TMPDIR/built" build
}

text() {
    sed -n 's/<desc id="[a-z0-9-]*-text">\(.*\)<\/desc>/\1/p' "$charts/$1.svg"
}

drawn() {
    sed -n 's/.*<text[^>]*>\(.*\)<\/text>.*/\1/p' "$charts/$1.svg"
}

# Reads what must not have a line that matches; bats lets a bare `! grep` pass.
lacks() {
    if grep -- "$1"; then return 1; fi
}

# The value of column $2 in the row of $1 that awk's condition $3 chooses.
row() {
    awk -F , -v want="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == want) c = i; next } '"$3"' { print $c; exit }' \
        "$gpu/$1.csv"
}

@test "peers of another run keep their ratio to the lesson timed beside them" {
    draw_whole
    lesson='$2 == "solution-05_register_tiling" && $9 == 16 && $11 == 4096 && $13 == 64 && $29 == "cold"'
    peer='$2 == "peer-torch_efficient" && $9 == 16 && $11 == 4096 && $13 == 64'
    # us in the run of the ladder = us there * lesson here / lesson there
    expected=$(awk -v here="$(row attention median_us "\$1 == \"bench1\" && $lesson")" \
        -v there="$(row attention median_us "\$1 == \"peers1\" && $lesson")" \
        -v peer="$(row attention median_us "$peer")" 'BEGIN { printf "%.3g", 4 * 16 * 4096 ^ 2 * 64 / (peer * here / there) / 1e6 }')
    [ "$expected" = 34 ]
    text tflops-d64 | grep -q "PyTorch memory-efficient: $expected at N=4096"
    text speedup-over-01 | grep -q 'PyTorch memory-efficient: D=64 73.0×'
    for chart in tflops-d64 speedup-over-01 softmax; do
        drawn "$chart" | grep -q 'Peers were timed in a run of their own beside the same lessons'
    done
    # In the run of the ladder itself nothing is scaled.
    sed -i 's/^peers1/bench1/' "$gpu/attention.csv"
    plots/draw --svg
    text tflops-d64 | grep -q 'PyTorch memory-efficient: 32.3 at N=4096'
    drawn tflops-d64 | lacks 'Peers were timed'
}

@test "peers without a lesson in common are left out" {
    sed -i '/^peers1,solution/d' "$gpu/attention.csv"
    plots/draw --svg
    text tflops-d64 | lacks PyTorch
    text tflops-d64 | grep -q 'cuBLAS unfused: 26.9 at N=256'
    [ ! -e "$charts/peers.svg" ]
    [ ! -e "$charts/triton.svg" ]
}

@test "a run of the peers is the ladder's only where there is no other" {
    for l in 01_basic_attention 02_vectorized 03_fused_softmax; do
        for d in 64 128; do
            awk -F , -v OFS=, -v l="solution-$l" -v d=$d '$2 == l && $1 == "bench1" && $13 == d && $11 == 4096 && $29 == "cold" {
                $1 = "peers1"; $27 = "2026-01-03T10:00:00Z"; print }' "$gpu/attention.csv"
        done
    done >rows
    cat rows >>"$gpu/attention.csv"
    plots/draw --svg
    text speedup-over-01 | grep -q 2026-01-02
    sed -i '/^bench1/d' "$gpu/attention.csv"
    plots/draw --svg
    text speedup-over-01 | grep -q 2026-01-03
    drawn speedup-over-01 | lacks 'Peers were timed'
}

@test "noisy timings are marked where they are drawn, and in words" {
    draw_whole
    text tflops-d64 | grep -q '03 fused softmax: [0-9.]* at N=256, ~[0-9.]* at N=512, [0-9.]* at N=1024'
    drawn tflops-d64 | grep -q '^ringed: noisy'
    drawn speedup-over-01 | grep -q '^~32.2×$'
    drawn speedup-over-01 | grep -q '^~ and hollow: noisy'
    sed -i 's/,noisy\(,bhnd,0\)\{0,1\}$/,steady\1/' "$gpu"/*.csv
    plots/draw --svg
    cat "$charts"/*.svg | lacks 'noisy\|~'
}

@test "the roofline's points are the FLOPs over the bytes counted, its ceilings those of ceilings.csv" {
    draw_whole
    # 4 * 16 * 4096^2 * 64 = 68.7e9 FLOP; 107e6 + 1.1e9 bytes of device memory, 0.43 * 225e9 through L2.
    text roofline-d64 | grep -q '01 basic attention: 0.466 TFLOP/s, 56.9 FLOP a byte of device memory, 0.71 a byte through L2'
    text roofline-d64 | grep -q 'copy, 4.28 TB/s; multiply-adds alone, 60.3 TFLOP/s; fp32 peak on paper, 66.9 TFLOP/s; 01'
    drawn roofline-d64 | grep -q '^multiply-adds alone, 60.3 TFLOP/s$'
    [ "$(drawn roofline-d64 | grep -c '^0[1-5]$')" -eq 5 ]
    text roofline-d64 | grep -q 'ceilings by a copy and by multiply-adds alone, in the same run'
    sed -i 's/^bench1/bench0/' "$gpu/ceilings.csv"
    plots/draw --svg
    text roofline-d64 | grep -q 'ceilings by .* alone, in another run of 2026-01-02'
}

@test "bytes predicted are the pages' formulas at the counted shape, bytes counted are ncu's" {
    draw_whole
    # B*H*NQ * (4 * 4 * NK * D + 2 * 4 * NK) = 277 GB; 225 GB in sectors; 0.43 of them through L2.
    text bytes-d64 | grep -q '01 basic attention: predicted 277 GB, loaded 225 GB, 0.81×, through L2 96.8 GB, device memory 1.21 GB;'
    text bytes-d64 | grep -q '05 register tiling: predicted 2.15 GB, loaded 2.2 GB, 1.02×, through L2 1.98 GB'
    [ "$(drawn bytes-d64 | grep -c '^predicted$')" -eq 5 ]
    # Copies that go past L1 are held against what came through L2.
    sed -i '/05_register_tiling.*sectors_pipe_lsu_mem_global_op_ld/d' "$gpu/profile.csv"
    plots/draw --svg
    text bytes-d64 | grep -q '05 register tiling: predicted 2.15 GB, through L2 1.98 GB, 0.92×'
}

@test "shares of the limits" {
    draw_whole
    # 42.86 of 60.3 TFLOP/s; 61.5e6 bytes in 1.603 ms, of 4280 GB/s.
    text limits-d64 | grep -q '05 register tiling: FLOP/s, of multiply-adds alone 71 %, FMA units busy 64 %, issue slots busy 67 %'
    text limits-d64 | grep -q 'shared memory busy 56 %, L2 busy 10 %, device memory, of a copy 1 %'
}

@test "maps, peers, cold over warm and Triton" {
    draw_whole
    ratio=$(awk -v a="$(row attention median_us '$2 ~ /solution-01/ && $11 == 2048 && $13 == 96 && $29 == "cold"')" \
        -v b="$(row attention median_us '$2 ~ /solution-05/ && $11 == 2048 && $13 == 96 && $29 == "cold"')" \
        'BEGIN { printf "%.1f", a / b }')
    text map-over-01 | grep -q "N=2048 D=96 $ratio×"
    [ "$(drawn map-over-01 | grep -c '^[0-9.]*×$')" -eq 30 ]
    # The fastest of those timed at the shape: 46 * 4096 / 4396 over 34 TFLOP/s.
    text map-over-peer | grep -q 'N=4096 D=64 1.26× over PyTorch memory-efficient'
    text map-over-peer | grep -q 'N=2048 D=64 1.49× over cuBLAS unfused'
    text peers | grep -q 'B=1 H=1 N=128 D=64: 0.40× over PyTorch memory-efficient'
    text peers | grep -q 'B=1 H=16 N=8192 D=64: 1.31× over'
    text cache-d64 | grep -q '01 basic attention: 1.08 at N=256, .*; 05 register tiling: 1.39 at N=256'
    text triton | grep -q '04 tiled online softmax: CUDA D=64 20, Triton D=64 16.9, CUDA D=128 23.1, Triton D=128 19.5'
    text softmax | grep -q '16384 × 4096: copy 4153 GB/s, five passes 872 GB/s, one read, one write 4028 GB/s, torch.softmax 2518 GB/s'
}

# The texts of a chart with where they stand: "text<TAB>x<TAB>y".
placed() {
    awk -F '[(,)]' -v OFS='\t' '/translate\(/ { x = $2; y = $3 } /<text>/ { gsub(/<[^>]*>|^[ \t]+/, ""); print $0, x, y }' \
        "$charts/$1.svg"
}

@test "for a phone: a figure of a map stands where its N and its D meet, names stand above bars, shares before them" {
    # The baseline is the fastest at one shape.
    awk -F , -v OFS=, '$2 ~ /cublas/ && $11 == 8192 && $13 == 64 { $15 /= 2 } { print }' "$gpu/attention.csv" >rows
    mv rows "$gpu/attention.csv"
    plots/draw --svg
    for cell in "256 96" "2048 32" "8192 256" "1024 64"; do
        figure=$(text map-over-01 | grep -o "N=${cell% *} D=${cell#* } [0-9.~]*×" | sed 's/.* //')
        placed map-over-01-phone | awk -F '\t' -v n="N=${cell% *}" -v d="D=${cell#* }" -v figure="$figure" '
            $1 == n { y = $3 }
            $1 == d { x = $2 }
            $1 == figure { xs[++count] = $2; ys[count] = $3 }
            END {
                for (i = 1; i <= count; i++)
                    if (xs[i] - x < 1 && x - xs[i] < 1 && ys[i] - y < 1 && y - ys[i] < 1)
                        exit 0
                exit 1
            }'
    done
    drawn peers-phone | grep -qx 'N=8192 D=64 over cuBLAS unfused'
    drawn peers-phone | grep -qx 'N=4096 D=64 over PyTorch memory-efficient'
    drawn peers | grep -q '^[0-9.]*× over cuBLAS unfused$'
    # Each name is right above its figure.
    placed peers-phone | awk -F '\t' '/^N=/ { names++; y[names] = $3 } $1 ~ /^[0-9]+\.[0-9][0-9]×$/ { figures++; f[figures] = $3 }
        END { for (i = 1; i <= names; i++) if (f[i] - y[i] < 10 || f[i] - y[i] > 25) exit 1; exit names != figures || names < 5 }'
    awk -f "$BATS_TEST_DIRNAME/check-svg.awk" "$charts/peers-phone.svg"
    drawn bytes-d64-phone | grep -q '^loaded, [0-9.]*×$'
}

@test "several GPUs stand side by side, and one alone does not" {
    "$BATS_TEST_DIRNAME/make-results" results/other-gpu 4 "Other GPU" 0.5
    plots/draw --svg
    charts=$root/build/plots/all
    text gpus-tflops-d64 | grep -q '04 tiled online softmax: Example GPU 9000 20, Other GPU 10; 05 register tiling: Example GPU 9000 42.9'
    text gpus-speedup-d64 | grep -q '04 tiled online softmax: Example GPU 9000 43.0×, Other GPU 43.0×'
    [ "$(cut -f 1 "$charts/charts.tsv" | wc -l)" -eq 4 ]
    rm -r results/other-gpu
    mkdir build/plots/example-gpu/lessons
    run --separate-stderr plots/draw --svg
    [ "$status" -eq 0 ]
    [ ! -e "$charts" ]
    grep -qx 'plots/draw: build/plots/other-gpu was not of these results, and is removed' <<<"$stderr"
    [ "$(ls build/plots build/plots/example-gpu | xargs)" = "build/plots: example-gpu build/plots/example-gpu: solutions" ]
}

@test "a place that cannot be written: one line, status 2" {
    mkdir -p build
    touch build/plots
    run plots/draw --svg
    echo "$output"
    [ "$status" -eq 2 ]
    [ "$output" = "plots/draw: build/plots/example-gpu/solutions cannot be written; is the disk full?" ]
}

@test "what is missing is said in a line, and the other charts are drawn" {
    missing() { # file pattern message absent...
        "$BATS_TEST_DIRNAME/make-results" results/example-gpu
        if [ -n "$2" ]; then sed -i "/$2/d" "$gpu/$1"; else rm "$gpu/$1"; fi
        run --separate-stderr plots/draw --svg
        [ "$status" -eq 0 ]
        [ "$(wc -l <<<"$stderr")" -eq 1 ]
        [[ $stderr == *"$3"* ]]
        shift 3
        for chart; do [ ! -e "$charts/$chart.svg" ]; done
        [ -e "$charts/speedup-over-01.svg" ]
    }
    missing ceilings.csv '' 'no ceilings are measured'
    missing profile.csv '' 'no charts of roofline, bytes and limits' roofline-d64 bytes-d64 limits-d128
    missing attention.csv ',warm,' 'nothing is timed with warm caches' cache-d64 cache-d128
    [ -e "$charts/roofline-d64.svg" ]
    missing profile.csv '04_tiled.*,64,0,' 'no counts at D=64 of 04_tiled_online_softmax'
    text roofline-d64 | grep -q '03 fused softmax'
    text roofline-d64 | lacks '04 tiled'
    sed -i '/peer-/d' "$gpu/softmax.csv"
    missing attention.csv '^peers1' 'nothing' 2>/dev/null || true
    sed -i '/peer-/d' "$gpu"/*.csv
    run --separate-stderr plots/draw --svg
    [ "$status" -eq 0 ]
    grep -q 'no peers are timed' <<<"$stderr"
    [ ! -e "$charts/peers.svg" ]
}

@test "malformed rows of any file end it before anything is drawn" {
    for wrong in 'ceilings.csv s/4280.00/fast/' 'ceilings.csv s/,50,1980/,50,1980,1980/' 'profile.csv s/,byte,/,byte,none,/' \
        'profile.csv s/,[0-9.]*,2026/,much,2026/' 'attention.csv s/,cold,/,cool,/' 'softmax.csv s/,steady$/,quiet/' \
        'attention.csv s/abc1234/`id`/'; do
        "$BATS_TEST_DIRNAME/make-results" results/example-gpu
        sed -i "2,99${wrong#* }" "$gpu/${wrong%% *}"
        run plots/draw --svg
        [ "$status" -eq 2 ]
        [ "${#lines[@]}" -eq 1 ]
        [[ $output == "results/example-gpu/${wrong%% *}:"[0-9]*": "* ]]
        [ ! -e build ]
    done
}

@test "charts can stand in one page: no name is in two of them" {
    draw_whole
    grep -ho " id=['\"][^'\"]*['\"]" "$charts"/*.svg | sort | uniq -d >twice
    [ ! -s twice ]
}

@test "colours can be told apart, and the check of that finds colours that cannot" {
    awk -f "$BATS_TEST_DIRNAME/check-palette.awk" plots/style.gp
    for wrong in 's/#af9025/#ffee99/' 's/#659178/#d41f0a/' '/dark/,/else/s/array colour/array color/'; do
        sed "$wrong" plots/style.gp >wrong.gp
        run awk -f "$BATS_TEST_DIRNAME/check-palette.awk" wrong.gp
        [ "$status" -eq 1 ]
    done
}

@test "every solution's idea has its words" {
    for folder in "$project"/solutions/[0-9][0-9]_*/; do
        grep -q . "$project/lessons/$(basename "$folder")/idea"
    done
}
