#!/usr/bin/env bats
# plots/draw on made-up results of GPUs that do not exist, in a copy of what it needs.

bats_require_minimum_version 1.5.0

setup() {
    project=$BATS_TEST_DIRNAME/../..
    fixtures=$BATS_TEST_DIRNAME/fixtures
    root=$BATS_TEST_TMPDIR/root
    mkdir -p "$root/results/example-gpu" "$root/solutions"
    cp -R "$project/plots" "$root/"
    rm -rf "$root/plots/charts"
    for lesson in 01_basic_attention 02_vectorized 03_fused_softmax 04_tiled_online_softmax; do
        mkdir "$root/solutions/$lesson"
    done
    cp "$fixtures"/*.csv "$root/results/example-gpu/"
    csv=$root/results/example-gpu/attention.csv
    charts=$root/build/plots/example-gpu/solutions
    cd "$root"
}

# Rows of the CSV that awk's condition chooses, beside the header; columns are $1, $2, ... as in the file.
keep() {
    awk -F , "NR == 1 || ($1)" "$csv" >"$csv.new"
    mv "$csv.new" "$csv"
}

# A row of lesson $2 at N=4096 D=64 in run $1, of $3 microseconds, on date $4.
add() {
    awk -F , -v OFS=, -v run="$1" -v lesson="$2" -v us="$3" -v date="$4" \
        '$2 == "solution-01_basic_attention" && $11 == 4096 && $13 == 64 {
            $1 = run; $2 = lesson; $15 = us; $27 = date; print; exit }' "$fixtures/attention.csv" >>"$csv"
}

# The text alternative of a chart, which holds every figure that the chart shows.
text() {
    sed -n 's/<desc id="[a-z0-9-]*-text">\(.*\)<\/desc>/\1/p' "$charts/$1.svg"
}

# Reads what must not have a line that matches; bats lets a bare `! grep` pass.
lacks() {
    if grep -- "$1"; then return 1; fi
}

# The texts that are drawn, one a line.
drawn() {
    sed -n 's/.*<text[^>]*>\(.*\)<\/text>.*/\1/p' "$1"
}

# In the place of the small results: all that results can hold, of $1 lessons.
full() {
    rm -r results/example-gpu
    "$project/tests/plots/make-results" results/example-gpu "$1"
    mkdir -p solutions/05_register_tiling lessons scripts
    cp -R "$project"/lessons/0[1-4]_* lessons/
    ln -sf "$project/scripts/teach" scripts/
    mkdir -p lessons/05_register_tiling
    printf 'name,unit,formula\nglobal_async_copy_bytes,bytes,"B*H*ceil(NQ/64) * 8 * NK * D"\n' \
        >lessons/05_register_tiling/predictions.csv
}

# The names of a chart's files, without their endings: wide and for a phone, light and dark.
files_of() {
    echo "$1" "$1-dark" "$1-phone" "$1-phone-dark"
}

