#!/usr/bin/env bats
# plots/tables with synthetic results, and the committed pages compared with the committed results.

bats_require_minimum_version 1.5.0
load ../long

setup() {
    project=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    fixtures=$BATS_TEST_DIRNAME/fixtures
    root=$BATS_TEST_TMPDIR/root
    mkdir -p "$root/results/example-gpu" "$root/scripts"
    cp -R "$project/plots" "$root/"
    cp "$project/scripts/shared.sh" "$root/scripts/"
    rm -rf "$root/plots/charts"
    mkdir "$root/build"
    cp "$project/build/sql_text.so" "$root/build/"
    for lesson in 01_basic_attention 02_vectorized 03_fused_softmax 04_tiled_online_softmax; do
        mkdir -p "$root/solutions/$lesson" "$root/lessons/$lesson"
        printf 'before\n<!-- results:begin measured -->\n<!-- results:end measured -->\nafter\n' \
            >"$root/lessons/$lesson/README.md"
    done
    printf '<!-- results:begin softmax -->\nold\n<!-- results:end softmax -->\n' >>"$root/lessons/03_fused_softmax/README.md"
    printf 'top\n<!-- results:begin charts -->\n<!-- results:end charts -->\n<!-- results:begin ladder -->\nold\n%s\n' \
        '<!-- results:end ladder -->' >"$root/README.md"
    cp "$fixtures"/*.csv "$root/results/example-gpu/"
    cd "$root"
}

# Fails if a line of stdin matches; bats ignores the status of a bare `! grep`.
lacks() {
    if grep -- "$1"; then return 1; fi
}

@test "the table of the ladder has all lessons, and the text around the markers is kept" {
    run plots/tables
    [ "$status" -eq 0 ]
    [ "${#lines[@]}" -eq 5 ]
    [ "$(head -n 2 README.md)" = "$(printf 'top\n<!-- results:begin charts -->')" ]
    grep -qF '| [01 basic attention](lessons/01_basic_attention/README.md) | 180 / 336 | 0.382 / 0.409 | - | 1.0× / 1.0× |' README.md
    grep -qF '| [04 tiled online softmax](lessons/04_tiled_online_softmax/README.md) | 4.01 / 7.47 | 17.2 / 18.4 | 2.2× / 2.2× | 44.9× / 45.0× |' README.md
    grep -q 'fp32, B=1 H=16 N=4096.*Example GPU: driver 500.1, CUDA 13.0, SM clock 1490 to 1500 MHz, 2026-01-02, commit abc1234' README.md
    cat README.md | lacks '^old'
    [ "$(tail -n 1 README.md)" = '<!-- results:end ladder -->' ]
    [ "$(sed -n '1p;$p' lessons/02_vectorized/README.md | xargs)" = "before after" ]
}

@test "a lesson's page has the figures of that lesson; the page of lesson 03 also has the softmax" {
    plots/tables
    page=lessons/03_fused_softmax/README.md
    grep -qF '| Example GPU | 64 | 9.01 | 7.63 | 37 % | 3.3× | 20.0× |' "$page"
    grep -qF '| Example GPU | 128 | 16.8 | 8.18 | 40 % | 3.3× | 20.0× |' "$page"
    grep -qF '| 32768 × 8192 | 13766 | 156 | 2894 | 742 | 4.8× | 94 % |' "$page"
    cat "$page" | lacks '^old'
    grep -qF '| Example GPU | 64 | 180 | 0.382 | 2 % | - | 1.0× |' lessons/01_basic_attention/README.md
}

@test "a page begins with where the previous lesson ended; the first lesson has no previous one" {
    printf '<!-- results:begin before -->\n<!-- results:end before -->\n' | tee lessons/02_vectorized/README.md >lessons/01_basic_attention/README.md
    plots/tables
    grep -qE '^Lesson 01 reaches 0.382 TFLOP/s at D = 64 and 0.409 TFLOP/s at D = 128, [0-9.]+ % and [0-9.]+ % of the fp32 peak\.' lessons/02_vectorized/README.md
    grep -q '^Not measured yet' lessons/01_basic_attention/README.md
}

@test "a page has the counters of Nsight Compute, with labels if counters.tsv has them" {
    page=lessons/02_vectorized/README.md
    printf '<!-- results:begin counters -->\nold\n<!-- results:end counters -->\n' | tee "$page" \
        >lessons/01_basic_attention/README.md
    sed -n 's/some__metric.sum,\([^,]*\),12,/other__metric.sum,\1,7,/p' results/example-gpu/profile.csv >other
    [ "$(wc -l <other)" -eq 1 ]
    cat other >>results/example-gpu/profile.csv
    plots/tables
    grep -qF '| Nsight Compute, Example GPU | D=64 | D=128 |' "$page"
    grep -qF '| load requests to global memory | 419 M | - |' "$page"
    grep -qF '| written to device memory | 1.07 GB | - |' "$page"
    grep -qF '| issue slots busy | 67 % | 50 % |' "$page"
    grep -qF '| `some__metric.sum` | - | 12 |' "$page"
    grep -qF '| `other__metric.sum` | - | 7 |' "$page"
    cat lessons/01_basic_attention/README.md | lacks 'Nsight\|old'
}

@test "a page has the counters that counters.tsv places there, its notes have all" {
    page=lessons/02_vectorized/README.md notes=lessons/02_vectorized/NOTES.md
    printf '<!-- results:begin profile -->\n<!-- results:end profile -->\n' >$page
    printf '<!-- results:begin counters -->\n<!-- results:end counters -->\n' >$notes
    plots/tables
    grep -qF '| issue slots busy | 67 % | 50 % |' $page
    cat $page | lacks 'written to device memory'
    grep -qF '| issue slots busy | 67 % | 50 % |' $notes
    grep -qF '| written to device memory | 1.07 GB | - |' $notes
    sed -i '/issue slots busy/s/\tpage$//; /written to device memory$/s/$/\tpage/' plots/counters.tsv
    plots/tables
    cat $page | lacks 'issue slots busy'
    grep -q 'written to device memory' $page
    rm -r results/example-gpu
    plots/tables
    grep -qx 'Not measured yet: .*' $notes
}

@test "counters without labels have rows of their own" {
    for counter in another__metric.sum,inst,34 third__metric.sum,inst,56; do
        echo "solution-02_vectorized,Example GPU,1,16,4096,4096,128,0,$counter,2026-01-02,abc1234" >>results/example-gpu/profile.csv
    done
    printf '<!-- results:begin counters -->\n<!-- results:end counters -->\n' >lessons/02_vectorized/README.md
    plots/tables
    grep -qF '| `some__metric.sum` | - | 12 |' lessons/02_vectorized/README.md
    grep -qF '| `another__metric.sum` | - | 34 |' lessons/02_vectorized/README.md
    grep -qF '| `third__metric.sum` | - | 56 |' lessons/02_vectorized/README.md
}

@test "the CSV of Nsight Compute becomes rows of profile.csv; the last launch is used" {
    cat >ncu.csv <<'END'
"ID","Kernel Name","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value"
"0","void vectorized_attention<1>(const float *, int)","0","9.0","Command line profiler metrics","dram__bytes_read.sum","byte","1"
"1","void vectorized_attention<1>(const float *, int)","0","9.0","Command line profiler metrics","dram__bytes_read.sum","byte","33,554,432"
END
    plots/add-profile ncu.csv 'Example GPU' solution-02_vectorized 1,16,4096,128 abc1234
    tail -n 1 results/example-gpu/profile.csv |
        grep -qE '^solution-02_vectorized,Example GPU,1,16,4096,4096,128,0,dram__bytes_read.sum,byte,33554432,20..-..-..,abc1234$'
    printf '<!-- results:begin counters -->\n<!-- results:end counters -->\n' >lessons/02_vectorized/README.md
    plots/tables
    grep -qF '| read from device memory | - | 33.6 MB |' lessons/02_vectorized/README.md
    run plots/add-profile README.md 'Example GPU' solution-02_vectorized 1,16,4096,128 abc1234
    [ "$status" -eq 2 ]
    [ "${#lines[@]}" -eq 1 ]
}

@test "sums are added over several kernels; other metrics are taken from the larger kernel" {
    cat >ncu.csv <<'END'
"ID","Kernel Name","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value"
"0","combine(float *, int)","0","9.0","Command line profiler metrics","smsp__inst_executed.sum","inst","1,000"
"0","combine(float *, int)","0","9.0","Command line profiler metrics","dram__bytes_read.sum","byte","10,000"
"0","combine(float *, int)","0","9.0","Command line profiler metrics","smsp__issue_active.avg.pct_of_peak_sustained_active","%","5.5"
"1","void attention<1>(const float *, int)","0","9.0","Command line profiler metrics","smsp__inst_executed.sum","inst","9,000,000,000"
"1","void attention<1>(const float *, int)","0","9.0","Command line profiler metrics","dram__bytes_read.sum","byte","33,554,432"
"1","void attention<1>(const float *, int)","0","9.0","Command line profiler metrics","smsp__issue_active.avg.pct_of_peak_sustained_active","%","66.6"
END
    plots/add-profile ncu.csv 'Example GPU' solution-02_vectorized 1,16,4096,128 abc1234
    tail -n 3 results/example-gpu/profile.csv | cut -d , -f 9-11 >added
    printf '%s\n' smsp__inst_executed.sum,inst,9000001000 dram__bytes_read.sum,byte,33564432 \
        smsp__issue_active.avg.pct_of_peak_sustained_active,%,66.6 | cmp - added
}

@test "charts drawn for README.md are shown, with a text alternative of less than 200 letters" {
    plots/draw --readme
    plots/tables
    grep -qx '  <img alt="Bars: 4 kernels: fp32 from 0.382 to 17.2 TFLOP/s[.]" src="plots/charts/example-gpu/ladder.svg" width="1000">' README.md
    grep -qx '  <source .* srcset="plots/charts/example-gpu/ladder-narrow.svg" width="440">' README.md
    [ "$(grep -c '<img' README.md)" -eq 1 ]
    grep -q '<img alt="At 32768 × 8192 one pass .*" src="../../plots/charts/example-gpu/softmax.svg"' lessons/03_fused_softmax/README.md
    [ -e plots/charts/example-gpu/ladder-d64.svg ]
    [ ! -e plots/charts/example-gpu/ladder-d64.png ]
    cat README.md lessons/*/README.md | awk -F '"' '/<img/ && length($2) >= 200 { exit 1 }'
}

