#!/usr/bin/env bats
# ./setup with the system's tools replaced by stand-ins; tests/fresh-root proves it on bare systems.

bats_require_minimum_version 1.5.0

setup() {
    project=$BATS_TEST_TMPDIR/project
    mkdir -p "$project" "$BATS_TEST_TMPDIR/bin"
    cp -R "$BATS_TEST_DIRNAME/../../setup" "$BATS_TEST_DIRNAME/../../scripts" "$project"
    cd "$project"
    calls=$BATS_TEST_TMPDIR/calls
    : >"$calls"
    export calls
    PATH=$BATS_TEST_TMPDIR/bin:$PATH
}

# stand_in NAME BODY: a command of that name that notes how it was called.
stand_in() {
    printf '#!/bin/sh\necho "%s $*" >>"$calls"\n%s\n' "$1" "$2" >"$BATS_TEST_TMPDIR/bin/$1"
    chmod +x "$BATS_TEST_TMPDIR/bin/$1"
}

# An unprivileged user, and a gnuplot that cannot draw.
unprivileged_user() {
    stand_in id 'echo 1000'
    stand_in gnuplot 'exit 1'
    stand_in apt-get "rm -f '$BATS_TEST_TMPDIR/bin/gnuplot'"
    stand_in sudo 'exec "$@"'
}

@test "if everything is installed, setup names the compiler, installs nothing, and can be rerun" {
    stand_in apt-get 'exit 1'
    for _ in 1 2; do
        run ./setup
        echo "$output"
        [ "$status" -eq 0 ]
        [[ $output == *nvcc*compiles*"Next: make lesson-01" ]]
    done
    [ ! -s "$calls" ]
}

@test "a folder whose path nvcc cannot handle is an error" {
    stand_in apt-get 'exit 1'
    for name in 'a"b' 'a\b'; do
        mkdir "$BATS_TEST_TMPDIR/$name"
        cp -R "$project" "$BATS_TEST_TMPDIR/$name/"
        cd "$BATS_TEST_TMPDIR/$name/project"
        run ./setup
        [ "$status" -eq 2 ]
        [ "$output" = 'setup: the path of this folder contains " or \, which nvcc cannot handle; rename the folder [bad-path]' ]
    done
    [ ! -s "$calls" ]
}

@test "an unknown option is an error" {
    run ./setup --all
    [ "$status" -eq 2 ]
    [[ $output == *"'--all'"* ]]
}

@test "without a terminal and without --yes it prints the command and runs nothing" {
    unprivileged_user
    run ./setup </dev/null
    echo "$output"
    [ "$status" -eq 2 ]
    [[ $output == *"sudo apt-get install --no-install-recommends gnuplot-nox"* ]]
    run ! grep -E '^(sudo|apt-get)' "$calls"
}

@test "with --yes it installs the missing packages with sudo, and nothing else" {
    unprivileged_user
    run ./setup --yes </dev/null
    echo "$output"
    cat "$calls"
    [ "$status" -eq 0 ]
    grep -q '^sudo apt-get update' "$calls"
    grep -q '^apt-get install --no-install-recommends -y -qq gnuplot-nox$' "$calls"
}

@test "on a terminal it asks first and accepts no" {
    script -qec true /dev/null >/dev/null 2>&1 || skip "script cannot make a pseudo-terminal here"
    unprivileged_user
    run script -qec "./setup" /dev/null <<<"n"
    echo "$output"
    [ "$status" -eq 2 ]
    [[ $output == *"Install with sudo: gnuplot-nox? [y/N]"* ]]
    run ! grep -E '^(sudo|apt-get)' "$calls"
    run script -qec "./setup" /dev/null <<<"y"
    echo "$output"
    [ "$status" -eq 0 ]
    grep -q '^apt-get install' "$calls"
}

@test "the output of a failing apt-get is shown" {
    unprivileged_user
    stand_in apt-get 'echo "E: no such mirror" >&2; exit 100'
    run ./setup --yes
    echo "$output"
    [ "$status" -eq 2 ]
    [[ $output == *"E: no such mirror"* ]]
}

@test "a compiler that cannot compile is an error" {
    mkdir -p "$BATS_TEST_TMPDIR/cuda/bin"
    printf '#!/bin/sh\ncase $1 in --version) echo "release 13.0, V13" ;; --list-gpu-code) echo sm_90 ;; *) echo "cicc: not found" >&2; exit 1 ;; esac\n' \
        >"$BATS_TEST_TMPDIR/cuda/bin/nvcc"
    chmod +x "$BATS_TEST_TMPDIR/cuda/bin/nvcc"
    CUDA_HOME=$BATS_TEST_TMPDIR/cuda run ./setup
    echo "$output"
    [ "$status" -eq 2 ]
    [[ $output == *"cicc: not found"* ]]
    [[ $output == *"[no-compiler]"* ]]
}

@test "only --book installs Sphinx, into the project's own folder, and once" {
    stand_in python3 'case "$*" in *pip*install*) while [ "$1" != --target ]; do shift; done; mkdir -p "$2" ;; esac'
    run ./setup
    [ "$status" -eq 0 ]
    run ! grep -q 'pip install' "$calls"
    for _ in 1 2; do
        run ./setup --book
        echo "$output"
        [ "$status" -eq 0 ]
    done
    cat "$calls"
    [ "$(grep -c 'pip install .*--target toolchain/book .*sphinx==' "$calls")" -eq 1 ]
    [ -d toolchain/book/axe ]
}
