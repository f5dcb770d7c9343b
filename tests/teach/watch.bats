#!/usr/bin/env bats
# make watch, on a terminal of its own, ended by Ctrl-C.

load ../long
load helpers

setup() {
    cd "$project" || return 1
    unset SHAPE CAUSAL DATA KERNEL SEED TIME_LIMIT RESULTS MAKEFLAGS MAKELEVEL
    export DEVICE=sim
    log=$BATS_TEST_TMPDIR/log
    rm -rf .progress
    fresh $(ls lessons | sed -n "s/^\([0-9][0-9]\)_.*/\1/p")
}

# on_terminal COMMAND: types COMMAND and then stdin at a shell on a terminal, whose contents go to $log. If an expected text does not
# appear, no Ctrl-C is typed, and the time limit ends the shell.
on_terminal() {
    { echo "$1"; cat; } | env PS1='$ ' timeout 150 script -qefc "sh -i" "$log" >/dev/null || true
}

# until_seen TEXT: waits until the terminal shows TEXT, at most a minute.
until_seen() {
    for _ in $(seq 300); do
        grep -q -- "$1" "$log" 2>/dev/null && return
        sleep 0.2
    done
    return 1
}

@test "watch checks at each save, prints the next step, continues with the next lesson, and ends cleanly at Ctrl-C" {
    # The whole check of lesson 01 takes long.
    solve 01
    scripts/teach record lessons/01_basic_attention/attention.cu whole true
    {
        until_seen "Watching lessons/02_vectorized/attention.cu"
        echo "// saved" >>lessons/02_vectorized/attention.cu
        until_seen "cases right"
        until_seen "Next: lessons/02_vectorized/attention.cu:$(grep -n -m 1 'TODO 1 ' lessons/02_vectorized/attention.cu | cut -d : -f 1): TODO 1"
        # As editors do: a new file replaces the old one.
        cp solutions/02_vectorized/attention.cu lessons/02_vectorized/new
        mv lessons/02_vectorized/new lessons/02_vectorized/attention.cu
        until_seen "Watching lessons/03_fused_softmax/softmax.cu"
        printf '\003'
        until_seen "make watch ends"
        sleep 0.3
        echo 'stty -a; echo ended'
        until_seen "^ended"
        echo exit
    } | on_terminal "make watch"
    cat -v "$log"
    grep -q "lesson-02 passes" "$log"
    grep -q "make watch ends" "$log"
    # The terminal settings are restored, and no process is left.
    tr ' ;\r' '\n\n\n' <"$log" | grep -qx icanon
    tr ' ;\r' '\n\n\n' <"$log" | grep -qx echo
    for process in /proc/[0-9]*; do
        if [ "$(readlink "$process/cwd")" = "$project" ] && tr '\0' ' ' <"$process/cmdline" | grep -q scripts/watch; then
            false
        fi
    done
    [ "$(make progress | awk '$1 == "lesson-02" { print $2 }')" = passing ]
}

@test "watch starts with the first lesson that does not pass, or with the named lesson" {
    long
    solve 01
    make lesson-01 check >/dev/null
    {
        until_seen "Watching"
        printf '\003'
        until_seen "make watch ends"
        echo exit
    } | on_terminal "make watch"
    grep -q "Watching lessons/02_vectorized" "$log"
    rm "$log"
    {
        until_seen "Watching"
        printf '\003'
        until_seen "make watch ends"
        echo exit
    } | on_terminal "make lesson-03 watch"
    grep -q "Watching lessons/03_fused_softmax/softmax.cu lessons/03_fused_softmax/attention.cu" "$log"
    # A file without open blanks is checked without waiting for a save.
    solve 02
    run timeout 100 make lesson-02 watch
    echo "$output"
    [[ $status -eq 0 && $output == *"lesson-02 passes"* ]]
}

@test "watch of a solution, or of two lessons, is an error" {
    refused "[lessons-only]" make solution-02 watch
    refused "[one-lesson]" make lesson-01 lesson-02 watch
}
