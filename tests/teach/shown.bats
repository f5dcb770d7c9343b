#!/usr/bin/env bats
# Code on the pages is code of the files: a block that says so is in its file, word for word and in this order.

bats_require_minimum_version 1.5.0

setup() {
    root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    cd "$root"
}

# shown PAGE: for each block after <!-- lines of FILE --> a line "ok FILE", else one that begins "PAGE:LINE: ". A line ...
# or // ... stands for what was left out, and in a solution at least for the lines of its blanks, which are the learner's.
shown() {
    awk -v page="$1" '
        function say(message) { print page ":" start ": " message }
        # The lines of a file, each blank of a solution made one line that nothing equals.
        function load(file,    line, blank) {
            lines = blank = 0
            while ((getline line <file) > 0) {
                if (line ~ /^ *\/\/ TODO [0-9]/)
                    blank = 1
                if (!blank)
                    text[++lines] = line
                else if (line ~ /^ *\/\/ END TODO [0-9]/) {
                    blank = 0
                    text[++lines] = "\001"
                }
            }
            close(file)
            return lines
        }
        # Where the part first .. last of the block stands in the file, after line `from`; 0 where it does not.
        function find(first, last, from,    i, j) {
            for (i = from + 1; i + last - first <= lines; i++) {
                for (j = first; j <= last && block[j] == text[i + j - first]; j++)
                    ;
                if (j > last)
                    return i + last - first
            }
            return 0
        }
        function compare(    first, last, at) {
            if (!load(file))
                return say("there is no file " file)
            at = 0
            for (first = 1; first <= length_of; first = last + 2) {
                for (last = first; last < length_of && block[last + 1] !~ /^ *(\/\/ )?\.\.\.$/; last++)
                    ;
                at = find(first, last, at)
                if (!at)
                    return say("not in " file ": " block[first])
            }
            print "ok " file
        }
        /^```/ && !inside {
            inside = 1
            start = FNR
            length_of = 0
            if (file == "" && /^```(python|cuda|c|cpp)/)
                say("a block of code does not say what file it is from: <!-- lines of FILE --> above it")
            next
        }
        /^```$/ {
            inside = 0
            if (file != "")
                compare()
            file = ""
            next
        }
        inside { block[++length_of] = $0; next }
        /^<!-- lines of .* -->$/ { file = $4; next }
        { file = "" }
    ' "$1"
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
