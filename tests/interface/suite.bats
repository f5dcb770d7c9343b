#!/usr/bin/env bats
# tests/suite and tests/limit: the CPU time limit of a test, and the report of a test that exceeds it.

bats_require_minimum_version 1.5.0

setup() {
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    make --silent build/tests/limit
}

# suite LIMIT COMMAND: a test program of that text, under that limit
suite() {
    TEST_LIMIT=$1 run tests/suite "$BATS_TEST_TMPDIR/log" sh -c "$2"
    echo "$output"
}

@test "a test that exceeds its CPU time limit is stopped with all its processes, and fails" {
    suite 1 'exec sh -c "while :; do : suite-test-$$; done" & while :; do :; done'
    [[ $output == *"0 passed, 1 failed"*"1 seconds of CPU time"* ]]
    [[ $output =~ \([1-5]\ CPU\ s\) ]] # and soon, not by the limit on the clock
    run ! pgrep -f "suite-test-[0-9]"
}

@test "waiting does not count as CPU time" {
    suite 0.2 'sleep 1; echo 1..1; echo "ok 1"'
    [[ $output == *"1 passed  (0 CPU s)"* ]]
}

@test "a test that exits with an error, or before its planned tests, counts as one more failure" {
    suite 9 'echo 1..2; echo "ok 1"'
    [[ $output == *"1 passed, 1 failed"* ]]
    suite 9 'echo 1..1; echo "ok 1"; exit 3'
    [[ $output == *"1 passed, 1 failed"*"exit status 3"* ]]
}