@test "a second run changes nothing; --check finds a page that was edited by hand" {
    plots/tables
    run plots/tables
    [ "$status" -eq 0 ]
    [ -z "$output" ]
    run plots/tables --check
    [ "$status" -eq 0 ]
    sed -i 's/| 3.3× |/| 3.4× |/' lessons/03_fused_softmax/README.md
    run plots/tables --check
    [ "$status" -eq 1 ]
    [ "$output" = "lessons/03_fused_softmax/README.md is out of date; run plots/tables [out-of-date]" ]
    grep -q '3.4×' lessons/03_fused_softmax/README.md
}

@test "two GPUs: a page shows the GPU measured last, results/MEASURED.md both, in separate tables" {
    mkdir results/other-gpu
    sed 's/Example GPU/Other GPU/; s/,20.5,/,41.0,/; s/,2026-01-/,2026-02-/' "$fixtures/attention.csv" >results/other-gpu/attention.csv
    printf '<!-- results:begin ladder -->\n<!-- results:end ladder -->\n' >results/MEASURED.md
    plots/tables
    [ "$(grep -c '^| \[02 vectorized\]' README.md)" -eq 1 ]
    grep -q '^Each pair is .* Other GPU: ' README.md
    grep -qF '| Other GPU | 64 | 9.01 | 7.63 | 19 % | 3.3× | 20.0× |' lessons/03_fused_softmax/README.md
    [ "$(grep -c 'GPU | 64' lessons/03_fused_softmax/README.md)" -eq 1 ]
    [ "$(grep -o '^| lesson |\|Other GPU: \|Example GPU: ' results/MEASURED.md | xargs)" = "| lesson | Other GPU: | lesson | Example GPU:" ]
}

