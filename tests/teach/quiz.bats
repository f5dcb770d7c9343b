#!/usr/bin/env bats
# make lesson-NN quiz.

load ../long
load helpers

# answers NUMBER WRONG: the right answers of a lesson, one per line, as the quiz itself prints them in reply to the wrong ones.
answers() {
    AGAIN=1 make "lesson-$1" quiz <"$2" | sed -n 's/^Wrong: you answered .*; the answer is //p; s/^Right: \(.*\)\.$/\1/p' |
        sed 's/^\([a-h]\)) .*/\1/; s/^\([0-9.,]*\) .*/\1/'
}

@test "every lesson has at least five questions, each graded by a count, a check or a measurement" {
    for folder in lessons/*/; do
        [ "$(grep -c '^== ' "$folder/questions")" -ge 5 ]
        awk '
            function check() { if (n && (graded < 1 || !why || !ask)) { print FILENAME ": " name; bad = 1 } }
            /^== / { check(); n++; name = $2; graded = why = ask = 0 }
            /^(answer: |choice: .* := )/ {
                sub(/.* := |^answer: /, "")
                if (!/(count|conflicts|shared_bytes|launches|streamed|busy|measured|passes|found|slowdown)\(/) { print FILENAME ": " $0; bad = 1 }
                graded++
            }
            /^ask: / { ask = 1 }
            /^why: / { why = 1 }
            END { check(); exit bad }' "$folder/questions"
    done
}

# distinguished NUMBER...: tests that every question of these lessons accepts its right answer and rejects a wrong one.
distinguished() {
    rm -rf .progress
    # Made-up results, of everything that questions ask about.
    mkdir -p results/example-gpu
    tests/teach/make-results >results/example-gpu/profile.csv
    tests/teach/make-results attention >results/example-gpu/attention.csv
    tests/teach/make-results softmax >results/example-gpu/softmax.csv
    tests/teach/make-results ablations >results/example-gpu/ablations.csv
    # A wrong number and a letter: each question rejects the one as no answer and grades the other.
    for i in 1 2 3 4 5 6 7 8 9 10 11 12; do printf '987654321\na\n'; done >"$BATS_TEST_TMPDIR/wrong"
    for number; do
        total=$(grep -c '^== ' lessons/"$number"_*/questions)
        # The quiz tells the right answers in reply to wrong ones.
        answers "$number" "$BATS_TEST_TMPDIR/wrong" >"$BATS_TEST_TMPDIR/right"
        cat "$BATS_TEST_TMPDIR/right"
        [ "$(grep -c . "$BATS_TEST_TMPDIR/right")" -eq "$total" ]
        run make "lesson-$number" quiz AGAIN=1 <"$BATS_TEST_TMPDIR/right"
        echo "$output"
        [ "$status" -eq 0 ]
        [[ $output == *"$total of $total right."* && $output != *"Wrong: "* ]]
        run make "lesson-$number" quiz
        [[ $output == *"all $total questions"* ]]
    done
    rm -r results/example-gpu
}

lesson_numbers() {
    ls lessons | sed -n "s/^\([0-9][0-9]\)_.*/\1/p"
}

@test "right and wrong answers are distinguished, for every question of one lesson" {
    distinguished $(lesson_numbers | sed -n 2p)
}

# Their kernels, and the changed kernels that questions ask about, take long to compile.
@test "right and wrong answers are distinguished, for every question of all other lessons" {
    long
    distinguished $(lesson_numbers | sed 2d)
}

@test "a wrong answer is followed by the right one and its explanation" {
    rm -rf .progress
    run make lesson-02 quiz <<<"4"
    echo "$output"
    [[ $output == *"Wrong: you answered 4; the answer is 16 sectors."*"32,768 requests accessed 524,288 sectors"* ]]
}

@test "the right answer is computed from the solution and stored nowhere" {
    rm -rf .progress
    cp solutions/02_vectorized/attention.cu "$BATS_TEST_TMPDIR/solution.cu"
    sed -i 's/LANES_PER_KEY = 8/LANES_PER_KEY = 1/; /^static_assert(LANES/d' solutions/02_vectorized/attention.cu
    run make lesson-02 quiz <<<"16"
    cp "$BATS_TEST_TMPDIR/solution.cu" solutions/02_vectorized/attention.cu
    echo "$output"
    [[ $output == *"you answered 16; the answer is 32 sectors."* ]]
}

@test "a question is repeated after an unclear answer; products and quotients are numbers" {
    rm -rf .progress
    run make lesson-02 quiz < <(printf 'many\n16k\n1/0\n2 * 16 / 2\n')
    echo "$output"
    [[ $output == *"answer with a number"*"write the number in full"*"answer with a number"*"Right: 16 sectors."* ]]
}

@test "the end of the input ends the quiz, and the answers given so far are saved" {
    rm -rf .progress
    run make lesson-02 quiz < <(printf '16\n5\n')
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output == *"1 of 6 right. Your answers are saved. make lesson-02 quiz asks the rest."* ]]
    [ "$(cat .progress/quiz/lesson-02)" = "$(printf 'sectors-of-k\tright\nrequests-a-query\twrong')" ]
    # Only the wrongly answered question is asked again.
    run make lesson-02 quiz </dev/null
    [[ $output != *"question 1 of"* && $output == *"question 2 of"* ]]
    # An empty line skips a question.
    run make lesson-02 quiz < <(printf '\n256\n')
    [[ $output == *"question 2 of"*"question 3 of"*"Right: 256 times."* ]]
}

@test "a question whose measurements are missing is skipped, and the quiz says so" {
    run make lesson-01 quiz </dev/null
    [ "$status" -eq 0 ]
    [[ $output == *"Skipped: 1 about measurements on a GPU"* ]]
}

@test "quiz without a lesson, for a solution, or for two lessons is refused" {
    refused "[needs-lesson]" make quiz
    refused "[lessons-only]" make solution-02 quiz
    refused "[one-lesson]" make lesson-01 lesson-02 quiz
}

@test "the quiz reads an answer after its own builds and runs, also under make -j" {
    rm -rf .progress build/quiz
    mkfifo "$BATS_TEST_TMPDIR/answers"
    make -j2 lesson-02 quiz <"$BATS_TEST_TMPDIR/answers" >"$BATS_TEST_TMPDIR/asked" 2>&1 3>&- &
    exec 5>"$BATS_TEST_TMPDIR/answers"
    while ! grep -q '^> ' "$BATS_TEST_TMPDIR/asked" && [ "$(jobs -rp)" ]; do
        sleep 0.1
    done
    sleep 0.3
    trap '' PIPE # if the quiz has ended already, its output is shown below
    echo 4 >&5 || true
    exec 5>&-
    wait
    cat "$BATS_TEST_TMPDIR/asked"
    grep -q 'you answered 4' "$BATS_TEST_TMPDIR/asked"
}

@test "a question compiles its kernel only for the head dimension that it runs" {
    rm -rf .progress build/quiz
    run make lesson-04 quiz <<<"4"
    [[ $output == *"the answer is 4 wavefronts"* || $output == *"Right: 4 wavefronts"* ]]
    [ "$(grep -ho '<KernelTraits<[0-9]*' build/quiz/*/attention.cu | sort -u)" = '<KernelTraits<64' ]
}
