#!/usr/bin/env bats
# Bad input and broken kernels: one clear line each, exit status 2, and no file is changed. Wordings: messages.bats.

load ../long
load helpers

small=SHAPE=1,1,16,16

@test "an unknown value of a variable is an error, before anything is compiled" {
    # What the launcher reads is refused by it, and nothing but the launcher is built for that.
    touch solutions/01_basic_attention/attention.cu simulator/lanes/float.c common/runner/main.c build/before
    for value in DEVICE=tpu DTYPE=fp64 DTYPE=FP16 "DTYPE=fp32 fp16" "DTYPE=it's" SHAPE=1,1,x,64 SEED=x TIME_LIMIT=0 SCALE=x LAYOUT=x; do
        for action in check trace explore repair; do
            unit=$([ $action = repair ] && echo lesson-01 || echo solution-01)
            refused "$value " make $unit $action "$value"
            [[ $output == *"[unknown-value]"* ]]
        done
    done
    [ -z "$(find build/objects build/kernels -newer build/before '(' -name '*.o' -o -name '*.so' ')')" ]
    make -n lesson-01 check DTYPE=bf16 | grep -q -- "attention check .*--dtype 'bf16'"
}

@test "DEVICE=gpu without a GPU is an error" {
    nvidia-smi >/dev/null 2>&1 && skip "there is a GPU"
    refused "no GPU answers" make solution-01 check DEVICE=gpu
    # Nothing was compiled before.
    touch solutions/01_basic_attention/attention.cu
    DEVICE= refused "bench needs a GPU" make solution-01 bench
    DEVICE= refused "SIZES=x cannot be used" make solution-01 bench SIZES=x
    refused "bench needs a GPU" make solution-01 bench DEVICE=sim
    [ solutions/01_basic_attention/attention.cu -nt build/kernels/solutions/01_basic_attention/attention.so ]
}

@test "a SHAPE that does not parse, or is zero, negative or too large, is an error" {
    for shape in abc 1,2,3 1,2,3,4,5 1,2,3,x 0,1,16,16 1,1,-5,16 1,1,0,16 1,1,16, 1.5,1,16,16 '1, 1,16,16' \
        99999999999999999999,1,1,1 1,1,16,513 1,1,2147483647,512 "1,1,16,16'; touch pwned; '"; do
        refused "SHAPE=" make solution-01 check SHAPE="$shape"
    done
    [ ! -e pwned ]
}

