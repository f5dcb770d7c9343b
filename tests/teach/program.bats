#!/usr/bin/env bats
# build/bin/teach itself: what it needs, and what is no command.

load helpers

@test "a hint needs gcc and nothing of CUDA, from nothing built" {
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

@test "what is no command, or lacks its words, gets a line" {
    for words in "" nonsense blanks skeleton "hint lesson-01" "quiz lesson-01" "record x whole" trace "predictions x" conflicts; do
        # shellcheck disable=SC2086 # words
        run build/bin/teach $words
        echo "$words: $output"
        [ "$status" -eq 2 ]
        [ "${#lines[@]}" -eq 1 ]
    done
}

@test "files that are not there get a line" {
    refused "nowhere.csv cannot be read" build/bin/teach predictions nowhere.csv 1,1,16,16
    refused "SHAPE=16" build/bin/teach predictions lessons/01_basic_attention/predictions.csv 16
    refused "nowhere.csv holds no counts" build/bin/teach conflicts nowhere.csv
    refused "nowhere/hints is missing" build/bin/teach hint lesson-01 nowhere nowhere.cu
    refused "nowhere/questions is missing" build/bin/teach quiz lesson-01 nowhere
    refused "nowhere.cu cannot be read" build/bin/teach blanks nowhere.cu
    refused "nowhere.md cannot be read" build/bin/teach flashcards build/cards.html nowhere.md
    [ ! -e build/cards.html.new ]
}

@test "a question that cannot be read or graded gets a line, and is not answered by a 0" {
    folder=$BATS_TEST_TMPDIR/lesson
    mkdir -p "$folder"
    run='run: base solutions/01_basic_attention/attention.cu 1,1,16,16'
    # asked WORDS LINE...: the quiz of a lesson with one question of these lines is refused.
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
    asked "has colour: red, which is not known" "colour: red"
    asked "has a choice without :=" "choice: one"
    asked "needs luck, which is not known" "needs: luck"
    asked "its choices 1 and 3 come out equal" "choice: a := 2" "choice: b := 1" "choice: c := 2"
    asked "has a { without its }" "ask: {1" "answer: 1"
    asked "has no run 'other'" "$run" "ask: x" 'answer: count("other", "global load bytes")'
    asked "no such quantity is counted" "$run" "ask: x" 'answer: count("base", "global load seconds")'
    asked "asks for global load at a line with 'no such text'" "$run" "ask: x" 'answer: count("base", "global load bytes", "no such text")'
    asked "changes nothing in solutions/01" "$run s/no such text//" "ask: x" "answer: 1"
    asked "sed cannot apply" "run: base nowhere.cu 1,1,16,16" "ask: x" "answer: 1"
    asked "has a run that is not LABEL SOURCE SHAPE" "run: base" "ask: x" "answer: 1"
}
