#!/usr/bin/env bats
# make post: the contents of a post and the errors. Charts are placeholders here; page.bats uses real ones.

load ../long
load helpers

setup_file() {
    copy_sources
    stand_in_for_charts
}

setup() {
    cd "$project" || return 1
    unset GPU OUTLINE RESULTS MAKEFLAGS MAKELEVEL
    rm -rf results/* build/post build/post-charts build/drawn .progress
    mkdir -p results/example-gpu
    ladder r1 2099-01-01T00:00:00Z solution-01_basic_attention=80000 solution-02_vectorized=20000 solution-03_fused_softmax=8000 \
        solution-04_tiled_online_softmax=3200 | "$BATS_TEST_DIRNAME/make-results" >results/example-gpu/attention.csv
    post=build/post/example-gpu/post.md
    page=build/post/example-gpu/index.html
}

# outline LINE...: a text of these lines.
outline() {
    { echo "# Title"; echo; printf '%s\n' "$@"; } >"$BATS_TEST_TMPDIR/outline.md"
}
told() {
    outline "$@"
    run post_of OUTLINE="$BATS_TEST_TMPDIR/outline.md"
    echo "$output"
    [ "$status" -eq 0 ]
    cat "$post"
}
has_line() {
    grep -q -x -- "$1" "$post"
}

# checked FILE true|false: what a whole check of a lesson's file leaves behind.
checked() {
    scripts/teach record "lessons/$1" whole "$2" || true
}

@test "every figure in the post of the committed results equals the results" {
    cp -R "$root"/results/*/ results
    rm -r results/example-gpu
    run post_of
    echo "$output"
    [ "$status" -eq 0 ]
    for folder in "$root"/results/*/; do
        [ -f "$folder/attention.csv" ] || continue
        post=build/post/$(basename "$folder")/post.md
        python3 "$BATS_TEST_DIRNAME/figures.py" "$folder" "$post"
        [ "$(python3 "$BATS_TEST_DIRNAME/figures.py" "$folder" "$post" | sed -n 's/ figures//p')" -ge 50 ]
        # The page has the same ones in its tables.
        for figure in $(grep '^|' "$post" | grep -o '[0-9][0-9.]*[^0-9 |]*[µm]s'); do
            grep -q -F "$figure</td>" "${post%post.md}index.html"
        done
    done
    # A wrong figure is found.
    sed -i '0,/[0-9]×/s/[0-9]×/7777×/' "$post"
    run python3 "$BATS_TEST_DIRNAME/figures.py" "$folder" "$post"
    [ "$status" -eq 1 ]
}

@test "placeholders are replaced by figures" {
    told "a {{time 04 64}} b {{time 03 128}} c {{tflops 04 64}} d {{share 04 64}} e {{speedup 04 03 64}} f" \
        "g {{time first 64}} h {{time last 64}} i {{speedup last first 128}} j {{device}} k {{count}} l {{title 02}} m" \
        "n {{commit}} o {{date}} p {{clock}} q {{peak}} r {{driver}} s {{cuda}} t {{sms}} u"
    nbsp=$'\u00a0'
    # 4 * 16 * 4096 * 4096 * 64 operations in 3200 us, of 20 TFLOP/s.
    has_line "a 3.20${nbsp}ms b 16.0${nbsp}ms c 21.5${nbsp}TFLOP/s d 107${nbsp}% e 2.5× f"
    has_line "g 80.0${nbsp}ms h 3.20${nbsp}ms i 25.0× j Example GPU k four l 02 vectorized m"
    has_line "n abc1234 o 2099-01-01 p 1490 to 1500${nbsp}MHz q 20.0${nbsp}TFLOP/s r 500.1 s 13.0 t 10 u"
}

@test "only timings of one run are compared" {
    # Another run, newer, has a faster lesson 03 alone: nothing in the post is divided by it.
    ladder r2 2099-02-01T00:00:00Z solution-03_fused_softmax=100 | "$BATS_TEST_DIRNAME/make-results" | tail -n +2 \
        >>results/example-gpu/attention.csv
    told "a {{speedup 03 02 64}} b {{time 03 64}} c"
    has_line "a 2.5× b 8.00.*ms c"
    # A peer was timed in a run of its own with lesson 04, which was slower there.
    ladder r3 2099-03-01T00:00:00Z solution-04_tiled_online_softmax=4000 peer-torch_efficient=2000 |
        "$BATS_TEST_DIRNAME/make-results" | tail -n +2 >>results/example-gpu/attention.csv
    told "a {{speedup 04 peer-torch_efficient 64}} b {{time 04 64}} c" "" "{{table peers 64}}"
    has_line "a 0.50× b 3.20.*ms c"
    has_line "| 04 tiled online softmax | 4.00.*ms |.*"
    has_line "| PyTorch, memory-efficient | 2.00.*ms |.*| 0.50× |"
    # Two that no run has both of.
    outline "Kept." "No {{speedup 01 peer-torch_efficient 64}}."
    run post_of OUTLINE="$BATS_TEST_TMPDIR/outline.md"
    [ "$status" -eq 2 ]
    [[ $output == *"outline.md:4: {{speedup 01 peer-torch_efficient 64}} is not in these results"* ]]
}

@test "a figure typed by hand is an error, with file and line" {
    long
    for figure in "3.19 ms" "12us" "12 µs" "24.8 TFLOP/s" "4015 GB/s" "4.2 TB/s" "32 %" "45%" "1.8×" "1.8 x" "12x" "4 times" \
        "3-fold" "1980 MHz" "1.35 GB" "2 s" "40 seconds"; do
        outline "A line." "It takes $figure there."
        run post_of OUTLINE="$BATS_TEST_TMPDIR/outline.md"
        echo "$figure: $output"
        [ "$status" -eq 2 ]
        [[ $output == *"$BATS_TEST_TMPDIR/outline.md:4: "*"by hand"* ]]
        [ ! -e "$post" ]
    done
    # In a listing and in a heading, too.
    for lines in '```|takes 5 ms|```' '|## In 5 ms|Text.'; do
        IFS='|' read -r first second third <<<"$lines"
        outline "$first" "$second" "$third"
        run post_of OUTLINE="$BATS_TEST_TMPDIR/outline.md"
        [ "$status" -eq 2 ]
        [[ $output == *"outline.md:4: '5 ms' is a figure written by hand"* ]]
    done
}

@test "shapes and counts are text" {
    told "N=4096, D=64, 16 heads, an 8x8 square, 4096 x 1024, 4096 × 64, 32 queries, 16-byte loads, 48 KB, lesson 02, 4 N² D, 2 keys."
    has_line "N=4096, .* 2 keys\."
}

@test "a drawing of a lesson and one of the writer's own are shown" {
    sed 's/>One block/>Own block/' lessons/01_basic_attention/block-per-query.svg >own.svg
    told "{{figure lessons/01_basic_attention/block-per-query.svg}}" "" "{{figure own.svg}}"
    rm own.svg
    for name in block-per-query own; do [ -e "${post%post.md}$name.svg" ]; done
    [ "$(grep -A 3 '<svg class="drawing"' "$page" | grep -c '>One block')" -eq 1 ]
    [ "$(grep -A 3 '<svg class="drawing"' "$page" | grep -c '>Own block')" -eq 1 ]
    [ "$(grep -c '<svg class=".*drawing"' "$page")" -eq 2 ]
}

@test "an unknown placeholder is an error with file and line, and the old post stays" {
    long
    told "An older post."
    for placeholder in "{{tiem 04 64}}" "{{time 04}}" "{{time four 64}}" "{{speedup 04 64}}" "{{softmax x 1x1}}" "{{ceiling a}}" "{{table x}}" \
        "{{time 77 64}}" "{{table ladder 32}}" "{{code}}" "{{chart}}" "{{chart nothing}}" "{{chart peers}}" "{{needs luck}}" "{{figure nothing.svg}}" "{{code 02 9}}" "{{time 04 64" "{{" "{{x}}"; do
        outline "A line." "" "$placeholder"
        run post_of OUTLINE="$BATS_TEST_TMPDIR/outline.md"
        echo "$placeholder: $output"
        [ "$status" -eq 2 ]
        [[ $output == *"$BATS_TEST_TMPDIR/outline.md:5: "* ]]
        grep -q "An older post" "$post"
        # Nothing is drawn before it is said.
        [ "$(wc -l <build/drawn)" -eq 1 ]
    done
    # What needs no results is said before they are read.
    mv plots/load load
    printf '#!/bin/sh\ntouch build/loaded\nexit 2\n' >plots/load
    chmod +x plots/load
    for placeholder in "{{tiem 04 64}}" "{{time 04}}" "{{time four 64}}" "{{softmax x 1x1}}" "{{ceiling a}}" "{{code}}" "{{needs luck}}" "{{"; do
        outline "$placeholder"
        run post_of OUTLINE="$BATS_TEST_TMPDIR/outline.md"
        [ "$status" -eq 2 ]
        [[ $output == *"$BATS_TEST_TMPDIR/outline.md:3: "* ]]
        [ ! -e build/loaded ]
    done
    mv load plots/load
    # All mistakes at once, HTML and pictures from elsewhere too.
    outline "{{a}} and 5 ms" "<b>bold</b>" '![x](http://example.org/x.png)'
    run post_of OUTLINE="$BATS_TEST_TMPDIR/outline.md"
    [ "$(grep -c "outline.md:[345]: " <<<"$output")" -eq 4 ]
}

@test "{{needs ...}} skips a sentence or section if results are missing; without it that is an error" {
    sed -i '/02_vec/d; /03_fus/d; /04_til.*,128,0,/d' results/example-gpu/attention.csv
    export V=1 # lists what is left out
    told "## One" "{{needs time 02 64}} Gone {{time 02 64}}." "{{needs 01}} Kept {{time 01 64}}." "## Two" "{{needs softmax}}" "" \
        "All gone {{softmax share 1x1}}." "### Below" "Gone." "## Three" "{{table ladder 64}}" "" "{{reproduce}}"
    [ "$(grep -c Gone "$post")" -eq 0 ]
    [ "$(grep '^#' "$post" | tr '\n' ' ')" = "# Title ## One ## Three " ]
    [[ $output == *"outline.md:4: "*"sentence"*"time 02 64 [skipped]"* ]]
    [[ $output == *"outline.md:7: "*"section"*"softmax [skipped]"* ]]
    # Without V=1 it is one line, before the pages.
    lines_of_list=$(grep -c '\[skipped\]' <<<"$output")
    unset V
    run post_of OUTLINE="$BATS_TEST_TMPDIR/outline.md"
    echo "$output"
    [ "$lines_of_list" -gt 1 ]
    [ "$output" = "$BATS_TEST_TMPDIR/outline.md: left out 1 sentence and 1 section: the results of Example GPU have no time, softmax; make post V=1 lists them [skipped]"$'\n'"$page"$'\n'"$post" ]
    has_line "Kept 80.0.*ms."
    has_line "| 02 vectorized | not measured |.*"
    has_line "| 04 tiled online softmax | 3.20.*ms |.*| - | 25.0× |"
    has_line "- Not measured: 02 vectorized.*"
    [ "$(grep -c '{{' "$post")" -eq 0 ]
    outline "It takes {{time 02 64}}."
    run post_of OUTLINE="$BATS_TEST_TMPDIR/outline.md"
    [ "$status" -eq 2 ]
    [[ $output == *"outline.md:3: {{time 02 64}} is not in these results"* ]]
}

@test "the committed outline works with results of only four lessons" {
    run post_of
    echo "$output"
    [ "$status" -eq 0 ]
    grep -q '^## 04 tiled' "$post"
    [ "$(grep -c '^## 05' "$post")" -eq 0 ]
}

@test "a heading without text is dropped, and an empty outline is an error" {
    export V=1
    told "## Empty" "{{needs peers}} Nothing." "" "## Kept" "" "### Empty too" "{{needs peers}} {{chart peers}}" "" "### Full" "Text." "## Last" "The end."
    [ "$(grep '^#' "$post" | tr '\n' ' ')" = "# Title ## Kept ### Full ## Last " ]
    [[ $output == *"left out the heading '## Empty'"* ]]
    for nothing in '' '\n   \n' '---\nauthor: no one\n---\n\n'; do
        # shellcheck disable=SC2059 # a format
        printf -- "$nothing" >"$BATS_TEST_TMPDIR/empty.md"
        run post_of OUTLINE="$BATS_TEST_TMPDIR/empty.md"
        [ "$status" -eq 2 ]
        [[ $output == *"empty.md: nothing in it makes a post"* ]]
    done
}

@test "metadata at the beginning goes to the head of the page and stays in the Markdown" {
    { printf '%s\n' --- "author: A. Writer" "date: {{date}}" 'description: From {{time first 64}} to {{time last 64}}, "so".' "image: ladder-d64.png" --- \
        "" "# Title" "" Text.; } >"$BATS_TEST_TMPDIR/outline.md"
    post_of OUTLINE="$BATS_TEST_TMPDIR/outline.md"
    head -n 1 "$post" | grep -qx -- ---
    grep -qx 'author: A. Writer' "$post"
    grep -q '<meta name="author" content="A. Writer"/>' "$page"
    grep -q '<meta property="og:description" content="From 80.0.*ms to 3.20.*ms, &quot;so&quot;."/>' "$page"
    # Without the address of the page there is none of its picture, which has to be whole.
    run ! grep -q 'og:image' "$page"
    grep -q '<time datetime="2099-01-01">' "$page"
    [ -e build/post/example-gpu/ladder-d64.png ]
    xmllint --noout "$page"
    post_of OUTLINE="$BATS_TEST_TMPDIR/outline.md" URL=https://example.org/post/
    grep -q '<meta property="og:image" content="https://example.org/post/ladder-d64.png"/>' "$page"
}

@test "the committed outline has a picture for link previews, of the size that they show" {
    post_of URL=https://example.org/post/
    card=build/post/example-gpu/card.png
    # Width and height of a PNG, four bytes each.
    [ "$(od -An -tx1 -j16 -N8 $card | tr -d ' ')" = 000004b000000276 ]
    grep -q '<meta property="og:image" content="https://example.org/post/card.png"/>' "$page"
    grep -q '<meta property="og:image:width" content="1200"/>' "$page"
    grep -q '<meta property="og:image:height" content="630"/>' "$page"
    grep -qx 'image: card.png' "$post"
    # It has all lessons, not the first alone.
    cp $card "$BATS_TEST_TMPDIR/before.png"
    ladder r1 2099-01-01T00:00:00Z solution-01_basic_attention=80000 solution-02_vectorized=20000 solution-03_fused_softmax=6000 \
        solution-04_tiled_online_softmax=3200 | "$BATS_TEST_DIRNAME/make-results" >results/example-gpu/attention.csv
    post_of URL=https://example.org/post/
    run ! cmp -s $card "$BATS_TEST_TMPDIR/before.png"
}

@test "an outline with Windows line ends works" {
    outline "a {{time 04 64}}" "" "{{table ladder 64}}"
    sed 's/$/\r/' "$BATS_TEST_TMPDIR/outline.md" >"$BATS_TEST_TMPDIR/crlf.md"
    post_of OUTLINE="$BATS_TEST_TMPDIR/outline.md"
    cp "$post" "$BATS_TEST_TMPDIR/lf"
    post_of OUTLINE="$BATS_TEST_TMPDIR/crlf.md"
    cmp "$post" "$BATS_TEST_TMPDIR/lf"
}

@test "results without a run, and missing results, are errors" {
    rm results/example-gpu/attention.csv
    run post_of
    [ "$status" -eq 2 ]
    [[ $output == *"[no-results]"* ]]
    run post_of RESULTS=nowhere
    [ "$status" -eq 2 ]
    [[ $output == *"nowhere "*"[no-folder]"* ]]
    run post_of OUTLINE=nowhere.md
    [ "$status" -eq 2 ]
    mkdir -p results/example-gpu build
    ladder r1 2099-01-01T00:00:00Z solution-01_basic_attention=80000 | "$BATS_TEST_DIRNAME/make-results" >results/example-gpu/attention.csv
    touch build/post
    outline "{{count}} of them."
    run post_of OUTLINE="$BATS_TEST_TMPDIR/outline.md"
    [ "$status" -eq 2 ]
    [ "$(grep -v -e '^make' <<<"$output")" = "post/write: build/post/example-gpu cannot be written; is the disk full? [cannot-write]" ]
}

@test "a missing sqlite3 is a one-line error" {
    post_of
    mkdir -p "$BATS_TEST_TMPDIR/bin"
    ln -sf /usr/bin/* "$BATS_TEST_TMPDIR/bin"
    rm -f "$BATS_TEST_TMPDIR/bin/sqlite3"
    PATH=$BATS_TEST_TMPDIR/bin run post_of
    echo "$output"
    [ "$status" -eq 2 ]
    [ "$(grep -v '^make' <<<"$output")" = "post/write: sqlite3 is not installed; run ./setup [no-sqlite3]" ]
}

@test "each GPU has a folder; GPU= selects one" {
    mkdir results/other-gpu
    ladder r9 2099-01-01T00:00:00Z solution-01_basic_attention=50000 | "$BATS_TEST_DIRNAME/make-results" "Other GPU" \
        >results/other-gpu/attention.csv
    post_of
    grep -q "Example GPU" "$post"
    [ "$(grep -c "Other GPU" "$post")" -eq 0 ]
    grep -q "Other GPU" build/post/other-gpu/post.md
    grep -q "50.0.*ms" build/post/other-gpu/post.md
    rm -rf build/post/example-gpu
    mkdir build/post/mine
    post_of GPU=other-gpu
    [ "$(ls build/post | xargs)" = "mine other-gpu" ]
    rm -r results/other-gpu
    run post_of
    [ "$status" -eq 0 ]
    [ "$(grep -c '^post/write: .*build/post/other-gpu.*\[removed\]$' <<<"$output")" -eq 1 ]
    [ "$(ls build/post | xargs)" = "example-gpu mine" ]
    run post_of GPU=third-gpu
    [ "$status" -eq 2 ]
    [[ $output == *"'third-gpu' [no-results]; available: example-gpu"* ]]
    mv results/example-gpu "results/example gpu"
    run post_of
    [ "$status" -eq 2 ]
    [[ $output == "post/write: results/example gpu "*"[bad-path]"* ]]
}

@test "results with Windows line ends, in a folder of any name, work" {
    sed -i 's/,steady$/,noisy/' results/example-gpu/attention.csv
    post_of
    grep -q '~' "$post"
    cp "$post" "$BATS_TEST_TMPDIR/post.md"
    cp -R results "$BATS_TEST_TMPDIR/it's a | & b"
    sed -i 's/$/\r/' "$BATS_TEST_TMPDIR/it's a | & b"/*/*.csv
    run post_of RESULTS="$BATS_TEST_TMPDIR/it's a | & b"
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$(grep -c sed: <<<"$output")" -eq 0 ]
    cmp "$post" "$BATS_TEST_TMPDIR/post.md"
}