@test "a tensor with wrong magic, dtype, order, shape or length, truncated or missing, is an error" {
    long
    tests/fixtures/make-malformed "$BATS_TEST_TMPDIR/malformed"
    for data in "$BATS_TEST_TMPDIR"/malformed/*/; do
        refused "$(basename "$data")/" make solution-01 check DATA="$data"
    done
    refused "nowhere" make solution-01 check DATA=nowhere
}

@test "a KERNEL whose path make or the shell would take apart is an error" {
    for name in "it's.cu" 'a"b.cu' 'a#b.cu' 'a$b.cu' 'a(b.cu' 'a;b.cu' 'a\b.cu' 'a=b.cu'; do
        cp solutions/01_basic_attention/attention.cu "$BATS_TEST_TMPDIR/$name"
        refused "$name" make check KERNEL="$BATS_TEST_TMPDIR/$name"
        [[ $output == *"[bad-path]"* ]]
    done
}

@test "a PROGRAM that does not exist, is not a source, or cannot be built; options of run without run" {
    long
    program=$BATS_TEST_TMPDIR/program.cu
    echo 'int broken() { return 0; }' >"$program"
    refused "run needs a program: make run" make run
    refused "nowhere.cu does not exist" make run PROGRAM=nowhere.cu
    refused "b.cu does not exist" make run PROGRAM="$program b.cu"
    refused "is a folder" make run PROGRAM="$BATS_TEST_TMPDIR"
    refused "is not a source file" make run PROGRAM=Makefile
    for name in 'a"b.cu' 'a$b.cu' 'a,b.cu' 'a\b.cu'; do
        cp "$program" "$BATS_TEST_TMPDIR/$name"
        refused "$name has one of" make run PROGRAM="$BATS_TEST_TMPDIR/$name"
    done
    refused "ARGS='x has an unmatched quote" make run PROGRAM="$program" ARGS="'x"
    refused 'FLAGS=-D"x has an unmatched quote' make run PROGRAM="$program" FLAGS='-D"x'
    refused "run cannot be combined with other goals" make lesson-01 run PROGRAM="$program"
    refused "run uses the simulator" make run PROGRAM="$program" DEVICE=gpu
    refused "ARGS=x is an option of run" make lesson-01 check ARGS=x
    refused "program.cu has no main()" make run PROGRAM="$program"
    echo 'int broken() { return it; }' >"$program"
    run make run PROGRAM="$program"
    echo "$output"
    [ "$status" -eq 2 ]
    [[ $output == *"program.cu(1): error"*"run] Error 1" ]]
    run make run PROGRAM="$program" ARGS='$(touch pwned); `touch pwned`'
    [ ! -e pwned ]
}

@test "a kernel that the simulator cannot run is reported, even if the program does not check errors" {
    long
    printf '%s\n' '__global__ void marked() { asm volatile("pmevent.mask 1;"); }' 'int main() { marked<<<1, 1>>>(); }' >"$BATS_TEST_TMPDIR/marked.cu"
    run make run PROGRAM="$BATS_TEST_TMPDIR/marked.cu"
    echo "$output"
    [ "$status" -eq 2 ]
    [[ $output == *"marked.cu:1: unsupported suffix '.mask' of 'pmevent'"*"its error was not checked"*"run] Error 1" ]]
}

@test "a clone in a folder with quotes in its name works, or is an error" {
    for name in "it's #1" 'a "b"'; do
        mkdir "$BATS_TEST_TMPDIR/$name"
        cp -a Makefile make scripts common solutions lessons teach "$BATS_TEST_TMPDIR/$name"
    done
    make -C "$BATS_TEST_TMPDIR/it's #1" -n lesson-01 check >/dev/null
    make -C "$BATS_TEST_TMPDIR/it's #1" lessons
    run make -C "$BATS_TEST_TMPDIR/a \"b\"" lesson-01
    echo "$output"
    [ "$status" -eq 2 ]
    [[ $output == *'[bad-path]'* ]]
}

@test "a full disk or a closed stdout is an error" {
    for goals in help lesson-01 lessons progress doctor "lesson-02 hint" "solution-01 check $small" flashcards; do
        # shellcheck disable=SC2086 # goals
        run bash -c "make $goals >/dev/full"
        echo "$goals: $status $output"
        [ "$status" -eq 2 ]
    done
    # A skeleton that could not be written does not replace the learner's file.
    run bash -c 'build/bin/teach skeleton solutions/01_basic_attention/attention.cu >/dev/full'
    [ "$status" -eq 2 ]
}

@test "NaN in the user's inputs, and a SEED without effect, are reported" {
    cp -R tests/fixtures/torch/batch_heads "$BATS_TEST_TMPDIR/data"
    run make solution-04 check DATA="$BATS_TEST_TMPDIR/data"
    echo "$output"
    [[ $status -eq 0 && $output != *NaN* && $output != *eed* ]]
    rm "$BATS_TEST_TMPDIR/data/o.npy"
    printf '\0\0\xc0\x7f' | dd of="$BATS_TEST_TMPDIR/data/v.npy" bs=1 seek=128 conv=notrunc 2>/dev/null
    run make solution-04 check DATA="$BATS_TEST_TMPDIR/data" SEED=3
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output == *NaN*"SEED has no effect"*", 1 case"$'\n'* ]]
    # In a masked key: the last one, which the first query does not see.
    truncate -s -4 "$BATS_TEST_TMPDIR/data/v.npy"
    printf '\0\0\xc0\x7f' >>"$BATS_TEST_TMPDIR/data/v.npy"
    refused "[masked-not-finite]" make solution-04 check DATA="$BATS_TEST_TMPDIR/data" CAUSAL=1
}

@test "an unwritable build/ or TMPDIR, or missing results, are errors" {
    refused "[cannot-write]" env TMPDIR=/nowhere make plots
    mv build "$BATS_TEST_TMPDIR/kept"
    touch build
    make help >"$BATS_TEST_TMPDIR/help" # builds nothing
    make lesson-01 >"$BATS_TEST_TMPDIR/lesson"
    run make plots
    rm build
    mv "$BATS_TEST_TMPDIR/kept" build
    echo "$output"
    [ "$status" -eq 2 ]
    [[ $output == *"build/"*"[cannot-write]"* && ${#lines[@]} -eq 1 ]]
    mv build "$BATS_TEST_TMPDIR/kept"
    touch build
    run make watch
    rm build
    mv "$BATS_TEST_TMPDIR/kept" build
    [[ $status -eq 2 && $output == *"build/"*"[cannot-write]"* ]]
    refused "[no-folder]" make progress RESULTS=nowhere
    refused "it's here is not a folder" make plots RESULTS="it's here"
}

@test "a missing file of a lesson is an error, and reset restores it" {
    fresh 02
    rm lessons/02_vectorized/attention.cu
    refused "make lesson-02 reset" make lesson-02 check
    make lesson-02 reset
    [ -e lessons/02_vectorized/attention.cu ]
}

# A PATH with every tool of this machine but the ones named.
path_without() {
    mkdir -p "$BATS_TEST_TMPDIR/bin"
    ln -sf /usr/bin/* /bin/* "$BATS_TEST_TMPDIR/bin" 2>/dev/null || true
    for tool; do
        rm -f "$BATS_TEST_TMPDIR/bin/$tool"
    done
    echo "$BATS_TEST_TMPDIR/bin"
}

@test "a missing or outdated nvcc is an error" {
    path=$(path_without nvcc)
    # Hides the installed toolkits.
    mv scripts/find-cuda "$BATS_TEST_TMPDIR/kept"
    sed 's,/usr/local/cuda,/nowhere,; s,$PWD/toolchain,/nowhere,' "$BATS_TEST_TMPDIR/kept" >scripts/find-cuda
    chmod +x scripts/find-cuda
    run env CUDA_HOME= CUDA_PATH= PATH="$path" make lesson-01 check
    missing="$output $status"
    mkdir -p "$BATS_TEST_TMPDIR/old/bin"
    printf '#!/bin/sh\necho "Cuda compilation tools, release 11.8, V11.8.89"\n' >"$BATS_TEST_TMPDIR/old/bin/nvcc"
    chmod +x "$BATS_TEST_TMPDIR/old/bin/nvcc"
    run env CUDA_HOME="$BATS_TEST_TMPDIR/old" CUDA_PATH= PATH="$path" make lesson-01 check
    old="$output $status"
    # Goals that need no compiler work anyway.
    env CUDA_HOME= CUDA_PATH= PATH="$path" make help >/dev/null
    env CUDA_HOME= CUDA_PATH= PATH="$path" make lesson-01 >/dev/null
    mv "$BATS_TEST_TMPDIR/kept" scripts/find-cuda
    echo "$missing"
    echo "$old"
    [[ $missing == *"nvcc"*"./setup"*"[no-compiler]"*" 2" ]]
    [[ $old == *"11.8"*"12.4"*" 2" ]]
    [ "$(wc -l <<<"$missing$old")" -eq 1 ]
}

@test "a CUDA_HOME without a toolkit is an error" {
    refused "[no-compiler]" env CUDA_HOME=/nowhere make solution-01 check
    run env CUDA_HOME=/nowhere ./setup
    echo "$output"
    [[ $status -eq 2 && ${#lines[@]} -eq 1 && $output == *"CUDA_HOME=/nowhere"*"[no-compiler]" ]]
}

@test "make test without the tools of the tests is an error" {
    cp "$BATS_TEST_DIRNAME/../run" tests/run
    refused "the tests need bats" env PATH="$(path_without bats)" make test
    rm tests/run
}

@test "doctor prints one line per tool, with its version once" {
    make doctor >"$BATS_TEST_TMPDIR/said" || true
    cat "$BATS_TEST_TMPDIR/said"
    grep -qE '^make +[0-9][0-9.]*$' "$BATS_TEST_TMPDIR/said"
    grep -qE '^gcc +[0-9][0-9.]*$' "$BATS_TEST_TMPDIR/said"
    [ -z "$(sed -n 's/^\([a-z0-9+-]*\)  .*/\1/p' "$BATS_TEST_TMPDIR/said" | sort | uniq -d)" ]
    run env CUDA_HOME=/nowhere make doctor
    [ "$(grep -c nvcc <<<"$output")" -eq 1 ]
}