@test "from whole results every chart is drawn, wide and for a phone, light and dark, and nothing is said to be missing" {
    full 5
    run --separate-stderr plots/draw --svg
    [ "$status" -eq 0 ]
    [ "$stderr" = "" ]
    for chart in speedup-over-01 speedup-over-previous triton time-d64 time-d128 tflops-d64 tflops-d128 roofline-d64 \
        tflops-bf16-d64 tflops-bf16-d64-causal tflops-bf16-d128 tflops-bf16-d128-causal roofline-d128 bytes-d64 bytes-d128 limits-d64 limits-d128 map-over-01 map-over-peer peers cache-d64 cache-d128 \
        softmax; do
        grep -q "solutions/$chart.svg" <<<"$output"
        for file in $(files_of "$chart"); do xmllint --noout "$charts/$file.svg"; done
        [ "$(grep -c "^$chart	" "$charts/charts.tsv")" -eq 1 ]
    done
    for chart in $(cut -f 1 "$charts/charts.tsv"); do
        # Light and dark say the same, and all four to those who do not see them.
        for size in '' -phone; do
            cmp <(drawn "$charts/$chart$size.svg") <(drawn "$charts/$chart$size-dark.svg")
            cmp <(text "$chart") <(text "$chart$size-dark")
            grep -q 'fill="#ffffff"' "$charts/$chart$size.svg"
            grep -q 'fill="#0d1117"' "$charts/$chart$size-dark.svg"
        done
        # What is drawn for a phone is as wide as its canvas was meant to be, and its smallest type is 11 pixels at 328.
        for file in "$charts/$chart-phone.svg" "$charts/$chart-phone-dark.svg"; do
            grep -q '^ viewBox="0 0 360 ' "$file"
            [ "$(grep -o 'font-size="[0-9.]*' "$file" | tr -d 'a-z="-' | sort -n |
                awk 'NR == 1 { print($1 * 328 / 360 >= 11) }')" -eq 1 ]
        done
    done
    # A figure that is drawn wide is drawn for a phone.
    for chart in speedup-over-01 map-over-01 map-over-peer limits-d64 limits-d128; do
        cmp <(drawn "$charts/$chart.svg" | grep -E '^~?[0-9]+\.[0-9]+×$|^[0-9]+ %$' | sort) \
            <(drawn "$charts/$chart-phone.svg" | grep -E '^~?[0-9]+\.[0-9]+×$|^[0-9]+ %$' | sort)
    done
    [ "$(find "$charts" -name '*.svg' | wc -l)" -eq $((4 * $(wc -l <"$charts/charts.tsv"))) ]
    awk -F '\t' 'NF != 4 || $2 == "" || $3 !~ /[.]$/ || length($4) < 100 { exit 1 }' "$charts/charts.tsv"
}

@test "bitmaps are twice the size of the SVG, light and dark" {
    plots/draw
    for chart in $(cut -f 1 "$charts/charts.tsv"); do
        for file in $(files_of "$chart"); do
            size=$(sed -n 's/^<rect x="0" y="0" width="\([0-9]*\)" height="\([0-9]*\)".*/\1 \2/p' "$charts/$file.svg")
            # Width and height are the bytes 16 to 23 of a PNG.
            [ "$(od -An -tx1 -j16 -N8 "$charts/$file.png" | tr -d ' ')" = \
                "$(printf '%08x%08x' $((2 * ${size% *})) $((2 * ${size#* })))" ]
        done
    done
}

@test "no text covers another, leaves the picture, is too small or too faint: 5 lessons, 12, two GPUs, own lessons" {
    full 5
    sed -e '/Example GPU/!d' -e 's/bench1/own1/; s/solution-0[45]/lesson-0&/; s/lesson-0solution-/lesson-/' "$csv" |
        grep '^own1' >rows
    cat rows >>"$csv"
    "$project/tests/plots/make-results" results/wide 12 "Example GPU (with a very long name of 80 GB HBM3)" 0.01
    plots/draw --svg >list
    grep -q 'all/gpus-tflops-d64.svg' list
    grep -q 'lessons/speedup-over-01.svg' list
    find build/plots -name '*.svg' | sort >files
    [ "$(wc -l <files)" -gt 240 ]
    while read -r file; do
        awk -f "$project/tests/plots/check-svg.awk" "$file"
    done <files
    grep -q 'wide/solutions/peers-phone-dark.svg' files
}

@test "check-svg.awk finds what it looks for" {
    plots/draw --svg
    for good in "$charts/softmax.svg" "$charts/softmax-phone.svg"; do
        awk -f "$project/tests/plots/check-svg.awk" "$good"
        move='s/translate(\(16\|8\).00,[0-9.]*)/translate(690.00,31.00)/'
        for wrong in 's/font-size="1[63].00"/font-size="12.00"/' 's/fill="rgb(26,26,26)"/fill="rgb(190,190,190)"/' "$move" \
            's/translate([0-9.]*,[0-9.]*)/translate(100.00,100.00)/' 's/<desc.*/<desc><\/desc>/' 's/role="img"//' \
            's/fill="#ffffff"/fill="#000000"/'; do
            sed "$wrong" "$good" >wrong.svg
            run awk -f "$project/tests/plots/check-svg.awk" wrong.svg
            [ "$status" -eq 1 ]
            [ -n "$output" ]
        done
    done
}