@test "a value that a run lacks is a dash, never taken from another run" {
    csv=results/example-gpu/attention.csv
    # Both runs now have seven of the eight timings at N=4096; the newer one lacks lesson 02 at D=64.
    awk -F , '!($1 == "run2" && $2 ~ /02_/ && $13 == 64) && !($1 == "run1" && $2 ~ /03_/ && $13 == 128)' \
        "$fixtures/attention.csv" >"$csv"
    run --separate-stderr plots/tables
    [ "$status" -eq 0 ]
    grep -q '02_vectorized (D=64) \[missing-timings\]' <<<"$stderr"
    grep -qF '[02 vectorized](lessons/02_vectorized/README.md) | - / 56.0 | - / 2.45 | - / 6.0× | - / 6.0× |' README.md
    grep -qF '[03 fused softmax](lessons/03_fused_softmax/README.md) | 9.01 / 16.8 | 7.63 / 8.18 | - / 3.3× | 20.0× / 20.0× |' README.md
}

@test "a learner's own timings are not in the tables" {
    plots/tables
    before=$(cat README.md lessons/*/README.md | cksum)
    sed -n '2,$s/,solution-/,lesson-/p' "$fixtures/attention.csv" | sed 's/^run[12]/run7/; s/2026-01/2027-01/' \
        >>results/example-gpu/attention.csv
    plots/tables
    [ "$(cat README.md lessons/*/README.md | cksum)" = "$before" ]
}