@test "a missing gnuplot, gcc or Python is an error" {
    refused "[no-compiler]" env PATH="$(path_without gcc)" make lesson-01 check
    [[ $output != *"cc common"* ]]
    mv build/bin/teach "$BATS_TEST_TMPDIR/teach"
    run env PATH="$(path_without gcc)" make lesson-01 hint
    mv "$BATS_TEST_TMPDIR/teach" build/bin/teach
    echo "$output"
    [ "$status" -eq 2 ] && [[ $output == *"gcc"*"[no-compiler]"* ]] && [ "${#lines[@]}" -eq 1 ]
    refused "PYTHON=" make peers DEVICE= PYTHON=/nowhere
    refused "gnuplot is not installed" env PATH="$(path_without gnuplot gnuplot-nox)" make plots
}

@test "a missing ncu is an error" {
    command -v ncu >/dev/null && skip "ncu is installed"
    refused "[no-ncu]" make solution-01 profile
    [[ $output == *"make solution-01 trace"* ]]
}

@test "a kernel that does not compile: the compiler's messages, followed only by make's line" {
    fresh 01
    file=lessons/01_basic_attention/attention.cu
    echo 'int broken = ;' >>$file
    run make lesson-01 check
    echo "$output"
    fresh 01
    [ "$status" -eq 2 ]
    [[ $output == *"$file("*"error"* ]]
    last=$(tail -n 1 <<<"$output")
    [[ $last == "make: ***"*"attention.so] Error 1" ]]
    [[ $(tail -n 2 <<<"$output" | head -n 1) == *"error"*"compilation of"* ]]
}

