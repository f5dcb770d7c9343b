# For a test file of bats: load ../long
# What begins with `long` is left to make test-all, which sets TEST_ALL; tests/suite says how many such a file has.
long() {
    [ "${TEST_ALL-}" ] || skip "make test-all has it"
}
