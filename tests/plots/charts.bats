#!/usr/bin/env bats
# plots/draw with synthetic results of nonexistent GPUs, in a copy of the files that it needs.

bats_require_minimum_version 1.5.0
load ../long

setup() {
    project=$BATS_TEST_DIRNAME/../..
    fixtures=$BATS_TEST_DIRNAME/fixtures
    root=$BATS_TEST_TMPDIR/root
    mkdir -p "$root/results/example-gpu" "$root/solutions" "$root/scripts"
    cp -R "$project/plots" "$root/"
    cp "$project/scripts/shared.sh" "$root/scripts/"
    rm -rf "$root/plots/charts"
    mkdir "$root/build"
    cp "$project/build/sql_text.so" "$root/build/"
    for lesson in 01_basic_attention 02_vectorized 03_fused_softmax 04_tiled_online_softmax; do
        mkdir "$root/solutions/$lesson"
    done
    cp "$fixtures"/*.csv "$root/results/example-gpu/"
    csv=$root/results/example-gpu/attention.csv
    charts=$root/build/plots/example-gpu/solutions
    cd "$root"
}

# keep CONDITION: keeps the header and the rows of the CSV that match awk's condition on the columns $1, $2, ...
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

# Fails if a line of stdin matches; bats ignores the status of a bare `! grep`.
lacks() {
    if grep -- "$1"; then return 1; fi
}

# The texts in an SVG, one per line.
drawn() {
    sed -n 's/.*<text[^>]*>\(.*\)<\/text>.*/\1/p' "$1"
}

# full N: replaces the small results by complete results of N lessons.
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

@test "complete results give every chart and no warning; without --all the default charts" {
    full 5
    run --separate-stderr plots/draw --svg --all
    [ "$status" -eq 0 ]
    [ "$stderr" = "" ]
    for chart in ladder ladder-d64 ladder-d128 triton tflops-d64 tflops-d128 bytes-d64 bytes-d128 limits-d64 limits-d128 peers \
        softmax; do
        grep -q "solutions/$chart.svg" <<<"$output"
        xmllint --noout "$charts/$chart.svg"
        [ "$(grep -c "^$chart	" "$charts/charts.tsv")" -eq 1 ]
    done
    # The ladder has a second drawing for narrow pages.
    [ "$(find "$charts" -name '*.svg' | wc -l)" -eq $(($(wc -l <"$charts/charts.tsv") + 1)) ]
    # Name, title, caption, alternative, figures.
    awk -F '\t' 'NF != 5 || $2 == "" || $3 !~ /[.]$/ || $4 !~ /[.]$/ || length($4) >= 200 || length($5) < 40 { exit 1 }' "$charts/charts.tsv"
    plots/draw --svg
    [ "$(cut -f 1 "$charts/charts.tsv" | sort | xargs)" = "bytes-d64 ladder ladder-d64 limits-d64 peers softmax tflops-d64" ]
    run plots/draw --svg --only "triton"
    [ "$(cut -f 1 "$charts/charts.tsv")" = triton ]
}

@test "a chart is drawn again only if its data has changed" {
    long
    plots/draw --svg
    for chart in "$charts"/*.svg; do echo "$(basename "$chart")" >>"$chart"; done
    sed -i 's/,156\.[0-9]*,/,166.00,/' results/example-gpu/softmax.csv
    plots/draw --svg
    tail -n 1 "$charts/ladder-d64.svg" | grep -qx ladder-d64.svg
    tail -n 1 "$charts/softmax.svg" | grep -qx '</svg>'
}

@test "bitmaps are twice the size of the SVG" {
    long
    plots/draw
    for file in "$charts"/*.svg; do
        size=$(sed -n 's/^<rect x="0" y="0" width="\([0-9]*\)" height="\([0-9]*\)".*/\1 \2/p' "$file")
        # Bytes 16 to 23 of a PNG are its width and height.
        [ "$(od -An -tx1 -j16 -N8 "${file%.svg}.png" | tr -d ' ')" = "$(printf '%08x%08x' $((2 * ${size% *})) $((2 * ${size#* })))" ]
    done
}

