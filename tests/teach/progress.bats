#!/usr/bin/env bats
# make progress: the states after a check, a change, clean, reset and a bench.

load ../long
load helpers

state() {
    make progress | awk -v lesson="lesson-$1" '$1 == lesson { print $2 }'
}

# bench_row RUN LESSON MICROSECONDS [DATE]
bench_row() {
    echo "$1,$2,Example GPU,10,500.1,13.0,fp32,1,16,16,4096,4096,64,0,$3,$3,$3,50,1500,1490,1,1,1,1e-7,20,800,${4:-2099-01-01T00:00:00Z},abc"
}

setup() {
    cd "$project" || return 1
    unset SHAPE CAUSAL DATA KERNEL SEED TIME_LIMIT RESULTS MAKEFLAGS MAKELEVEL
    export DEVICE=sim
    rm -rf .progress results/*
    fresh $(ls lessons | sed -n "s/^\([0-9][0-9]\)_.*/\1/p")
}

# checked FILE true|false [part]: records the outcome of a check.
checked() {
    scripts/teach record "lessons/$1" "${3:-whole}" "$2" || true
}

@test "make check records its outcome for progress" {
    solve 02
    make lesson-02 check >/dev/null
    [ "$(state 02)" = passing ]
    # Part of a check can make it fail, and not make it pass.
    sed -i 's/key < nk; key += keys_per_iteration/key < nk - 1; key += keys_per_iteration/' lessons/02_vectorized/attention.cu
    make lesson-02 check SHAPE=1,1,16:1,16 INPUTS=constant-value >/dev/null 2>&1 || true
    make lesson-02 check SHAPE=1,1,16,16 >/dev/null 2>&1 || true
    [ "$(state 02)" = failing ]
    [ "$(cut -f 4 .progress/checks | tr '\n' ' ')" = "right wrong wrong " ]
    # A check with KERNEL= is not recorded for the lesson.
    make lesson-01 check QUICK=1 KERNEL=solutions/02_vectorized/attention.cu >/dev/null
    ! grep -q 01_basic .progress/checks
}

@test "untouched, begun, failing, passing" {
    [ "$(state 01)" = untouched ]
    checked 01_basic_attention/attention.cu false
    [ "$(state 01)" = untouched ]
    sed -i 's/^        float partial = 0.0f;/        float partial = 1.0f;/' lessons/01_basic_attention/attention.cu
    [ "$(state 01)" = begun ]
    checked 01_basic_attention/attention.cu false
    [ "$(state 01)" = failing ]
    solve 01
    [ "$(state 01)" = begun ]
    checked 01_basic_attention/attention.cu true part
    [ "$(state 01)" = begun ]
    checked 01_basic_attention/attention.cu true
    [ "$(state 01)" = passing ]
    echo "// changed" >>lessons/01_basic_attention/attention.cu
    [ "$(state 01)" = begun ]
}

@test "lesson 03 passes when both of its files do" {
    solve 03
    checked 03_fused_softmax/softmax.cu true
    [ "$(state 03)" = begun ]
    checked 03_fused_softmax/attention.cu false
    [ "$(state 03)" = failing ]
    checked 03_fused_softmax/attention.cu true
    [ "$(state 03)" = passing ]
}

@test "recorded outcomes survive clean and reset" {
    long
    solve 02
    checked 02_vectorized/attention.cu true
    mv build "$BATS_TEST_TMPDIR/kept"
    make clean
    [ "$(state 02)" = passing ]
    mv "$BATS_TEST_TMPDIR/kept" build
    cp lessons/02_vectorized/attention.cu "$BATS_TEST_TMPDIR/mine.cu"
    make lesson-02 reset >/dev/null
    run make progress
    grep -q '^lesson-02 *untouched.*passed earlier' <<<"$output"
    cp "$BATS_TEST_TMPDIR/mine.cu" lessons/02_vectorized/attention.cu
    [ "$(state 02)" = passing ]
}

@test "fast: speedup over the previous solution, in one run, at the reference size, after the last change" {
    solve 01 02
    checked 01_basic_attention/attention.cu true
    checked 02_vectorized/attention.cu true
    mkdir -p results/example-gpu
    header=$(head -n 1 "$BATS_TEST_DIRNAME/../plots/fixtures/attention.csv")
    { echo "$header"; bench_row r1 solution-01_basic_attention 1600; bench_row r1 lesson-02_vectorized 1000; } >results/example-gpu/attention.csv
    [ "$(state 02)" = fast ]
    [ "$(state 01)" = passing ]
    { echo "$header"; bench_row r1 solution-01_basic_attention 1400; bench_row r1 lesson-02_vectorized 1000; } >results/example-gpu/attention.csv
    [ "$(state 02)" = passing ]
    # Lesson 01 is compared with its own solution.
    { echo "$header"; bench_row r1 solution-01_basic_attention 1000; bench_row r1 lesson-01_basic_attention 1050; } >results/example-gpu/attention.csv
    [ "$(state 01)" = fast ]
    # Rows of two runs, or of another size, give no speedup.
    { echo "$header"; bench_row r1 solution-01_basic_attention 1600; bench_row r2 lesson-02_vectorized 1000; } >results/example-gpu/attention.csv
    [ "$(state 02)" = passing ]
    { echo "$header"; { bench_row r1 solution-01_basic_attention 1600; bench_row r1 lesson-02_vectorized 1000; } | sed 's/4096,4096/256,256/'; } >results/example-gpu/attention.csv
    [ "$(state 02)" = passing ]
    # Measured before the file was changed.
    { echo "$header"; bench_row r1 solution-01_basic_attention 1600 2000-01-01T00:00:00Z
        bench_row r1 lesson-02_vectorized 1000 2000-01-01T00:00:00Z; } >results/example-gpu/attention.csv
    [ "$(state 02)" = passing ]
    [[ $(make progress) == *"before the last change"* ]]
}

@test "progress prints the next step" {
    long
    [[ $(make progress) == *"Next: lessons/01_basic_attention/attention.cu:15: TODO 1"* ]]
    solve 01
    [[ $(make progress) == *"Next: make lesson-01 check"* ]]
    checked 01_basic_attention/attention.cu true
    [[ $(make progress) == *"Next: lessons/02_vectorized/attention.cu:"*"TODO 1"* ]]
    for folder in lessons/[0-9][0-9]_*; do
        solve "$(basename "$folder" | cut -c 1-2)"
        for file in "$folder"/*.cu; do
            checked "${file#lessons/}" true
        done
    done
    [[ $(make progress) == *"All lessons pass."* ]]
}