@test "a chart says GPU, dtype, shape, date and how it was measured, in what is drawn" {
    plots/draw --svg
    for chart in speedup-over-01 speedup-over-previous time-d64 tflops-d128 softmax; do
        drawn "$charts/$chart.svg" >texts
        grep -q 'Example GPU' texts
        grep -q 'fp32' texts
        grep -q 'Median of interleaved CUDA-event timings, 2026-01-02' texts
    done
    drawn "$charts/speedup-over-01.svg" | grep -q 'B=1 H=16 N=4096, no mask'
    drawn "$charts/tflops-d128.svg" | grep -q 'B=1 H=16 D=128, no mask'
    drawn "$charts/tflops-d128.svg" | grep -q 'fp32 peak on paper, 20.5 TFLOP/s'
}

@test "the figures on the bars are the ratios of the medians" {
    plots/draw --svg
    # 180005 us against 30005, 9005 and 4005 us at D=64; 335896.88 against 55986.98, 16799.59 and 7469.26 at D=128.
    [ "$(drawn "$charts/speedup-over-01.svg" | grep '^[0-9.]*×$' | grep -vE '^(1|2|5|10|20|50)×$' | xargs)" = \
        "1.0× 1.0× 6.0× 6.0× 20.0× 20.0× 44.9× 45.0×" ]
    [ "$(drawn "$charts/speedup-over-previous.svg" | grep '^[0-9]*\.[0-9]×$' | xargs)" = \
        "6.0× 6.0× 3.3× 3.3× 2.2× 2.2×" ]
    text speedup-over-01 | grep -q '04 tiled online softmax: D=64 44.9×, D=128 45.0×'
    text softmax | grep -q '32768 × 8192: copy 787 GB/s, five passes 156 GB/s, one read, one write 742 GB/s'
    text time-d64 | grep -q '04 tiled online softmax: .*, 4 at N=4096'
}

@test "rows of different runs are never mixed: the newest run with the most lessons is charted" {
    add run9 solution-04_tiled_online_softmax 1 2026-02-02T00:00:00Z
    plots/draw --svg
    text speedup-over-01 | grep -q '04 tiled online softmax: D=64 44.9×'
    text speedup-over-01 | grep -q '2026-01-02'
    # With as many lessons, the newer one is charted.
    add run9 solution-01_basic_attention 100 2026-02-02T00:00:00Z
    keep '$1 == "run9" || $2 ~ /-0[14]/ && $13 == 64 && $11 == 4096'
    plots/draw --svg
    text speedup-over-01 | grep -q '04 tiled online softmax: D=64 100×'
    text speedup-over-01 | grep -q '2026-02-02'
}

@test "newer means the date, not the place in the file" {
    (head -n 1 "$csv" && grep '^run2' "$csv" && grep '^run1' "$csv") >"$csv.new"
    mv "$csv.new" "$csv"
    plots/draw --svg
    text speedup-over-01 | grep -q '2026-01-02'
}

@test "a missing lesson is said, its bars are left out, and the one after has no lesson before it" {
    keep '$2 !~ /-02_/'
    run --separate-stderr plots/draw --svg
    [ "$status" -eq 0 ]
    [ "$(grep -c 'N=4096: 02_vectorized (D=64, D=128)' <<<"$stderr")" -eq 1 ]
    text speedup-over-01 | grep -q '03 fused softmax: D=64 20.0×'
    text speedup-over-01 | lacks '02 vectorized'
    text speedup-over-previous | grep -q '04 tiled online softmax: D=64 2.2×'
    text speedup-over-previous | lacks '03 fused softmax'
}