@test "texts do not overlap, stay inside the picture, are large enough and have contrast, light and dark: 5 and 12 lessons, two GPUs, own lessons" {
    long
    full 5
    sed -e '/Example GPU/!d' -e 's/bench1/own1/; s/solution-0[45]/lesson-0&/; s/lesson-0solution-/lesson-/' "$csv" |
        grep '^own1' >rows
    cat rows >>"$csv"
    "$project/tests/plots/make-results" results/wide 12 "Example GPU (with a very long name of 80 GB HBM3)" 0.01
    plots/draw --svg --all >list
    grep -q 'lessons/ladder-d64.svg' list
    [ "$(wc -l <list)" -gt 30 ]
    "$project/tests/plots/check_svg.py" build/plots/*/*/*.svg
    # Of so many lines each has its name, and so has the peak.
    for name in 09 10 11 12 FA3 peak; do drawn build/plots/wide/solutions/tflops-bf16-d128.svg | grep -q "^$name"; done
}

@test "check_svg.py finds each kind of error" {
    long
    plots/draw --svg
    good=$charts/softmax.svg
    "$project/tests/plots/check_svg.py" "$good"
    for wrong in 's/font-size="1[58].00"/font-size="12.00"/' 's/fill="#1a1a1a"/fill="#bebebe"/' 's/translate(10.00,[0-9.]*)/translate(430.00,31.00)/' \
        's/translate([0-9.]*,[0-9.]*)/translate(100.00,100.00)/' 's/<desc.*<\/desc>/<desc><\/desc>/' 's/role="img"//' \
        's/\[fill="#1a1a1a"\]{fill:#[0-9a-f]*}/[fill="#1a1a1a"]{fill:#202020}/' "s/<polygon fill = '#305a9f' points = '/& 0,0 440,0 /" \
        "s/<path stroke='#1a1a1a'  d='/& M0,20 L440,20 /"; do
        sed "$wrong" "$good" >wrong.svg
        run cmp -s wrong.svg "$good"
        [ "$status" -eq 1 ]
        run "$project/tests/plots/check_svg.py" wrong.svg
        [ "$status" -eq 1 ]
        [ -n "$output" ]
    done
}

@test "a chart shows GPU, dtype, shape, run and method; its title states the main result" {
    plots/draw --svg --all
    for chart in ladder-d64 ladder-d128 tflops-d128 softmax; do
        drawn "$charts/$chart.svg" | tr '\n' ' ' >texts
        grep -q 'Example GPU' texts
        grep -q 'fp32' texts
        grep -q 'Median of interleaved CUDA-event timings, run of 2026-01-02' texts
    done
    drawn "$charts/ladder-d64.svg" | tr '\n' ' ' | grep -q 'B=1 H=16 N=4096 D=64, no mask'
    drawn "$charts/tflops-d128.svg" | grep -q 'peak 20.5'
    # 4 * 16 * 4096^2 * 64 operations in 180005 and 4005 us, of 20.5 TFLOP/s.
    drawn "$charts/ladder-d64.svg" | tr '\n' ' ' | grep -q 'From 0.382 to 17.2 TFLOP/s, 84 % of the fp32 peak'
}

