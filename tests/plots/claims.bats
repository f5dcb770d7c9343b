#!/usr/bin/env bats
# What pages, quizzes and chart titles say of libraries, compared with the units that were counted and the versions that were timed.

bats_require_minimum_version 1.5.0

setup() {
    project=$BATS_TEST_DIRNAME/../..
    root=$BATS_TEST_TMPDIR/root
    mkdir -p "$root/plots/charts/example-gpu" "$root/tests/plots"
    cp -R "$project/results" "$root/"
    cp "$BATS_TEST_DIRNAME"/check_claims.py "$root/tests/plots/"
    check=$root/tests/plots/check_claims.py claims=$root/tests/plots/claims.tsv
    grep -F "$(printf '\t')PyTorch's memory-efficient path computes" "$BATS_TEST_DIRNAME/claims.tsv" >"$claims"
    grep -F "TF32 off." "$BATS_TEST_DIRNAME/claims.tsv" >>"$claims"
}

# refused FILE TEXT WORDS: a page or a chart's titles with this text get one line, with these words.
refused() {
    printf '%s\n' "$2" >"$root/$1"
    run python3 "$check" "$root"
    rm "$root/$1"
    echo "$output"
    [ "$status" -eq 1 ]
    [ "${#lines[@]}" -eq 1 ]
    [[ $output == *"$3"* ]]
}

@test "the pages and charts of this repository claim what was counted and timed" {
    run python3 "$BATS_TEST_DIRNAME/check_claims.py" "$project"
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$output" = "" ]
}

@test "a sentence about a library and a unit that is not listed is named, however it is put" {
    for sentence in "The tables are in fp32 with TF32 off: nothing in them uses tensor cores." \
        "The memory-efficient path avoids tensor cores." "PyTorch's fastest path computes in plain fp32." \
        "All libraries in these tables run on FMA units." "With TF32 off no kernel here touches the tensor cores." \
        "cuBLAS and PyTorch's unfused path compute on tensor cores." "FA3 overlaps the softmax on CUDA cores with its products."; do
        refused page.md "$sentence" "page.md:1: say in tests/plots/claims.tsv what this claims of a library: $sentence"
    done
    refused plots/charts/example-gpu/charts.tsv "$(printf 'ladder\tTFLOP/s of libraries, fp32, no tensor cores, N=4096')" \
        "charts.tsv, chart ladder: say in tests/plots/claims.tsv"
}

@test "a claim that contradicts the counted units is named by file, line and library" {
    printf 'peer-torch_efficient=FMA units\tIt is PyTorch on FMA units.\nbaseline-cublas_unfused=tensor cores\tcuBLAS uses tensor cores.\n' >>"$claims"
    printf 'peer-other=FMA units\tThe library is on FMA units.\n-\tLesson 08, on FMA units alone, beats PyTorch.\n' >>"$claims"
    refused page.md "It is PyTorch on FMA units." "page.md:1: peer-torch_efficient runs on tensor cores, not on FMA units: It is PyTorch"
    refused page.md "cuBLAS uses tensor cores." "baseline-cublas_unfused runs on FMA units, not on tensor cores"
    refused page.md "The library is on FMA units." "peer-other runs on units that were not counted"
    echo "Lesson 08, on FMA units alone, beats PyTorch." >"$root/page.md"
    run python3 "$check" "$root"
    echo "$output"
    [ "$status" -eq 0 ]
}

@test "a version that no row holds is named; one that is required at least is not" {
    for version in "cuDNN 8.9.1" "cuDNN 9.1" "PyTorch 2.1" "flash-attn-4 4.0.0b20" "flash-attn-4==4.0.0b20" "cuDNN version 9.10.2" "PyTorch **2.9.1**" \
        "FlashAttention-4 4.0.0b20" "flash-attention at commit 0123456"; do
        refused page.md "$version was timed." "page.md:1: no row of results/ is of "
    done
    echo "PyTorch 2.3 or newer; cuDNN 9.19.0 and flash-attn-4 4.0.0b36 were timed, flash-attention at commit 0251105. It is 1.20 times cuDNN." >"$root/page.md"
    run python3 "$check" "$root"
    echo "$output"
    [ "$status" -eq 0 ]
}

@test "results without counted units, or with rows that cannot be read: one line, status 2" {
    units=$root/results/nvidia-h100-80gb-hbm3/units.csv
    sed -i '2s/,[0-9]*,[0-9]*,[0-9]*,[0-9]*,2/,many,,,,2/' "$units"
    sed -i '3s/,.*//' "$units"
    run python3 "$check" "$root"
    echo "$output"
    [ "$status" -eq 2 ]
    [ "${#lines[@]}" -eq 1 ]
    rm "$units"
    run python3 "$check" "$root"
    [ "$status" -eq 2 ]
    [[ $output == *"make peers UNITS=1"* ]]
}