@test "without lesson 01 there is no chart of the speed-up over it" {
    keep '$2 !~ /-01_/'
    run plots/draw --svg
    [ "$status" -eq 0 ]
    [ ! -e "$charts/speedup-over-01.svg" ]
    text speedup-over-previous | grep -q '03 fused softmax: D=64 3.3×'
    text time-d64 | grep -q '02 vectorized'
}

@test "one head dimension, or one size, gives the charts that can be drawn" {
    keep '$13 == 64 && $11 == 4096'
    rm results/example-gpu/softmax.csv results/example-gpu/profile.csv
    run --separate-stderr plots/draw --svg
    [ "$status" -eq 0 ]
    grep -q 'everything at D=128' <<<"$stderr"
    grep -q 'two sizes or more' <<<"$stderr"
    [ "$(cut -f 1 "$charts/charts.tsv" | xargs)" = "speedup-over-01 speedup-over-previous" ]
    [ "$(ls "$charts" | wc -l)" -eq 9 ]
}

@test "one lesson at two sizes, with the same TFLOP/s and no known peak" {
    keep '$1 == "run2" && $2 ~ /-01_/ && $13 == 64 && ($11 == 2048 || $11 == 4096)'
    awk -F , -v OFS=, 'NR > 1 { $21 = 0.5; $25 = 0 } { print }' "$csv" >"$csv.new"
    mv "$csv.new" "$csv"
    run plots/draw --svg
    [ "$status" -eq 0 ]
    text tflops-d64 | grep -q '01 basic attention: 0.5 at N=2048, 0.5 at N=4096'
    drawn "$charts/tflops-d64.svg" | lacks peak
}

@test "a slower lesson is charted as slower" {
    keep '$2 ~ /-0[12]_/ && $13 == 64 && $11 == 4096 && $1 == "run2"'
    sed -i 's/,30005.00,/,360010.00,/' "$csv"
    plots/draw --svg
    text speedup-over-01 | grep -q '02 vectorized: D=64 0.50×'
}

