#!/usr/bin/env bats
# Bad input, and kernels with a mistake in them: one clear line each, exit status 2, nothing written or lost.

load ../long
load helpers

small=SHAPE=1,1,16,16

@test "an unknown lesson or goal" {
    refused "lesson-99" make lesson-99 check
    refused "solution-99" make solution-99
    refused "lesson-2" make lesson-2 check
    refused "chekc" make lesson-01 chekc
}

@test "an action without a lesson, or on what it is not for" {
    refused "trace needs a lesson" make trace
    refused "reset needs a lesson" make reset
    refused "diff needs a lesson" make diff
    refused "reset" make solution-01 reset
    refused "goes alone" make lesson-01 reset check
    refused "goes alone" make clean check
}

@test "a DEVICE or a switch that does not exist" {
    export V=1 # what is compiled is said
    refused "QUICK=yes" make lesson-01 check QUICK=yes
    refused "lesson-01 has no such part; it has attention" make lesson-01 check PART=softmax
    refused "PART=softmax is a part of a lesson" make check PART=softmax
    refused "PART=attention and SHAPE=64,1024 do not go together: it takes B,H,N,D" make lesson-03 check PART=attention SHAPE=64,1024
    refused "FRESH=no" make bench DEVICE= FRESH=no
    refused "DEVICE=tpu" make lesson-01 check DEVICE=tpu
    refused "CAUSAL=yes" make lesson-01 check CAUSAL=yes
    for dtype in fp64 FP16 float "fp32 fp16" "it's"; do
        refused "DTYPE=$dtype is not known; it is fp32, fp16 or bf16" make lesson-01 check DTYPE="$dtype"
    done
    run ! grep -qE '^(nvcc|cc) ' <<<"$output"
    make -n lesson-01 check DTYPE=bf16 | grep -q -- "attention check .*--dtype 'bf16'"
}

@test "DEVICE=gpu with no GPU" {
    nvidia-smi >/dev/null 2>&1 && skip "there is a GPU"
    refused "no GPU answers" make solution-01 check DEVICE=gpu
    # Nothing was compiled before.
    touch solutions/01_basic_attention/attention.cu
    DEVICE= refused "bench needs a GPU" make solution-01 bench
    DEVICE= refused "SIZES=x cannot be used" make solution-01 bench SIZES=x
    refused "bench needs a GPU" make solution-01 bench DEVICE=sim
    [ solutions/01_basic_attention/attention.cu -nt build/kernels/solutions/01_basic_attention/attention.so ]
}

@test "a SHAPE that does not parse, or is zero, negative or too large" {
    for shape in abc 1,2,3 1,2,3,4,5 1,2,3,x 0,1,16,16 1,1,-5,16 1,1,0,16 1,1,16, 1.5,1,16,16 '1, 1,16,16' \
        99999999999999999999,1,1,1 1,1,16,513 1,1,2147483647,512 "1,1,16,16'; touch pwned; '"; do
        refused "SHAPE=" make solution-01 check SHAPE="$shape"
    done
    [ ! -e pwned ]
}

