#!/usr/bin/env bats
# build/bin/teach: its requirements and its error messages.

load helpers

@test "a hint can be built with gcc alone, without CUDA" {
    rm -rf .progress
    mv build "$BATS_TEST_TMPDIR/kept"
    mv scripts/find-cuda "$BATS_TEST_TMPDIR/find-cuda"
    run make lesson-01 hint
    mv "$BATS_TEST_TMPDIR/find-cuda" scripts/find-cuda
    rm -r build
    mv "$BATS_TEST_TMPDIR/kept" build
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output == "lessons/01_basic_attention/attention.cu:"*": TODO 1, hint 1 of "* ]]
}

@test "an unknown command or missing arguments are one-line errors" {
    for words in "" nonsense blanks skeleton "hint lesson-01" "quiz lesson-01" "record x whole" trace "predictions x" conflicts; do
        # shellcheck disable=SC2086 # words
        run build/bin/teach $words
        echo "$words: $output"
        [ "$status" -eq 2 ]
        [ "${#lines[@]}" -eq 1 ]
        [[ $output == *"[usage]" || $output == *"[unknown-command]" ]]
    done
}

@test "missing files are one-line errors" {
    refused "nowhere.csv cannot be read [cannot-read]" build/bin/teach predictions nowhere.csv 1,1,16,16
    refused "SHAPE=16" build/bin/teach predictions lessons/01_basic_attention/predictions.csv 16
    refused "[no-counts]" build/bin/teach conflicts nowhere.csv
    refused "nowhere/hints is missing; restore it with: git checkout nowhere/hints [missing-file]" build/bin/teach hint lesson-01 nowhere nowhere.cu
    refused "[missing-file]" build/bin/teach quiz lesson-01 nowhere
    refused "[cannot-read]" build/bin/teach blanks nowhere.cu
    refused "flashcards: nowhere.md cannot be read [cannot-read]" build/bin/teach flashcards build/cards.html nowhere.md
    [ ! -e build/cards.html.new ]
}

@test "a question that cannot be read or graded is a one-line error, and is not graded by a 0" {
    folder=$BATS_TEST_TMPDIR/lesson
    mkdir -p "$folder"
    run='run: base solutions/01_basic_attention/attention.cu 1,1,16,16'
    # asked TEXT LINE...: the quiz of a lesson with one question of these lines fails with TEXT.
    asked() {
        words=$1
        shift
        printf '%s\n' "== q" "$@" >"$folder/questions"
        run build/bin/teach quiz lesson-01 "$folder" </dev/null
        echo "$output"
        [ "$status" -eq 2 ]
        [[ ${lines[-1]} == "error: $folder/questions: question q "*"$words"* ]]
    }
    asked "cannot be graded: 1 / 0 divides by 0" "ask: x" "answer: 1 / 0"
    asked "has a line of no known form: colour: red [unknown-line]" "colour: red"
    asked "[no-expression]" "choice: one"
    asked "[unknown-need]" "needs: luck"
    asked "choices 1 and 3 have the same value [tied-choices]" "choice: a := 2" "choice: b := 1" "choice: c := 2"
    asked "[unclosed-brace]" "ask: {1" "answer: 1"
    asked "[no-such-run]" "$run" "ask: x" 'answer: count("other", "global load bytes")'
    asked "has no check 'base' [no-such-run]" "$run" "ask: x" 'answer: passes("base")'
    asked "[no-such-run]" 'check: bad solutions/01_basic_attention/attention.cu 1,1,16,16' "ask: x" 'answer: count("bad", "global load bytes")'
    asked "[unknown-quantity]" "$run" "ask: x" 'answer: count("base", "global load seconds")'
    asked "[no-such-access]" "$run" "ask: x" 'answer: count("base", "global load bytes", "no such text")'
    asked "[sed-no-change]" "$run s/no such text//" "ask: x" "answer: 1"
    asked "[sed-failed]" "run: base nowhere.cu 1,1,16,16" "ask: x" "answer: 1"
    asked "[bad-run]" "run: base" "ask: x" "answer: 1"
}
