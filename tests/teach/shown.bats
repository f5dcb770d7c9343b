#!/usr/bin/env bats
# Code on the pages is code of the files: a block that says so is in its file, word for word and in this order.

bats_require_minimum_version 1.5.0

setup() {
    root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    cd "$root"
}

# shown PAGE: what shown.py says of it.
shown() {
    python3 tests/teach/shown.py "$1"
}

@test "every block of code on a page is in the file that it names" {
    for page in lessons/*/README.md; do
        run shown "$page"
        echo "$output"
        [ -z "$(grep -v '^ok ' <<<"$output")" ]
    done
}

@test "lessons 01 to 04 show Triton beside CUDA, and link the whole kernel" {
    for lesson in 01_basic_attention 02_vectorized 03_fused_softmax 04_tiled_online_softmax; do
        page=lessons/$lesson/README.md
        grep -q '^## In Triton$' "$page"
        run shown "$page"
        grep -q "^ok peers/triton_kernels/lesson_$lesson.py$" <<<"$output"
        grep -q "^ok solutions/$lesson/attention.cu$" <<<"$output"
        grep -qF "](../../peers/triton_kernels/lesson_$lesson.py)" "$page"
        grep -q '^<!-- results:begin triton -->$' "$page"
    done
}

@test "a block that differs from its file by a word, a line or its order is found, and so is one from a blank" {
    sample=$BATS_TEST_TMPDIR/page.md
    block() { # FILE LINES
        printf '<!-- lines of %s -->\n```cuda\n%s\n```\n' "$1" "$2" >"$sample"
        run shown "$sample"
    }
    file=solutions/01_basic_attention/attention.cu
    block "$file" $'    max = block_max(max, max_smem);\n// ...\n    return block_sum(sum, sum_smem); // its barrier also makes the weights visible to the whole block'
    [ "$output" = "ok $file" ]
    block "$file" '    max = block_max(maximum, max_smem);'
    [[ $output == "$sample:2: not in $file:"* ]]
    block "$file" $'    max = block_max(max, max_smem);\n    return block_sum(sum, sum_smem); // its barrier also makes the weights visible to the whole block'
    [[ $output == "$sample:2: not in"* ]]
    block "$file" $'    return block_sum(sum, sum_smem); // its barrier also makes the weights visible to the whole block\n// ...\n    max = block_max(max, max_smem);'
    [[ $output == "$sample:2: not in"* ]]
    block "$file" '        sum += weight[key];'
    [[ $output == "$sample:2: not in"* ]]
    block no/such/file.cu 'x'
    [[ $output == "$sample:2: there is no file"* ]]
    printf '```cuda\nx\n```\n' >"$sample"
    run shown "$sample"
    [[ $output == "$sample:1: a block of code does not say"* ]]
}