@test "tensors of the wrong magic, dtype, order, shape or length, truncated, or absent" {
    long
    tests/fixtures/make-malformed "$BATS_TEST_TMPDIR/malformed"
    for data in "$BATS_TEST_TMPDIR"/malformed/*/; do
        refused "$(basename "$data")/" make solution-01 check DATA="$data"
    done
    refused "nowhere" make solution-01 check DATA=nowhere
}

@test "a SEED or TIME_LIMIT that is no number" {
    refused "SEED=x" make solution-01 check SEED=x
    refused "imit" make solution-01 check TIME_LIMIT=-1
}

@test "a KERNEL that is not there, is no CUDA source, or cannot be chosen" {
    refused "nowhere.cu does not exist" make check KERNEL=nowhere.cu
    refused "Makefile" make check KERNEL=Makefile
    refused "choose one" make lesson-01 lesson-02 check KERNEL=solutions/01_basic_attention/attention.cu
    cp solutions/01_basic_attention/attention.cu "$BATS_TEST_TMPDIR/a b.cu"
    refused "space" make check KERNEL="$BATS_TEST_TMPDIR/a b.cu"
    for name in "it's.cu" 'a"b.cu' 'a#b.cu' 'a$b.cu' 'a(b.cu' 'a;b.cu' 'a\b.cu' 'a=b.cu'; do
        cp solutions/01_basic_attention/attention.cu "$BATS_TEST_TMPDIR/$name"
        refused "$name has a character in its name" make check KERNEL="$BATS_TEST_TMPDIR/$name"
    done
}

@test "a PROGRAM that is not there, is none, or cannot be built; words for run without it" {
    long
    program=$BATS_TEST_TMPDIR/program.cu
    echo 'int broken() { return 0; }' >"$program"
    refused "needs a program of your own" make run
    refused "nowhere.cu does not exist" make run PROGRAM=nowhere.cu
    refused "there is no b.cu" make run PROGRAM="$program b.cu"
    refused "is a folder" make run PROGRAM="$BATS_TEST_TMPDIR"
    refused "is no source" make run PROGRAM=Makefile
    for name in 'a"b.cu' 'a$b.cu' 'a,b.cu' 'a\b.cu'; do
        cp "$program" "$BATS_TEST_TMPDIR/$name"
        refused "$name has one of" make run PROGRAM="$BATS_TEST_TMPDIR/$name"
    done
    refused "ARGS='x has a quote without its partner" make run PROGRAM="$program" ARGS="'x"
    refused 'FLAGS=-D"x has a quote without its partner' make run PROGRAM="$program" FLAGS='-D"x'
    refused "run goes alone" make lesson-01 run PROGRAM="$program"
    refused "for the simulator" make run PROGRAM="$program" DEVICE=gpu
    refused "ARGS=x goes with run" make lesson-01 check ARGS=x
    refused "program.cu has no main()" make run PROGRAM="$program"
    echo 'int broken() { return it; }' >"$program"
    run make run PROGRAM="$program"
    echo "$output"
    [ "$status" -eq 2 ]
    [[ $output == *"program.cu(1): error"*"run] Error 1" ]]
    run make run PROGRAM="$program" ARGS='$(touch pwned); `touch pwned`'
    [ ! -e pwned ]
}

@test "a program whose kernel the simulator cannot run says so, though it asks for no error" {
    long
    printf '%s\n' '__global__ void marked() { asm volatile("pmevent.mask 1;"); }' 'int main() { marked<<<1, 1>>>(); }' >"$BATS_TEST_TMPDIR/marked.cu"
    run make run PROGRAM="$BATS_TEST_TMPDIR/marked.cu"
    echo "$output"
    [ "$status" -eq 2 ]
    [[ $output == *"marked.cu:1: the simulator does not know '.mask' after 'pmevent'"*"nothing asked for its error"*"run] Error 1" ]]
}

@test "a clone in a folder with quotes in its name: the ones that work do, the others are refused" {
    for name in "it's #1" 'a "b"'; do
        mkdir "$BATS_TEST_TMPDIR/$name"
        cp -a Makefile make scripts common solutions lessons teach "$BATS_TEST_TMPDIR/$name"
    done
    make -C "$BATS_TEST_TMPDIR/it's #1" -n lesson-01 check >/dev/null
    make -C "$BATS_TEST_TMPDIR/it's #1" lessons
    run make -C "$BATS_TEST_TMPDIR/a \"b\"" lesson-01
    echo "$output"
    [ "$status" -eq 2 ]
    [[ $output == *'has a " or a \ in it'* ]]
}

@test "what is printed cannot be written" {
    for goals in help lesson-01 lessons progress doctor "lesson-02 hint" "solution-01 check $small" flashcards; do
        # shellcheck disable=SC2086 # goals
        run bash -c "make $goals >/dev/full"
        echo "$goals: $status $output"
        [ "$status" -eq 2 ]
    done
    # A skeleton that could not be written takes no learner's place.
    run bash -c 'build/bin/teach skeleton solutions/01_basic_attention/attention.cu >/dev/full'
    [ "$status" -eq 2 ]
}

@test "inputs of one's own with a NaN in them, and a SEED that they make meaningless, are remarked on" {
    cp -R tests/fixtures/torch/batch_heads "$BATS_TEST_TMPDIR/data"
    run make solution-04 check DATA="$BATS_TEST_TMPDIR/data"
    echo "$output"
    [[ $status -eq 0 && $output != *NaN* && $output != *eed* ]]
    rm "$BATS_TEST_TMPDIR/data/o.npy"
    printf '\0\0\xc0\x7f' | dd of="$BATS_TEST_TMPDIR/data/v.npy" bs=1 seek=128 conv=notrunc 2>/dev/null
    run make solution-04 check DATA="$BATS_TEST_TMPDIR/data" SEED=3
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output == *"data holds NaN or infinity"*"SEED changes nothing"*", 1 case"$'\n'* ]]
}

@test "no place for what is built, nor for what is temporary; results that are not there" {
    refused "TMPDIR=/nowhere" env TMPDIR=/nowhere make plots
    mv build "$BATS_TEST_TMPDIR/kept"
    touch build
    make help >"$BATS_TEST_TMPDIR/help" # builds nothing
    make lesson-01 >"$BATS_TEST_TMPDIR/lesson"
    run make plots
    rm build
    mv "$BATS_TEST_TMPDIR/kept" build
    echo "$output"
    [ "$status" -eq 2 ]
    [[ $output == *"build/ cannot be written"* && ${#lines[@]} -eq 1 ]]
    mv build "$BATS_TEST_TMPDIR/kept"
    touch build
    run make watch
    rm build
    mv "$BATS_TEST_TMPDIR/kept" build
    [[ $status -eq 2 && $output == *"build/ cannot be written"* ]]
    refused "there is no folder nowhere" make progress RESULTS=nowhere
    refused "there is no folder it's here" make plots RESULTS="it's here"
}

@test "a lesson's file that is missing" {
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

@test "nvcc absent, or too old" {
    path=$(path_without nvcc)
    # The places where this machine has one are written away.
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
    # What needs no compiler works all the same.
    env CUDA_HOME= CUDA_PATH= PATH="$path" make help >/dev/null
    env CUDA_HOME= CUDA_PATH= PATH="$path" make lesson-01 >/dev/null
    mv "$BATS_TEST_TMPDIR/kept" scripts/find-cuda
    echo "$missing"
    echo "$old"
    [[ $missing == *"nvcc is not installed; run ./setup"*" 2" ]]
    [[ $old == *"11.8"*"12.4"*" 2" ]]
    [ "$(wc -l <<<"$missing$old")" -eq 1 ]
}

@test "a CUDA_HOME that holds no toolkit" {
    refused "CUDA_HOME=/nowhere has no bin/nvcc" env CUDA_HOME=/nowhere make solution-01 check
    run env CUDA_HOME=/nowhere ./setup
    echo "$output"
    [[ $status -eq 2 && ${#lines[@]} -eq 1 && $output == *"CUDA_HOME=/nowhere has no bin/nvcc"* ]]
}

@test "make test without what the tests need" {
    cp "$BATS_TEST_DIRNAME/../run" tests/run
    refused "the tests need bats; run ./setup --tests" env PATH="$(path_without bats)" make test
    rm tests/run
}

@test "doctor has one line a tool, with its version once" {
    make doctor >"$BATS_TEST_TMPDIR/said" || true
    cat "$BATS_TEST_TMPDIR/said"
    grep -qE '^make +[0-9][0-9.]*$' "$BATS_TEST_TMPDIR/said"
    grep -qE '^gcc +[0-9][0-9.]*$' "$BATS_TEST_TMPDIR/said"
    [ -z "$(sed -n 's/^\([a-z0-9+-]*\)  .*/\1/p' "$BATS_TEST_TMPDIR/said" | sort | uniq -d)" ]
    run env CUDA_HOME=/nowhere make doctor
    [ "$(grep -c nvcc <<<"$output")" -eq 1 ]
}

