#!/usr/bin/env bats
# What is built again, and what happens when several makes run at once.

load ../long
load helpers

small=SHAPE=1,1,16,16

# The files that make compiles when the command runs.
compiled() {
    V=1 "$@" 2>&1 | grep -E '^(nvcc|cc) ' || true
}

@test "nothing is built a second time" {
    long
    solve $(numbers)
    make check $small
    [ -z "$(compiled make check $small)" ]
}

@test "editing one lesson rebuilds that lesson only" {
    solve 01 02
    make lesson-01 lesson-02 check $small
    echo "// edited" >>lessons/02_vectorized/attention.cu
    [ "$(compiled make lesson-01 lesson-02 check $small)" = "nvcc lessons/02_vectorized/attention.cu" ]
}

@test "editing a header that kernels share rebuilds the kernels that read it" {
    long
    make solution-01 solution-02 check $small
    header=$(grep -ho 'common/[a-z0-9_]*\.cuh' build/kernels/solutions/02_vectorized/attention.d | head -n 1)
    [ -n "$header" ]
    touch "$header"
    [[ $(compiled make solution-02 check $small) == *"nvcc solutions/02_vectorized/attention.cu"* ]]
}

@test "a lesson that does not compile does not stand in another one's way" {
    solve 01 02
    echo 'int broken = ;' >>lessons/01_basic_attention/attention.cu
    run make lesson-01 lesson-02 check $small
    echo "$output"
    [ "$status" -eq 2 ]
    [[ $output == *"lesson-02_vectorized: 1 of 1 case right"* ]]
    solve 01
}

@test "make -j8 over several lessons gives each lesson's lines together" {
    solve 01 02
    rm -rf build/kernels/lessons
    run make -j8 lesson-01 check lesson-02 check $small
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output == *lesson-01* && $output == *lesson-02* ]]
}

@test "two makes at once, from nothing built, both succeed" {
    long
    solve 01 02
    rm -rf build/kernels/lessons build/bin
    make lesson-01 lesson-02 check $small >"$BATS_TEST_TMPDIR/first" 2>&1 &
    make lesson-02 lesson-01 check $small
    wait $! || { cat "$BATS_TEST_TMPDIR/first"; false; }
    # Nothing half-made is left behind.
    [ -z "$(temporary_files)" ]
}

# on_terminal COMMAND: what it prints on a terminal.
on_terminal() {
    script -qec "$1" /dev/null </dev/null | tr -d '\r'
}

@test "a build that takes more than three seconds has one line of progress on a terminal, and none after it or after Ctrl-C" {
    long
    mkdir -p "$BATS_TEST_TMPDIR/bin"
    printf '#!/bin/sh\nsleep 3.5\nexec %s "$@"\n' "$(command -v gcc)" >"$BATS_TEST_TMPDIR/bin/gcc"
    chmod +x "$BATS_TEST_TMPDIR/bin/gcc"
    slow=$BATS_TEST_TMPDIR/bin:$PATH
    object=build/objects/common/shape.o
    make $object build/objects/common/dtype.o
    touch common/shape.c common/dtype.c
    run on_terminal "PATH='$slow' make -j1 $object build/objects/common/dtype.o"
    # The last line, too, is erased.
    [[ $output == *$'\e[Kcc common/shape.c: 1 of 2'$'\e[Kcc common/dtype.c: 2 of 2, about '?' s left'*$'\e[K' ]]
    touch common/shape.c
    run on_terminal "make $object"
    [ -z "$output" ]
    touch common/shape.c
    run bash -c "PATH='$slow' timeout -s INT 1 make $object 2>/dev/null; sleep 3"
    [ -z "$output" ]
    [ -z "$(find build/objects/common -name 'shape.o.*')" ]
}

@test "elsewhere a build that takes long has one line for each lesson, and what the compiler says is kept" {
    long
    export BUILD_MAKE=$$ BUILD_GOALS=build/bin/teach
    run scripts/progress 'nvcc a.cu' sh -c 'sleep 3.5; echo said >&2; exit 3'
    [ "$status" -eq 3 ]
    [[ ${lines[0]} == 'nvcc a.cu: 1 of '* && ${lines[1]} == said ]]
    run scripts/progress 'cc a.c' sleep 3.5
    [ "$status" -eq 0 ] && [ -z "$output" ]
    run on_terminal "scripts/progress 'nvcc a.cu' sh -c 'echo said >&2; exit 3'"
    [[ $output == *$'\e[Ksaid'* ]]
}

