#!/usr/bin/env bats
# What pages and chart titles say of libraries, against the units that were counted and the versions that were timed.

bats_require_minimum_version 1.5.0

setup() {
    project=$BATS_TEST_DIRNAME/../..
    root=$BATS_TEST_TMPDIR/root
    mkdir -p "$root/plots/charts/example-gpu"
    cp -R "$project/results" "$root/"
    check=$BATS_TEST_DIRNAME/check_claims.py
}

# contradicted FILE TEXT WORDS: a page or a chart's titles with this text are refused with these words, and with that alone.
contradicted() {
    printf '%s\n' "$2" >"$root/$1"
    run python3 "$check" "$root"
    rm "$root/$1"
    echo "$output"
    [ "$status" -eq 1 ]
    [ "${#lines[@]}" -eq 1 ]
    [[ $output == *"$3"* ]]
}

@test "the pages and charts of this repository contradict nothing that was counted or timed" {
    run python3 "$check" "$project"
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$output" = "" ]
}

@test "a sentence that contradicts the counted units is named by file, line and library" {
    contradicted page.md "The tables are in fp32 with TF32 off: nothing in them uses tensor cores." \
        "page.md:1: peer-torch_efficient runs on tensor cores in fp32"
    contradicted page.md "PyTorch's memory-efficient path computes on the FMA units." "peer-torch_efficient runs on tensor cores"
    contradicted page.md "Here cuBLAS computes on tensor cores." "baseline-cublas_unfused runs on FMA units in fp32"
    contradicted page.md '| `peer-torch_efficient` | its EFFICIENT_ATTENTION backend; fp32 | FMA units |' "peer-torch_efficient runs on tensor cores"
    contradicted plots/charts/example-gpu/charts.tsv "$(printf 'ladder\tTFLOP/s, fp32, no tensor cores, N=4096')" \
        "charts.tsv, chart ladder: peer-torch_efficient runs on tensor cores in fp32"
}

@test "a version that no row holds is named; one that is required at least is not" {
    contradicted page.md "cuDNN 8.9.1 was timed." "page.md:1: no row of results/ is of cuDNN 8.9.1"
    contradicted page.md "flash-attention at commit 0123456" "no row of results/ is of flash-attention 0123456"
    echo "A Python with PyTorch 2.3 or newer; cuDNN 9.19.0 and flash-attn-4 4.0.0b36 were timed, and flash-attention at commit 0251105." >"$root/page.md"
    run python3 "$check" "$root"
    echo "$output"
    [ "$status" -eq 0 ]
}

@test "without counted units it says how they are counted" {
    rm "$root"/results/*/units.csv
    run python3 "$check" "$root"
    [ "$status" -eq 2 ]
    [[ $output == *"make peers UNITS=1"* ]]
}