# The rows of run2 again as a run of their own, each solution with its Triton kernel, `factor` times as slow.
add_triton() { # run factor
    local csv
    for csv in attention softmax; do
        awk -F , -v OFS=, -v run="$1" -v factor="$2" 'FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
            $2 !~ /^solution-/ || $1 == "run1" { next }
            { $1 = run; print; sub(/^solution-/, "peer-triton_", $2); $at["median_us"] *= factor; print }' \
            "$fixtures/$csv.csv" >>"results/example-gpu/$csv.csv"
    done
}

@test "a Triton kernel is compared with the solution of its lesson, in a run that has both" {
    for lesson in 01_basic_attention 03_fused_softmax; do
        printf '<!-- results:begin triton -->\nold\n<!-- results:end triton -->\n' >>"lessons/$lesson/README.md"
    done
    page=lessons/03_fused_softmax/README.md
    plots/tables
    [ "$(grep -c '^Not measured yet: .*Triton' "$page")" -eq 1 ]
    cat "$page" | lacks 'Triton / solution'
    add_triton run8 1.5
    plots/tables
    cat "$page" lessons/01_basic_attention/README.md | lacks 'Not measured yet\|^old'
    grep -qF '| Example GPU | 64 | 9.01 | 13.5 | 1.50× |' "$page"
    grep -qF '| Example GPU | 128 | 16.8 | 25.2 | 1.50× |' "$page"
    grep -qF '| Example GPU | 64 | 180 | 270 | 1.50× |' lessons/01_basic_attention/README.md
    grep -q '^| 32768 × 8192 | 2894 | 742 | 4341 | .* | 1.50× |$' "$page"
    cat lessons/01_basic_attention/README.md | lacks 'rows × columns | solution'
    # The tables of the ladder do not change.
    grep -qF '| Example GPU | 64 | 9.01 | 7.63 | 37 % | 3.3× | 20.0× |' "$page"
}

# add_grid RUN FACTOR: the solutions of the fixture in bf16 and at the shapes of its grid, and the Triton kernels.
add_grid() {
    awk -F , -v OFS=, -v run="$1" -v factor="$2" 'FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $2 !~ /^solution-02/ || $1 == "run1" || $at["Nq"] != 4096 || $at["causal"] != 0 { next }
        $at["D"] == 64 || $at["D"] == 128 {
            $1 = run; $at["dtype"] = "bf16"; $at["B"] = 4; $at["H"] = $at["Hkv"] = 2048 / $at["D"]
            print; sub(/^solution-/, "peer-triton_", $2); $at["median_us"] *= factor; print
        }' "$fixtures/attention.csv" >>results/example-gpu/attention.csv
}

@test "in 16 bits Triton is compared with the solution at the shapes of the grid" {
    page=lessons/02_vectorized/README.md
    printf '<!-- results:begin triton -->\n<!-- results:end triton -->\n' >>"$page"
    add_grid run8 1.5
    plots/tables
    cat "$page"
    [ "$(grep -c '^| Example GPU, bf16 | \(64\|128\) | .* | 1.50× |$' "$page")" -eq 2 ]
    grep -q "Triton's kernel compared with the solution; B=4 N=4096, H × D = 2048, no mask" "$page"
}

@test "a Triton kernel timed in another run, with warm caches or at another shape is not compared" {
    long
    page=lessons/02_vectorized/README.md
    printf '<!-- results:begin triton -->\n<!-- results:end triton -->\n' >>"$page"
    csv=results/example-gpu/attention.csv
    add_triton run8 2
    cp "$csv" complete.csv
    plots/tables
    grep -q 'Triton / solution' "$page"
    for change in run=run9 cache=warm causal=1 Nq=2048 dtype=bf16 H=8; do
        awk -F , -v OFS=, -v column="${change%=*}" -v value="${change#*=}" 'FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
            $2 ~ /^peer-/ { $at[column] = value } { print }' complete.csv >"$csv"
        plots/tables
        grep -q '^Not measured yet: .*Triton' "$page"
    done
}