@test "gnuplot, gcc or Python absent" {
    refused "gcc is not installed; run ./setup" env PATH="$(path_without gcc)" make lesson-01 check
    [[ $output != *"cc common"* ]]
    mv build/bin/teach "$BATS_TEST_TMPDIR/teach"
    run env PATH="$(path_without gcc)" make lesson-01 hint
    mv "$BATS_TEST_TMPDIR/teach" build/bin/teach
    echo "$output"
    [ "$status" -eq 2 ] && [[ $output == *"gcc is not installed; run ./setup"* ]] && [ "${#lines[@]}" -eq 1 ]
    refused "/nowhere is not there; PYTHON=" make peers DEVICE= PYTHON=/nowhere
    refused "gnuplot is not installed; run ./setup" env PATH="$(path_without gnuplot gnuplot-nox)" make plots
}

@test "ncu absent" {
    command -v ncu >/dev/null && skip "ncu is here"
    refused "profile needs a GPU and ncu, which is not installed" make solution-01 profile
    [[ $output == *"make solution-01 trace counts on the simulator"* ]]
}

@test "a kernel that does not compile: the compiler's message, and only make's line after it" {
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

# fails WORDS FILE: the check of a kernel file fails with these words, and the harness itself is not hurt.
fails() {
    run make check KERNEL="$2" $small
    echo "$output"
    [ "$status" -eq 2 ]
    [[ $output == *"Error 1"* ]]
    [[ $output == *$1* ]]
}

@test "a kernel that crashes" {
    kernel_file "$BATS_TEST_TMPDIR/crash.cu" '*(volatile int *)8 = 1;'
    fails "crashed" "$BATS_TEST_TMPDIR/crash.cu"
}

@test "a kernel that aborts" {
    long
    kernel_file "$BATS_TEST_TMPDIR/abort.cu" 'abort();'
    fails "crashed" "$BATS_TEST_TMPDIR/abort.cu"
}

@test "a kernel that ends the whole process" {
    long
    kernel_file "$BATS_TEST_TMPDIR/leave.cu" 'exit(0);'
    fails "" "$BATS_TEST_TMPDIR/leave.cu"
}

@test "a kernel that writes where nothing is allocated" {
    long
    kernel_file "$BATS_TEST_TMPDIR/stray.cu" 'stray<<<1, 32, 0, stream>>>(o);'
    fails "stray.cu:" "$BATS_TEST_TMPDIR/stray.cu"
}

@test "a kernel that leaves the output unwritten" {
    long
    kernel_file "$BATS_TEST_TMPDIR/none.cu" 'fill<<<1, 1, 0, stream>>>(o, 0, 0.0f);'
    fails "written" "$BATS_TEST_TMPDIR/none.cu"
    kernel_file "$BATS_TEST_TMPDIR/idle.cu" ''
    fails "launched no kernel" "$BATS_TEST_TMPDIR/idle.cu"
}

@test "a kernel that writes NaN" {
    long
    kernel_file "$BATS_TEST_TMPDIR/nan.cu" 'fill<<<(count + 255) / 256, 256, 0, stream>>>(o, count, NAN);'
    fails "an" "$BATS_TEST_TMPDIR/nan.cu"
}

@test "a kernel that writes zeros" {
    long
    kernel_file "$BATS_TEST_TMPDIR/zeros.cu" 'fill<<<(count + 255) / 256, 256, 0, stream>>>(o, count, 0.0f);'
    fails "" "$BATS_TEST_TMPDIR/zeros.cu"
}

@test "a kernel that never ends, on the host and on the device" {
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

@test "a file that defines no lesson" {
    echo 'int nothing;' >"$BATS_TEST_TMPDIR/empty.cu"
    refused "attention_forward" make check KERNEL="$BATS_TEST_TMPDIR/empty.cu" $small
}
