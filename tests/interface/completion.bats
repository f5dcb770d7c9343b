#!/usr/bin/env bats
# What a shell completes after make, and what make says of words that it does not know. In the checkout itself: nothing is built.

setup() {
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    unset MAKEFLAGS MAKELEVEL
}

# completes LINE: what Tab offers at its end in bash, sorted.
completes() {
    bash --norc -c '
        . scripts/completion.sh
        compopt() { echo nospace; }
        COMP_LINE=$1 COMP_POINT=${#1}
        _workbook_make make
        printf "%s\n" "${COMPREPLY[@]}"' bash "$1" | sort | xargs
}

@test "goals, variables and values" {
    [ "$(completes 'make lesson-02 che')" = check ]
    [ "$(completes 'make solution-')" = "$(printf '%s\n' solutions/[0-9][0-9]_* | sed 's,.*/\(..\)_.*,solution-\1,' | xargs)" ]
    [ "$(completes 'make lesson-02 check SHA')" = "SHAPE= nospace" ]
    [ "$(completes 'make lesson-02 check DEVICE=')" = "gpu sim" ]
    [ "$(completes 'make lesson-02 check DTYPE=b')" = bf16 ]
    [ "$(completes 'make check CAUSAL=')" = 1 ]
    [ "$(completes 'make check KERNEL=')" = "" ] # bash then completes a file's name
    make words | grep -qx update
}

@test "on a terminal, in bash and in zsh" {
    command -v python3 >/dev/null || skip "python3 is not here to hold a terminal"
    for shell in bash zsh; do
        command -v $shell >/dev/null || { echo "# summary: completion in $shell was not tried: it is not installed"; continue; }
        run python3 tests/interface/at_tab.py $shell '. scripts/completion.sh' 'make lesson-02 hin' 'make lesson-02 check DEVICE=s'
        echo "$output"
        [ "$status" -eq 0 ]
        [[ $output == *"make lesson-02 hint"*"make lesson-02 check DEVICE=sim"* ]]
    done
}

@test "the call of make by the shells' own completion works" {
    run make -npq __BASH_MAKE_COMPLETION__=1 .DEFAULT
    grep -q '^lesson-02:' <<<"$output"
}

# suggests TEXT COMMAND...: one line with TEXT, status 2.
suggests() {
    words=$1
    shift
    run "$@"
    echo "$output"
    [ "$status" -eq 2 ]
    [[ ${#lines[@]} -eq 1 && $output == *"$words"* ]]
}

@test "misspelled goals, lessons and variables: the nearest one is suggested" {
    suggests "check?" make lesson-01 chekc
    suggests "lesson-02?" make lesson-2 check
    suggests "solution-02?" make solution_02 check
    suggests "'frobnicate'; make help" make frobnicate
    suggests "lesson-01 " make lesson-99
    suggests "SHAPE?" make lesson-01 check shape=1,1,16,16
    suggests "DEVICE?" make lesson-01 check DEVCE=sim
    suggests " files; make help" make lesson-01 check files=x
    # A variable that a makefile uses is valid even if make help does not list it.
    make -n lessons CFLAGS=-g DEVICE=sim >/dev/null
}

@test "scripts/nearest finds the nearest of several words" {
    [ "$(scripts/nearest hnit check hint)" = hint ]
    [ "$(scripts/nearest lesson-16 lesson-01 lesson-02)" = "" ]
    [ "$(scripts/nearest Lesson02 lesson-01 lesson-02)" = lesson-02 ]
}