@test "a lesson of 16 bits is compared with the previous one and with the best library, length by length, of one run" {
    mkdir -p {lessons,solutions}/{08,09}_made_up
    echo '// architecture: sm_90a' >solutions/09_made_up/attention.cu
    printf '<!-- results:begin libraries -->\n<!-- results:end libraries -->\n' >lessons/how-we-know.md
    page=lessons/09_made_up/README.md
    printf '<!-- results:begin %s -->\n<!-- results:end %s -->\n' lengths lengths gain gain >"$page"
    plots/tables
    grep -q '^Not measured yet: .*FlashAttention-3' "$page"
    grep -q '^Not measured yet: .*make bench' "$page"
    # Twice and half the time; with a mask one length less, and FlashAttention-3 in another run.
    awk -F , -v OFS=, 'FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $2 !~ /^solution-02/ || $1 == "run1" || $at["D"] != 64 || $at["Nq"] != 4096 || $at["causal"] != 0 || done++ { next }
        {
            us = $at["median_us"]; $at["dtype"] = "bf16"; $at["H"] = $at["Hkv"] = 32
            for (cell = 0; cell < 3; cell++) {
                $at["Nq"] = $at["Nk"] = cell == 1 ? 1024 : 512; $at["B"] = 16384 / $at["Nq"]; $at["causal"] = cell == 2
                $1 = "run8"; $2 = "solution-09_made_up"; $at["median_us"] = us; print
                $2 = "solution-08_made_up"; $at["median_us"] = 2 * us; print
                $1 = cell == 2 ? "run9" : "run8"; $2 = "peer-fa3"; $at["median_us"] = us / 2; print
                $1 = "run8"; $2 = "peer-torch_flash"; $at["median_us"] = 4 * us / (1 + 3 * cell); print
            }
        }' "$fixtures/attention.csv" >>results/example-gpu/attention.csv
    printf 'run,lesson,device,version,date\nrun8,peer-torch_flash,Example GPU,PyTorch 9.9,2026-01-02\n' >results/example-gpu/libraries.csv
    plots/tables
    cat "$page"
    grep -qxF '| bf16 | N=512 | N=1024 |' "$page"
    grep -qxF '| D=64 | 2.00× / 0.50× | 2.00× / 0.50× |' "$page"
    grep -qxF '| D=64, causal | 2.00× / - | - |' "$page" # FlashAttention-3 was not timed there, and might be the best
    grep -qxF '| speed-up | N=512 | N=1024 |' "$page"
    grep -qxF '| D=64 | 2.00× | 2.00× |' "$page"
    grep -qxF '| D=64, causal | 2.00× | - |' "$page"
    grep -q ' FlashAttention-3: 0.500 in the geometric mean of 2 shapes, 0.500 at least; ' "$page"
    grep -q ' The best library: 0.500 in the geometric mean of 2 shapes, 0.500 at least; ' "$page"
    grep -q ' commit abc1234\. PyTorch 9.9\.$' "$page"
    # The best library comes first, then each library, per shape, with the mean of each row and of all shapes.
    [ "$(grep -o '^| [a-zA-Z0-9 -]* | D=64 ' lessons/how-we-know.md | cut -d '|' -f 2 | xargs)" = "the best library FlashAttention-3 FlashAttention-2" ]
    grep -qxF '| the best library | all shapes | at least 0.500 | | 0.500 of 2 |' lessons/how-we-know.md
    grep -qxF '| FlashAttention-3 | D=64 | 0.50× | 0.50× | 0.500 |' lessons/how-we-know.md
    grep -qxF '| FlashAttention-2 | D=64 | 4.00× | 1.00× | 2.000 |' lessons/how-we-know.md
    grep -qxF '| FlashAttention-2 | all shapes | at least 0.571 | | 1.317 |' lessons/how-we-know.md
    # A shape that a library lacks is a dash in its column.
    sed -i '/^run8,peer-fa3,.*,512,512,64,0,/d' results/example-gpu/attention.csv
    plots/tables
    grep -qxF '| FlashAttention-3 | D=64 | - | 0.50× | 0.500 of 1 |' lessons/how-we-know.md
    grep -qxF '| the best library | D=64 | - | 0.50× | 0.500 of 1 |' lessons/how-we-know.md
}

@test "no results: the page reports it" {
    rm -r results/example-gpu
    run plots/tables
    [ "$status" -eq 0 ]
    grep -q 'Not measured yet' README.md
    grep -q 'Not measured yet' lessons/02_vectorized/README.md
    [ "$(grep -c 'Not measured yet' lessons/03_fused_softmax/README.md)" -eq 2 ]
}

