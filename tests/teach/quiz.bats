#!/usr/bin/env bats
# make lesson-NN quiz.

load ../long
load helpers

# All answers of a lesson, as the program itself finds them, one a line: an answer that is wrong for every question, then
# for each what the quiz said was right.
answers() {
    AGAIN=1 make "lesson-$1" quiz <"$2" | sed -n 's/^Not so. You said .*; it is //p; s/^Right: \(.*\)\.$/\1/p' |
        sed 's/^\([a-h]\)) .*/\1/; s/^\([0-9.,]*\) .*/\1/'
}

@test "five questions or more a lesson, each graded by what is counted or measured" {
    for folder in lessons/*/; do
        [ "$(grep -c '^== ' "$folder/questions")" -ge 5 ]
        awk '
            function check() { if (n && (graded < 1 || !why || !ask)) { print FILENAME ": " name; bad = 1 } }
            /^== / { check(); n++; name = $2; graded = why = ask = 0 }
            /^(answer: |choice: .* := )/ {
                sub(/.* := |^answer: /, "")
                if (!/(count|conflicts|shared_bytes|launches|streamed|busy|measured)\(/) { print FILENAME ": " $0; bad = 1 }
                graded++
            }
            /^ask: / { ask = 1 }
            /^why: / { why = 1 }
            END { check(); exit bad }' "$folder/questions"
    done
}

# told_apart NUMBER...: right and wrong answers are, for every question of these lessons.
told_apart() {
    rm -rf .progress
    # Not every GPU has results; these are made up.
    mkdir -p results/example-gpu
    tests/teach/make-results >results/example-gpu/profile.csv
    tests/teach/make-results attention >results/example-gpu/attention.csv
    tests/teach/make-results softmax >results/example-gpu/softmax.csv
    # A question about a number has no use for the letter, nor one with choices for the number.
    for i in 1 2 3 4 5 6 7 8 9 10 11 12; do printf '987654321\na\n'; done >"$BATS_TEST_TMPDIR/wrong"
    for number; do
        total=$(grep -c '^== ' lessons/"$number"_*/questions)
        # First what is right, from answers that are wrong.
        answers "$number" "$BATS_TEST_TMPDIR/wrong" >"$BATS_TEST_TMPDIR/right"
        cat "$BATS_TEST_TMPDIR/right"
        [ "$(grep -c . "$BATS_TEST_TMPDIR/right")" -eq "$total" ]
        run make "lesson-$number" quiz AGAIN=1 <"$BATS_TEST_TMPDIR/right"
        echo "$output"
        [ "$status" -eq 0 ]
        [[ $output == *"$total of $total right."* && $output != *"Not so"* ]]
        run make "lesson-$number" quiz
        [[ $output == *"All $total questions"* ]]
    done
    rm -r results/example-gpu
}

lesson_numbers() {
    ls lessons | sed -n "s/^\([0-9][0-9]\)_.*/\1/p"
}

@test "right and wrong answers are told apart, for every question of one lesson" {
    told_apart $(lesson_numbers | sed -n 2p)
}

# Their kernels, and the variants that questions ask about, take long to compile.
@test "right and wrong answers are told apart, for every question of all other lessons" {
    long
    told_apart $(lesson_numbers | sed 2d)
}

@test "a wrong answer is met with the measurement" {
    rm -rf .progress
    run make lesson-02 quiz <<<"4"
    echo "$output"
    [[ $output == *"Not so. You said 4; it is 16 sectors."*"32,768 requests touched 524,288 sectors"* ]]
}

@test "the right answer follows the solution, and is not kept anywhere" {
    rm -rf .progress
    cp solutions/02_vectorized/attention.cu "$BATS_TEST_TMPDIR/solution.cu"
    sed -i 's/LANES_PER_KEY = 8/LANES_PER_KEY = 1/; /^static_assert(LANES/d' solutions/02_vectorized/attention.cu
    run make lesson-02 quiz <<<"16"
    cp "$BATS_TEST_TMPDIR/solution.cu" solutions/02_vectorized/attention.cu
    echo "$output"
    [[ $output == *"You said 16; it is 32 sectors."* ]]
}

@test "what is no answer is asked again; products and quotients are numbers" {
    rm -rf .progress
    run make lesson-02 quiz < <(printf 'many\n16k\n1/0\n2 * 16 / 2\n')
    echo "$output"
    [[ $output == *"answer with a number"*"write the number in full"*"answer with a number"*"Right: 16 sectors."* ]]
}

@test "input that ends in the middle ends the quiz, and what was answered is remembered" {
    rm -rf .progress
    run make lesson-02 quiz < <(printf '16\n5\n')
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output == *"1 of 6 right. What you answered is remembered. make lesson-02 quiz asks the others."* ]]
    [ "$(cat .progress/quiz/lesson-02)" = "$(printf 'sectors-of-k\tright\nrequests-a-query\twrong')" ]
    # The one that was right is not asked again, the wrong one is.
    run make lesson-02 quiz </dev/null
    [[ $output != *"question 1 of"* && $output == *"question 2 of"* ]]
    # An empty line passes a question over.
    run make lesson-02 quiz < <(printf '\n256\n')
    [[ $output == *"question 2 of"*"question 3 of"*"Right: 256 times."* ]]
}

@test "a question whose results are not there is not asked, and the quiz says so" {
    run make lesson-01 quiz </dev/null
    [ "$status" -eq 0 ]
    [[ $output == *"Not asked: 1 about measurements on a GPU"* ]]
}

@test "quiz without a lesson, for a solution, or for two" {
    refused "quiz needs a lesson" make quiz
    refused "quiz is for lessons" make solution-02 quiz
    refused "one lesson at a time" make lesson-01 lesson-02 quiz
}

@test "it waits for an answer where it has counted just before, and several jobs may run" {
    rm -rf .progress build/quiz
    mkfifo "$BATS_TEST_TMPDIR/answers"
    make -j2 lesson-02 quiz <"$BATS_TEST_TMPDIR/answers" >"$BATS_TEST_TMPDIR/asked" 2>&1 3>&- &
    exec 5>"$BATS_TEST_TMPDIR/answers"
    while ! grep -q '^> ' "$BATS_TEST_TMPDIR/asked" && [ "$(jobs -rp)" ]; do
        sleep 0.1
    done
    sleep 0.3
    trap '' PIPE # where it has ended, what it said is shown below
    echo 4 >&5 || true
    exec 5>&-
    wait
    cat "$BATS_TEST_TMPDIR/asked"
    grep -q 'You said 4' "$BATS_TEST_TMPDIR/asked"
}

@test "a question has only those sizes of heads compiled that it runs" {
    rm -rf .progress build/quiz
    run make lesson-04 quiz <<<"4"
    [[ $output == *"it is 4 wavefronts"* || $output == *"Right: 4 wavefronts"* ]]
    [ "$(grep -ho 'variant<Tile<[0-9]*' build/quiz/*/attention.cu | sort -u)" = 'variant<Tile<64' ]
}