@test "several GPUs each get charts of their own" {
    mkdir results/other-gpu
    sed 's/Example GPU/Other GPU (2)/; s/2026-01/2026-03/' "$csv" >results/other-gpu/attention.csv
    run plots/draw --svg
    [ "$status" -eq 0 ]
    text speedup-over-01 | grep -q 'Example GPU'
    cat "$charts"/*.svg | lacks 'Other GPU'
    charts=$root/build/plots/other-gpu/solutions
    text speedup-over-01 | grep -q 'Other GPU (2), fp32.*2026-03-02'
    [ ! -e "$charts/softmax.svg" ]
}

@test "a learner's lessons are charted apart, beside the solutions of the same run" {
    add run5 solution-01_basic_attention 1000 2026-01-05
    add run5 lesson-02_vectorized 250 2026-01-05
    run plots/draw --svg
    [ "$status" -eq 0 ]
    text speedup-over-01 | grep -q '02 vectorized: D=64 6.0×'
    charts=$root/build/plots/example-gpu/lessons
    text speedup-over-01 | grep -q 'own lessons.*01 basic attention\*: D=64 1.0×; 02 vectorized: D=64 4.0×'
    drawn "$charts/speedup-over-01.svg" | grep -q '\* solution'
}

@test "other shapes, masks and kernels are not mixed in, and that is said" {
    awk -F , -v OFS=, 'NR == 2 { $8 = 2; print; $8 = 1; $14 = 1; print; $14 = 0; $2 = "kernel-mine.cu"; print }' \
        "$csv" >rows
    cat rows >>"$csv"
    run --separate-stderr plots/draw --svg
    [ "$status" -eq 0 ]
    grep -q '3 rows are in no chart' <<<"$stderr"
}

@test "empty results: one line, nothing drawn" {
    rm -r results/example-gpu
    run plots/draw --svg
    [ "$status" -eq 0 ]
    [ "${#lines[@]}" -eq 1 ]
    [[ $output == *"results holds no measurements"*"make bench"* ]]
    mkdir results/example-gpu
    head -n 1 "$fixtures/attention.csv" >"$csv"
    run plots/draw --svg
    [ "$status" -eq 0 ]
    [ "${#lines[@]}" -eq 1 ]
    [ ! -e build ]
}

@test "no chart shows code beside the pointer, or holds a mark that it does not use" {
    plots/draw --svg
    for file in "$charts"/*.svg; do
        [ "$(grep -c '<title' "$file")" -eq 1 ]
        for mark in $(grep -o " id='[^']*gpPt[0-9]*" "$file" | sed "s/.*'//"); do
            grep -q "href='#$mark'" "$file"
        done
    done
}

@test "a malformed row is said with file and line, and nothing is drawn or lost" {
    plots/draw --svg
    before=$(cat "$charts"/* | cksum)
    for wrong in 's/,fp32,1,16/,fp32,16/' 's/,fp32.*//' 's/,[0-9.]*,[0-9.]*,[0-9.]*,50,/,fast,1,1,50,/' 's/^run1/run1,/' \
        's/^run1//' 's/2026-01-01/yesterday/' 's/,64,0,/,64,2,/' 's/solution-/solutions-/' 's/Example GPU/`ls`/'; do
        sed "5$wrong" "$fixtures/attention.csv" >"$csv"
        run cmp -s "$csv" "$fixtures/attention.csv"
        [ "$status" -eq 1 ]
        run plots/draw --svg
        [ "$status" -eq 2 ]
        [ "${#lines[@]}" -eq 1 ]
        [[ $output == "results/example-gpu/attention.csv:5: "*"delete this line" ]]
    done
    [ "$(cat "$charts"/* | cksum)" = "$before" ]
}

@test "a file without the columns is said" {
    sed '1s/,copy_gb_per_s//' "$fixtures/softmax.csv" >results/example-gpu/softmax.csv
    run plots/draw --svg
    [ "$status" -eq 2 ]
    [ "${#lines[@]}" -eq 1 ]
    [[ $output == "results/example-gpu/softmax.csv:1: the header has no column 'copy_gb_per_s'; "* ]]
}

@test "without gnuplot: one line, status 2" {
    mkdir bin
    for tool in sh awk dirname basename mktemp rm cat grep; do
        ln -s "$(command -v $tool)" bin/
    done
    run env PATH="$root/bin" plots/draw
    [ "$status" -eq 2 ]
    [ "$output" = "plots/draw: gnuplot is not installed; run ./setup" ]
    [ ! -e build ]
}

@test "wrong arguments: one line, status 2" {
    run plots/draw nowhere
    [ "$status" -eq 2 ]
    [ "$output" = "plots/draw: there is no folder nowhere; make bench writes results on a machine with a GPU" ]
    run plots/draw --fast
    [ "$status" -eq 2 ]
    [ "${#lines[@]}" -eq 1 ]
    run plots/draw results results
    [ "$status" -eq 2 ]
    [ "${#lines[@]}" -eq 1 ]
}

@test "another folder of results, and a call from another folder" {
    mkdir elsewhere
    mv results/example-gpu elsewhere/
    run plots/draw elsewhere
    [ "$status" -eq 0 ]
    [ -e "$charts/softmax.svg" ]
    rm -r build
    cd elsewhere
    run ../plots/draw ../elsewhere
    [ "$status" -eq 0 ]
    [ -e "$charts/softmax.svg" ]
}

@test "a chart that can no longer be drawn does not stay behind" {
    plots/draw --svg
    rm results/example-gpu/softmax.csv
    plots/draw --svg
    [ ! -e "$charts/softmax.svg" ]
    [ -e "$charts/time-d64.svg" ]
    [ "$(ls build/plots/example-gpu)" = solutions ]
}