# fails TEXT FILE: the check of a kernel file fails and prints TEXT, and the harness itself does not crash.
fails() {
    run make check KERNEL="$2" $small
    echo "$output"
    [ "$status" -eq 2 ]
    [[ $output == *"Error 1"* ]]
    [[ $output == *$1* ]]
}

@test "a kernel that crashes fails its check" {
    kernel_file "$BATS_TEST_TMPDIR/crash.cu" '*(volatile int *)8 = 1;'
    fails "crashed" "$BATS_TEST_TMPDIR/crash.cu"
}

@test "a kernel that aborts fails its check" {
    long
    kernel_file "$BATS_TEST_TMPDIR/abort.cu" 'abort();'
    fails "crashed" "$BATS_TEST_TMPDIR/abort.cu"
}

@test "a kernel that exits the process fails its check" {
    long
    kernel_file "$BATS_TEST_TMPDIR/leave.cu" 'exit(0);'
    fails "" "$BATS_TEST_TMPDIR/leave.cu"
}

@test "a kernel that writes out of bounds fails its check" {
    long
    kernel_file "$BATS_TEST_TMPDIR/stray.cu" 'stray<<<1, 32, 0, stream>>>(o);'
    fails "stray.cu:" "$BATS_TEST_TMPDIR/stray.cu"
}

@test "a kernel that does not write its output fails its check" {
    long
    kernel_file "$BATS_TEST_TMPDIR/none.cu" 'fill<<<1, 1, 0, stream>>>(o, 0, 0.0f);'
    fails "written" "$BATS_TEST_TMPDIR/none.cu"
    kernel_file "$BATS_TEST_TMPDIR/idle.cu" ''
    fails "launched no kernel" "$BATS_TEST_TMPDIR/idle.cu"
}

@test "a kernel that writes NaN fails its check" {
    long
    kernel_file "$BATS_TEST_TMPDIR/nan.cu" 'fill<<<(count + 255) / 256, 256, 0, stream>>>(o, count, NAN);'
    fails "an" "$BATS_TEST_TMPDIR/nan.cu"
}

@test "a kernel that writes zeros fails its check" {
    long
    kernel_file "$BATS_TEST_TMPDIR/zeros.cu" 'fill<<<(count + 255) / 256, 256, 0, stream>>>(o, count, 0.0f);'
    fails "" "$BATS_TEST_TMPDIR/zeros.cu"
}

@test "a kernel that never ends, on the host or on the device, fails its check" {
    long
    kernel_file "$BATS_TEST_TMPDIR/forever.cu" 'for (volatile int i = 0; i >= 0;) i = 1;'
    run make check KERNEL="$BATS_TEST_TMPDIR/forever.cu" TIME_LIMIT=2 $small
    echo "$output"
    [ "$status" -eq 2 ]
    [[ $output == *"2 s"*TIME_LIMIT* ]]
    kernel_file "$BATS_TEST_TMPDIR/spin.cu" 'spin<<<1, 32, 0, stream>>>(o);'
    SIMULATOR_INSTRUCTION_LIMIT=10000000 run make check KERNEL="$BATS_TEST_TMPDIR/spin.cu" TIME_LIMIT=10 $small
    echo "$output"
    [ "$status" -eq 2 ]
    [[ $output == *TIME_LIMIT* || $output == *instructions* ]]
}

@test "a file that defines no operation is an error" {
    echo 'int nothing;' >"$BATS_TEST_TMPDIR/empty.cu"
    refused "attention_forward" make check KERNEL="$BATS_TEST_TMPDIR/empty.cu" $small
}