@test "a title is about the largest N that is not noisy, and no line breaks between a number and its unit" {
    plots/draw --svg
    title() { cut -f 1,2 "$charts/charts.tsv" | sed -n "s/^$1	//p"; }
    [[ $(title tflops-d64) == "04 tiled online softmax reaches "*" at N=8192"* ]]
    awk -F , -v OFS=, '$11 == 8192 { $30 = "noisy" } { print }' "$csv" >"$csv.new"
    mv "$csv.new" "$csv"
    plots/draw --svg
    [[ $(title tflops-d64) == "04 tiled online softmax reaches "*" at N=4096"* ]]
    for chart in "$charts"/*.svg; do drawn "$chart"; done >texts
    grep -B 1 -E '^(TFLOP/s|GB|MB|%)' texts >broken || true
    lacks '[0-9]$' <broken
}

@test "the figures on the bars are computed from the medians" {
    plots/draw --svg --all
    [ "$(drawn "$charts/ladder-d64.svg" | grep -E '^[0-9.]+( \(.*\))?$' | xargs)" = "0.382 2.29 (6.0×) 7.63 (3.3×) 17.2 (2.2×)" ]
    text softmax | grep -q '32768 × 8192: five passes 156; one pass 742'
    text tflops-d64 | grep -q '04: .*17.2 at N=4096'
}

@test "rows of different runs are never mixed: the newest run with the most lessons is charted, of equals by its date" {
    add run9 solution-04_tiled_online_softmax 1 2026-02-02T00:00:00Z
    plots/draw --svg
    text ladder-d64 | grep -q '04 tiled online softmax: 17.2'
    text ladder-d64 | grep -q '2026-01-02'
    # Of two runs with the same number of lessons the newer one is charted, at any position in the file.
    add run9 solution-01_basic_attention 100 2026-02-02T00:00:00Z
    keep '$1 == "run9" || $2 ~ /-0[14]/ && $13 == 64 && $11 == 4096'
    (head -n 1 "$csv" && grep '^run9' "$csv" && grep '^run[12]' "$csv") >"$csv.new"
    mv "$csv.new" "$csv"
    plots/draw --svg
    text ladder-d64 | grep -q '2026-02-02'
}

@test "a missing lesson is reported and skipped, and the next lesson has no speed-up" {
    keep '$2 !~ /-02_/'
    run --separate-stderr plots/draw --svg
    [ "$status" -eq 0 ]
    [ "$(grep -c 'N=4096: 02_vectorized (D=64, D=128) \[missing-timings\]' <<<"$stderr")" -eq 1 ]
    text ladder-d64 | grep -q '03 fused softmax: 7.63; 04 tiled online softmax: 17.2 (2.2×)'
    text ladder-d64 | lacks '02 vectorized'
}

@test "a lesson without fp32 is not reported as missing" {
    keep '$2 !~ /-02_/'
    echo '    .dtypes = 1u << ATTENTION_FP16 | 1u << ATTENTION_BF16,' >solutions/02_vectorized/attention.cu
    run --separate-stderr plots/draw --svg
    lacks 'lacks at N=4096' <<<"$stderr"
}

@test "with one head dimension or one size the possible charts are drawn" {
    keep '$13 == 64 && $11 == 4096'
    rm results/example-gpu/softmax.csv results/example-gpu/profile.csv
    run --separate-stderr plots/draw --svg --all
    [ "$status" -eq 0 ]
    grep -q 'missing-timings' <<<"$stderr"
    [ "$(cut -f 1 "$charts/charts.tsv" | xargs)" = "ladder-d64 ladder" ]
}

@test "one lesson at two sizes, with the same TFLOP/s and no known peak" {
    keep '$1 == "run2" && $2 ~ /-01_/ && $13 == 64 && ($11 == 2048 || $11 == 4096)'
    awk -F , -v OFS=, 'NR > 1 { $21 = 0.5; $25 = 0 } { print }' "$csv" >"$csv.new"
    mv "$csv.new" "$csv"
    run plots/draw --svg
    [ "$status" -eq 0 ]
    text tflops-d64 | grep -q '01: 0.500 at N=2048, 0.500 at N=4096'
    drawn "$charts/tflops-d64.svg" | lacks peak
}

@test "rates close to the peak and at it: no figure is crossed; GPUs of one peak share their axis" {
    awk -F , -v OFS=, '$11 == 4096 && $21 > 0 { $21 = 20.5 * (0.72 + 0.07 * substr($2, 10, 2)); $15 = 4 * 16 * 4096 * 4096 * $13 / $21 / 1e6 } { print }' "$csv" >"$csv.new"
    mv "$csv.new" "$csv"
    mkdir results/other-gpu
    awk -F , -v OFS=, 'NR > 1 { $3 = "Other GPU"; $21 *= 0.9; $15 /= 0.9 } { print }' "$csv" >results/other-gpu/attention.csv
    plots/draw --svg
    text ladder-d64 | grep -q 'tiled online softmax: 20.5 '
    "$project/tests/plots/check_svg.py" build/plots/*/solutions/ladder*.svg
    # The right end of the second bar, of the same rate over 0.9.
    end_of() { grep -o "<polygon fill = '#305a9f' points = '[^']*" "build/plots/$1/solutions/ladder.svg" | sed -n '2s/.*'"'"'\([0-9.]*\),[^ ]* \([0-9.]*\),.*/\1 \2/p'; }
    [ "$(end_of example-gpu) $(end_of other-gpu)" ]
    echo "$(end_of example-gpu) $(end_of other-gpu)" | awk '{ ratio = ($4 - $3) / ($2 - $1); print ratio; exit !(ratio > 0.89 && ratio < 0.91) }'
}