@test "the listed lines of a kernel are the lines of its file" {
    told "{{code 01 2}}" "" "{{code 03 softmax.cu}}" "" "{{code 04}}"
    awk -v out="$BATS_TEST_TMPDIR/code" '
        /^```(cuda|diff)$/ { n++; inside = 1; next }
        /^```$/ { inside = 0 }
        inside { print >(out n) }
        /^\*From/ { split($0, part, "`"); sub(/\].*/, "", part[3]); gsub(/[^0-9 ]/, "", part[3]); split(part[3], line, " "); print n, part[2], line[1], line[2] }
    ' "$post" >"$BATS_TEST_TMPDIR/said"
    [ "$(wc -l <"$BATS_TEST_TMPDIR/said")" -eq 3 ]
    while read -r n file first last; do
        sed -n "$first,${last}p" "$file" | sed 's/^ *//' >"$BATS_TEST_TMPDIR/expected"
        sed 's/^[+ ] //; s/^ *//' "$BATS_TEST_TMPDIR/code$n" | diff - "$BATS_TEST_TMPDIR/expected"
        # One more at each end are the markers.
        sed -n "$((first - 1))p" "$file" | grep -q '^ *//'
        sed -n "$((last + 1))p" "$file" | grep -q '^ *// END TODO'
        [ "$(wc -l <"$BATS_TEST_TMPDIR/code$n")" -le 20 ]
    done <"$BATS_TEST_TMPDIR/said"
    # Without markers: what the solution before does not have.
    cp solutions/04_tiled_online_softmax/attention.cu "$BATS_TEST_TMPDIR"
    sed -i '/TODO/d' solutions/04_tiled_online_softmax/attention.cu
    told "{{code 04}}"
    cp "$BATS_TEST_TMPDIR/attention.cu" solutions/04_tiled_online_softmax
    [ "$(sed -n '/^```[cd]/,/^```$/p' "$post" | wc -l)" -ge 5 ]
    grep -q '^\*From \[`solutions/04_tiled_online_softmax/attention.cu`, lines' "$post"
}