@test "an invalid row, and unpaired markers: one line, status 2, no page is changed" {
    long
    before=$(cat README.md lessons/*/README.md | cksum)
    sed -i '7s/,fp32//' results/example-gpu/attention.csv
    run plots/tables
    [ "$status" -eq 2 ]
    [ "${#lines[@]}" -eq 1 ]
    [[ $output == results/example-gpu/attention.csv:7:*" [invalid-row]" ]]
    [ "$(cat README.md lessons/*/README.md | cksum)" = "$before" ]

    cp "$fixtures/attention.csv" results/example-gpu/
    page=lessons/04_tiled_online_softmax/README.md
    for wrong in '3s/measured/ladder/' 3d '2s/measured/speed/' 2d '3s/end/begin/'; do
        printf 'before\n<!-- results:begin measured -->\n<!-- results:end measured -->\nafter\n' | sed "$wrong" >"$page"
        before=$(cat README.md lessons/*/README.md | cksum)
        run plots/tables
        [ "$status" -eq 2 ]
        [ "${#lines[@]}" -eq 1 ]
        [[ $output == "$page:"[0-9]*": "*" ["*-*"]" ]]
        [ "$(cat README.md lessons/*/README.md | cksum)" = "$before" ]
    done
}

# Copies the committed results, without later measurements of the user, and the pages.
committed() {
    cp "$project/README.md" "$root/"
    rm -rf "$root/lessons" "$root/solutions" "$root/results"
    cp -R "$project/lessons" "$project/solutions" "$root/"
    mkdir -p "$root/scripts"
    ln -sf "$project/scripts/teach" "$root/scripts/"
    if git -C "$project" rev-parse --is-inside-work-tree >/dev/null 2>&1; then
        git -C "$project" archive --prefix=results/ HEAD:results | tar -x -C "$root"
    else
        cp -R "$project/results" "$root/"
    fi
    [ ! -d "$project/plots/charts" ] || cp -R "$project/plots/charts" "$root/plots/"
}

@test "plots/tables generates the committed pages from the committed results" {
    committed
    grep -q '^<!-- results:begin ladder -->' results/MEASURED.md
    grep -q '^<!-- results:begin charts -->' README.md
    for page in lessons/*/README.md; do
        [ ! -e "$page" ] || grep -q '^<!-- results:begin measured -->' "$page"
    done
    run plots/tables --check
    echo "$output"
    [ "$status" -eq 0 ]
}

@test "plots/draw generates the committed charts from the committed results" {
    committed
    # The layout depends on the version of gnuplot; the text alternative has all figures and the method.
    [ ! -d plots/charts ] || mv plots/charts charts
    plots/draw --readme
    for chart in $(cd charts 2>/dev/null && ls */*.svg) $(cd plots/charts 2>/dev/null && ls */*.svg); do
        [ "$(grep '^<desc' "charts/$chart")" = "$(grep '^<desc' "plots/charts/$chart")" ]
    done
    for list in $(cd charts 2>/dev/null && ls */charts.tsv) $(cd plots/charts 2>/dev/null && ls */charts.tsv); do
        cmp "charts/$list" "plots/charts/$list"
    done
}

@test "rows of another GPU, and counts and versions that cannot be: one line, status 2" {
    long
    csv=results/example-gpu/units.csv
    head -n 2 "$BATS_TEST_DIRNAME"/../../results/nvidia-h100-80gb-hbm3/units.csv | sed 's/NVIDIA H100 80GB HBM3/Example GPU/' >units
    for change in '2s/Example/Other/:device is' '2s/,fp32,/,fp99,/:dtype is' '2s/,2219835392,/,many,/:ffma is' '2s/,0,0,0,2026/,0,-1,0,2026/:fp16_operations is'; do
        sed "${change%:*}" units >$csv
        run plots/tables --check
        echo "$output"
        [ "$status" -eq 2 ]
        [[ $output == "$csv:2: ${change#*:} "* ]]
        [ "${#lines[@]}" -eq 1 ]
    done
    rm $csv
    printf 'run,lesson,device,version,date\nr,peer-fa3,Example GPU,;;,2026-01-01\n' >results/example-gpu/libraries.csv
    run plots/tables --check
    [[ $output == "results/example-gpu/libraries.csv:2: version is "* ]]
}
