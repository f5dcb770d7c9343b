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
    for page in lessons/*/README.md lessons/*/NOTES.md; do
        [ -e "$page" ] || continue # no lesson has notes
        run shown "$page"
        echo "$output"
        [ -z "$(grep -v '^ok ' <<<"$output")" ]
    done
}

@test "the notes of lessons 01 to 04 show Triton beside CUDA, and link the whole kernel" {
    for lesson in 01_basic_attention 02_vectorized 03_fused_softmax 04_tiled_online_softmax; do
        page=lessons/$lesson/NOTES.md
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

@test "no file of a lesson shows a line of its blanks, and one that does is found" {
    run python3 tests/teach/spoilt.py .
    echo "$output"
    [ -z "$output" ]
    copy=$BATS_TEST_TMPDIR/copy lesson=02_vectorized
    mkdir -p "$copy/solutions" "$copy/lessons/$lesson"
    cp -R solutions/$lesson "$copy/solutions"
    cp solutions/$lesson/attention.cu "$copy/lessons/$lesson"
    # In a sentence, and in what a patch has around its change.
    echo 'Click `value += __shfl_xor_sync(ALL_LANES, value, distance);` here.' >"$copy/lessons/$lesson/README.md"
    printf -- '-    float share;\n     for (int key = first_key; key < nk; key += keys_per_iteration) {\n }\n' >"$copy/lessons/$lesson/repair.patch"
    run python3 tests/teach/spoilt.py "$copy"
    echo "$output"
    [ "${#lines[@]}" -eq 2 ]
    [[ ${lines[0]} == "lessons/$lesson/README.md:1: Click"* ]]
    [[ ${lines[1]} == "lessons/$lesson/repair.patch:2: for (int key = first_key"* ]]
}

@test "a page says how many blanks there are and about how many lines they have" {
    words=(no one two three four five six seven)
    for solution in solutions/*/*.cu; do
        blanks=$(grep -c '// TODO [0-9]' "$solution") || continue
        skeleton=lessons/${solution#solutions/}
        lines=$(($(grep -c . "$solution") - $(scripts/teach skeleton "$solution" | grep -c .)))
        file=${skeleton##*/}
        said=$(tr '\n' ' ' <"${skeleton%/*}/README.md" |
            sed -nE "s/.*\[$file\]\($file\) has ([a-z]+)( blanks)?,( marked \`TODO\`,)?( about)? ([0-9]+) lines.*/\1 \5/p")
        echo "$skeleton: $blanks blanks, $lines lines; the page says ${said:-nothing}"
        [ "${said% *}" = "${words[blanks]}" ]
        [ $((${said#* } - lines)) -ge -1 ]
        [ $((${said#* } - lines)) -le 1 ]
    done
}