@test "a diff shows removed lines and context" {
    told "{{diff 02 2}}"
    has_line "  // Computes this thread's partial dot product of two rows.*"
    has_line '- .*partial += q\[column\] \* k_row\[column\];'
    has_line '+ .*partial += dot(Q_smem\[column\], .*;'
    grep -q '; 5 of these lines are new, 4 were removed\.\*$' "$post"
    [ "$(sed -n '/^```diff$/,/^```$/p' "$post" | grep -c '^[+-]')" -eq 9 ]
    [ "$(grep -c '^<span class="gone">- ' "$page")" -eq 4 ]
    # Too long a step, or one without a solution before it, is shown as by {{code}}.
    told "{{diff 01 2}}" "" "{{diff 04 2}}"
    [ "$(grep -c '^- ' "$post")" -eq 0 ]
    [ "$(grep -c '^```cuda$' "$post")" -eq 2 ]
}

@test "a commit in the repository can be checked out; any other commit is marked" {
    told "{{reproduce}}"
    grep -q '^- Run r1: the ladder in fp32.*; 2099-01-01 00:00, commit abc1234 (not in this repository), SM clock' "$post"
    [ "$(grep -c 'git checkout' "$post")" -eq 0 ]
    git init -q . && git -c user.name=a -c user.email=b commit -q --allow-empty -m "A commit"
    sed -i "s/,abc1234,/,$(git rev-parse --short HEAD),/" results/example-gpu/attention.csv
    told "{{reproduce}}"
    grep -q "^git checkout $(git rev-parse --short HEAD)  # the run of 2099-01-01 00:00$" "$post"
    rm -rf .git
    [ "$(grep -c 'not in this repository' "$post")" -eq 0 ]
}

