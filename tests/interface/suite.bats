#!/usr/bin/env bats
# tests/suite and tests/limit: what a test may use, and what is said of one that uses more.

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

@test "one that uses more CPU time than its limit is stopped with all that it started, and has failed" {
    suite 1 'exec sh -c "while :; do : suite-test-$$; done" & while :; do :; done'
    [[ $output == *"0 passed, 1 failed"*"it did not end within 1 seconds of CPU time"* ]]
    [[ $output =~ \([1-5]\ CPU\ s\) ]] # and soon, not by the limit on the clock
    run ! pgrep -f "suite-test-[0-9]"
}

@test "waiting is no use of CPU time" {
    suite 0.2 'sleep 1; echo 1..1; echo "ok 1"'
    [[ $output == *"1 passed  (0 CPU s)"* ]]
}

@test "one that ends badly, or before its planned tests, has failed one more" {
    suite 9 'echo 1..2; echo "ok 1"'
    [[ $output == *"1 passed, 1 failed"* ]]
    suite 9 'echo 1..1; echo "ok 1"; exit 3'
    [[ $output == *"1 passed, 1 failed"*"exit status 3"* ]]
}
