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

@test "what shells ask make by themselves is answered" {
    run make -npq __BASH_MAKE_COMPLETION__=1 .DEFAULT
    grep -q '^lesson-02:' <<<"$output"
}

# says WORDS COMMAND...: one line, status 2.
says() {
    words=$1
    shift
    run "$@"
    echo "$output"
    [ "$status" -eq 2 ]
    [[ ${#lines[@]} -eq 1 && $output == *"$words"* ]]
}

@test "did you mean: goals, lessons and variables; capitals count" {
    says "there is no chekc; did you mean check?" make lesson-01 chekc
    says "did you mean lesson-02?" make lesson-2 check
    says "did you mean solution-02?" make solution_02 check
    says "there is no goal 'frobnicate'; make help" make frobnicate
    says "there is no lesson-99; there are lesson-01 " make lesson-99
    says "there is no variable shape; did you mean SHAPE?" make lesson-01 check shape=1,1,16,16
    says "there is no variable DEVCE; did you mean DEVICE?" make lesson-01 check DEVCE=sim
    says "there is no variable files; make help lists them" make lesson-01 check files=x
    # One that a makefile uses without being in the help is none of these.
    make -n lessons CFLAGS=-g DEVICE=sim >/dev/null
}

@test "the nearest of some words" {
    [ "$(scripts/nearest hnit check hint)" = hint ]
    [ "$(scripts/nearest lesson-12 lesson-01 lesson-02)" = "" ]
    [ "$(scripts/nearest Lesson02 lesson-01 lesson-02)" = lesson-02 ]
}