@test "a learner's own kernel is shown only if it passes and was timed after its last change" {
    own=lessons/02_vectorized/attention.cu
    cp solutions/02_vectorized/attention.cu $own
    sed -i 's/partial += dot(Q_smem\[column\]/partial += 1.0f * dot(Q_smem[column]/' $own
    ladder r2 2099-05-01T00:00:00Z solution-01_basic_attention=80000 lesson-02_vectorized=10000 solution-02_vectorized=20000 \
        solution-03_fused_softmax=8000 lesson-03_fused_softmax=1000 solution-04_tiled_online_softmax=3200 |
        "$BATS_TEST_DIRNAME/make-results" | tail -n +2 >>results/example-gpu/attention.csv
    checked 02_vectorized/attention.cu true
    run post_of
    echo "$output"
    [ "$status" -eq 0 ]
    # 02 is the own one; 03, which never passed, is the solution.
    has_line '| 02 vectorized | 10.0.*ms |.*| 8.0× |'
    has_line '| 03 fused softmax \\\* | 8.00.*ms |.*'
    [[ $output == *"rows of lesson-03_fused_softmax: "*"[not-passing]"* ]]
    grep -q 'partial += 1.0f \* dot' "$post"
    grep -q '^\*From \[`lessons/02_vectorized/attention.cu`, lines .*; an own kernel' "$post"
    has_line '- Kernels: own ones for 02; the solutions for 01, 03, 04.*'
    grep -q '^make solution-01 lesson-02 solution-03 solution-04 .*bench$' "$post"
    # Nor do the charts have the 03.
    grep -q 'ladder-d64 of lessons, 2 rows of own ones' "$page"
    # It fails now: the solution again.
    checked 02_vectorized/attention.cu false
    post_of
    has_line '| 02 vectorized | 20.0.*ms |.*'
    [ "$(grep -c 'partial += 1.0f' "$post")" -eq 0 ]
    # It passes, but was changed after it was timed.
    echo "// changed" >>$own
    checked 02_vectorized/attention.cu true
    touch -d 2099-06-01 $own
    run post_of
    [[ $output == *"rows of lesson-02_vectorized: "*"[outdated-timing]"* ]]
    has_line '| 02 vectorized | 20.0.*ms |.*'
    # A blank that is no longer marked: the lines are the solution's, and the page says so.
    sed -i '/TODO 2/d' $own
    checked 02_vectorized/attention.cu true
    touch -d 2099-04-01 $own
    run post_of
    [[ $output == *"TODO 2 "*"$own; "*"[unmarked-blank]"* ]]
    has_line '| 02 vectorized | 10.0.*ms |.*'
    grep -q '^\*From \[`solutions/02_vectorized/attention.cu`' "$post"
    scripts/teach skeleton solutions/02_vectorized/attention.cu >$own
}