@test "a slower lesson is charted as slower" {
    keep '$2 ~ /-0[12]_/ && $13 == 64 && $11 == 4096 && $1 == "run2"'
    awk -F , -v OFS=, '$2 ~ /-02_/ { $15 = 360010; $21 = 0.191 } { print }' "$csv" >"$csv.new"
    mv "$csv.new" "$csv"
    plots/draw --svg
    text ladder-d64 | grep -q '02 vectorized: 0.191 (0.50×)'
}

@test "several GPUs each get charts of their own" {
    long
    mkdir results/other-gpu
    sed 's/Example GPU/Other GPU (2)/; s/2026-01/2026-03/' "$csv" >results/other-gpu/attention.csv
    run plots/draw --svg
    [ "$status" -eq 0 ]
    text ladder-d64 | grep -q 'Example GPU'
    cat "$charts"/*.svg | lacks 'Other GPU'
    charts=$root/build/plots/other-gpu/solutions
    text ladder-d64 | grep -q 'Other GPU (2), .*fp32.*2026-03-02'
    [ ! -e "$charts/softmax.svg" ]
}

@test "a learner's lessons have charts of their own, completed by solutions of the same run" {
    long
    add run5 solution-01_basic_attention 1000 2026-01-05
    add run5 lesson-02_vectorized 250 2026-01-05
    run plots/draw --svg
    [ "$status" -eq 0 ]
    text ladder-d64 | grep -q '02 vectorized: 2.29 (6.0×)'
    charts=$root/build/plots/example-gpu/lessons
    text ladder-d64 | grep -q 'own lessons.*01 basic attention\*: .*; 02 vectorized: .* (4.0×)'
}

@test "other shapes, masks and kernels are skipped and reported" {
    awk -F , -v OFS=, 'NR == 2 { $8 = 2; print; $8 = 1; $14 = 1; print; $14 = 0; $2 = "kernel-mine.cu"; print }' \
        "$csv" >rows
    cat rows >>"$csv"
    run --separate-stderr plots/draw --svg
    [ "$status" -eq 0 ]
    grep -q ' 3 rows .*\[uncharted-rows\]' <<<"$stderr"
}

@test "empty results: one line, nothing drawn" {
    rm -r results/example-gpu
    run plots/draw --svg
    [ "$status" -eq 0 ]
    [ "${#lines[@]}" -eq 1 ]
    [[ $output == *"[no-results]" ]]
    mkdir results/example-gpu
    head -n 1 "$fixtures/attention.csv" >"$csv"
    run plots/draw --svg
    [ "$status" -eq 0 ]
    [ "${#lines[@]}" -eq 1 ]
    [ ! -e build/plots ]
}

@test "no chart has a tooltip with code, and charts can share a page because their ids are unique" {
    plots/draw --svg
    for file in "$charts"/*.svg; do [ "$(grep -c '<title' "$file")" -eq 1 ]; done
    grep -ho " id=['\"][^'\"]*['\"]" "$charts"/*.svg | sort | uniq -d >twice
    [ ! -s twice ]
}

@test "an invalid row is reported with file and line, and no chart is drawn or removed" {
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
        [[ $output == "results/example-gpu/attention.csv:5: "*" [invalid-row]" ]]
    done
    [ "$(cat "$charts"/* | cksum)" = "$before" ]
}

@test "a file without required columns is reported" {
    sed '1s/,copy_gb_per_s//' "$fixtures/softmax.csv" >results/example-gpu/softmax.csv
    run plots/draw --svg
    [ "$status" -eq 2 ]
    [ "${#lines[@]}" -eq 1 ]
    [[ $output == "results/example-gpu/softmax.csv:1: the header has no column 'copy_gb_per_s'; "*" [invalid-row]" ]]
}

@test "without gnuplot: one line, status 2" {
    mkdir bin
    for tool in sh awk dirname basename mktemp rm cat grep sqlite3; do
        ln -s "$(command -v $tool)" bin/
    done
    run env PATH="$root/bin" plots/draw
    [ "$status" -eq 2 ]
    [ "$output" = "plots/draw: gnuplot is not installed; run ./setup [no-gnuplot]" ]
    [ ! -e build/plots ]
}

@test "another folder of results, and a call from another folder" {
    long
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

@test "a chart that can no longer be drawn is removed" {
    long
    plots/draw --svg
    rm results/example-gpu/softmax.csv
    plots/draw --svg
    [ ! -e "$charts/softmax.svg" ]
    [ -e "$charts/tflops-d64.svg" ]
    [ "$(ls build/plots/example-gpu)" = solutions ]
}