@test "the checks of one make do not wait for each other aloud, and wait for another make in one line" {
    long
    make solution-01 solution-02 solution-04 check $small
    cp -p build/bin/attention "$BATS_TEST_TMPDIR"
    printf '#!/bin/sh\nsleep 4\n' >"$BATS_TEST_TMPDIR/slow"
    chmod +x "$BATS_TEST_TMPDIR/slow"
    mv "$BATS_TEST_TMPDIR/slow" build/bin/attention
    alone=$(make -j4 solution-01 solution-02 solution-04 check 2>&1) || true
    flock build/.running sleep 15 &
    sleep 0.5
    beside=$(make -j4 solution-01 solution-02 solution-04 check 2>&1) || true
    mv "$BATS_TEST_TMPDIR/attention" build/bin/attention
    echo "$alone"
    echo "$beside"
    [ "$(grep -c waiting <<<"$alone")" -eq 0 ]
    [ "$(grep -c waiting <<<"$beside")" -eq 1 ]
}

@test "what was compiled in one folder serves every other one, and names no folder" {
    mkdir -p "$BATS_TEST_TMPDIR"/bin "$BATS_TEST_TMPDIR"/{one,"the (2nd)  [x]+"}
    ln -s "the (2nd)  [x]+" "$BATS_TEST_TMPDIR/link"
    cat >"$BATS_TEST_TMPDIR/bin/nvcc" <<'END'
#!/bin/sh
echo compiled >>"$(dirname "$0")/../log"
while [ $# -gt 1 ]; do
    case $1 in
    -o) printf '\0.file\n.file\t1 "%s/a/k.cu"\n.file\t2 "/usr/%s/k.h"\nend\n' "$PWD" "$PWD" >"$2" ;;
    -MF) echo "k.so: k.cu" >"$2" ;;
    esac
    shift
done
END
    chmod +x "$BATS_TEST_TMPDIR/bin/nvcc"
    compiler=$PWD/scripts/compile-kernel
    for folder in one link; do
        cd "$BATS_TEST_TMPDIR/$folder"
        echo same >k.cu
        env -u KERNEL_CACHE "$compiler" k.so "$BATS_TEST_TMPDIR/bin/nvcc" k.cu # tests/run sets it
        there=$(pwd -P)
        # The length of the file is what nvcc has written.
        printf '\0.file\n.file\t1 "a/k.cu"%*s\n.file\t2 "/usr/%s/k.h"\nend\n' $((${#there} + 1)) "" "$there" | cmp - k.so
        rm k.so
        KERNEL_CACHE=$BATS_TEST_TMPDIR/kernels "$compiler" k.so "$BATS_TEST_TMPDIR/bin/nvcc" k.cu
    done
    [ "$(wc -l <"$BATS_TEST_TMPDIR/log")" -eq 3 ] # of four, the last one was known
}

@test "a copy of a built checkout, beside it or in its place, compiles nothing and names its own sources" {
    make solution-02 check $small
    cp -a "$project" "$BATS_TEST_TMPDIR/copy"
    mv "$BATS_TEST_TMPDIR/copy" "$BATS_TEST_TMPDIR/renamed"
    ln -s renamed "$BATS_TEST_TMPDIR/link"
    for folder in renamed link; do
        cd "$BATS_TEST_TMPDIR/$folder"
        [ -z "$(compiled make solution-02 trace $small)" ]
        counts=build/trace/solution-02_vectorized-attention.csv
        grep -q '"solutions/02_vectorized/attention.cu"' $counts
        run ! grep -F "$project" $counts
        # After a change, too, which is compiled here.
        echo "// changed" >>solutions/02_vectorized/attention.cu
        make solution-02 trace $small
        run ! grep -e "$project" -e "$BATS_TEST_TMPDIR" $counts
    done
}