@test "the page is self-contained and well-formed" {
    post_of
    xmllint --noout "$page"
    run ! grep -E '<(img|link|iframe|object|embed|source|base)\b|\bsrc=|@import|https?://' <(sed 's/xmlns[:a-z]*="[^"]*"//g; s/<a href="https:[^"]*"//g' "$page")
    # Ids are unique, and each picture's alternative is its own.
    ids=$(xmllint --xpath '//@id' "$page" | tr ' ' '\n' | grep -c 'id=')
    [ "$(xmllint --xpath '//@id' "$page" | tr ' ' '\n' | grep 'id=' | sort -u | wc -l)" -eq "$ids" ]
    [ "$(xmllint --xpath 'count(//*[local-name()="svg"])' "$page")" -gt 4 ]
    [ "$(xmllint --xpath 'count(//*[local-name()="svg"][not(@role="img")])' "$page")" -eq 0 ]
    [ "$(grep -c '](ladder-d64.png)$' "$post")" -eq 1 ]
    # A picture's own styles would be the page's.
    [ "$(grep -c 'color: red' "$page")" -eq 0 ]
    # Alternatives can be read, and lines of code lead to the file.
    sed -n 's/^!\[\(.*\)](.*)$/\1/p' "$post" | awk 'length($0) >= 200 { exit 1 }'
    grep -q '](../../../solutions/01_basic_attention/attention.cu#L[0-9]*-L[0-9]*)' "$post"
    post_of LINKS=https://example.org/blob/main/
    grep -q '](https://example.org/blob/main/solutions/01_basic_attention/attention.cu#L' "$post"
    [ "$(wc -c <"$page")" -lt 500000 ]
    # The Markdown has its pictures beside it.
    for picture in $(sed -n 's/^!\[.*](\(.*\))$/\1/p' "$post"); do
        [ -e "build/post/example-gpu/$picture" ]
    done
}
