#!/usr/bin/env bats
# The line of a kernel file that says its architecture: what is compiled for it, where it is run, and what is refused on a GPU
# that is none of those. The GPUs are made up: nvidia-smi is a stand-in.

# The logs of ptxas say for which GPU it compiled.
unset KERNEL_CODE

load ../long
load helpers

small=SHAPE=1,1,16,16

# gpu 7.5: such a GPU is here, by what nvidia-smi says.
gpu() {
    mkdir -p "$BATS_TEST_TMPDIR/bin"
    printf '#!/bin/sh\necho %s\n' "$1" >"$BATS_TEST_TMPDIR/bin/nvidia-smi"
    chmod +x "$BATS_TEST_TMPDIR/bin/nvidia-smi"
    PATH=$BATS_TEST_TMPDIR/bin:${PATH#"$BATS_TEST_TMPDIR/bin:"}
    DEVICE=
}

# kernel sm_80 [FILE]: a right kernel with that line; sets kernel to its file.
kernel() {
    kernel=${2:-$BATS_TEST_TMPDIR/for_$1.cu}
    sed "1a // architecture: $1" solutions/01_basic_attention/attention.cu >"$kernel"
}

# refused_at_once ...: like refused, and nothing was compiled before.
refused_at_once() {
    V=1 refused "$@"
    run ! grep -qE '^(nvcc|cc) ' <<<"$output"
}

# options FILE: nvcc's options for the architecture of FILE, as make uses them.
options() {
    scripts/architecture code "$(scripts/find-cuda --architectures)" "$1"
}

@test "code is generated for the newer of the line and the GPU; with the suffix a, exactly for the line" {
    kernel sm_80
    cp solutions/01_basic_attention/attention.cu "$BATS_TEST_TMPDIR/any.cu"
    gpu 7.5
    [ "$(options "$BATS_TEST_TMPDIR/any.cu")" = "-gencode arch=compute_75,code=[compute_75,sm_75]" ]
    [ "$(options "$kernel")" = "-gencode arch=compute_80,code=[compute_80,sm_80]" ]
    gpu 8.6
    [ "$(options "$kernel")" = "-gencode arch=compute_86,code=[compute_86,sm_86]" ]
    kernel sm_90a
    [ "$(options "$kernel")" = "-gencode arch=compute_90a,code=[compute_90a,sm_90a]" ]
    # The same from a file with DOS line ends.
    sed -i 's/$/\r/' "$kernel"
    [ "$(options "$kernel")" = "-gencode arch=compute_90a,code=[compute_90a,sm_90a]" ]
}

@test "lessons and KERNEL= files are compiled for the architecture of their line, and the simulator runs them" {
    long
    kernel sm_90a
    run make check KERNEL="$kernel" $small
    echo "$output"
    [ "$status" -eq 0 ]
    library=$(find build/kernels/any -name for_sm_90a.so)
    grep -q "for 'sm_90a'" "$library.ptxas"
    grep -aq '^.target sm_90a' "$library"
    kernel sm_80 lessons/02_vectorized/attention.cu
    gpu 7.5
    run make lesson-02 check $small
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output == *"lesson-02_vectorized runs on the simulator: the file requires sm_80 or newer, and the GPU here is an sm_75"* ]]
    grep -q "for 'sm_80'" build/kernels/lessons/02_vectorized/attention.so.ptxas
    make -n lesson-02 check | grep -q 'attention check .* --device sim'
    fresh 02
}

@test "for a GPU newer than the simulated one, kernels also contain PTX for the simulator" {
    long
    gpu 10.0
    scripts/find-cuda --architectures | grep -q ' 100 ' || skip "this nvcc does not support sm_100"
    kernel sm_80
    run make check DEVICE=sim KERNEL="$kernel" $small
    echo "$output"
    [ "$status" -eq 0 ]
    library=$(find build/kernels/any -name for_sm_80.so)
    grep -q "for 'sm_100'" "$library.ptxas"
    [ "$(grep -ao '^.target sm_[0-9a]*' "$library" | sort | xargs)" = ".target sm_100 .target sm_90" ]
}

@test "a file that the requested GPU cannot run is an error before anything is built" {
    kernel sm_80
    gpu 7.5
    refused_at_once "for_sm_80.cu cannot run on the local GPU: the file requires sm_80 or newer, and the GPU here is an sm_75; omit DEVICE to run it on the simulator [unsupported-architecture]" \
        make check DEVICE=gpu KERNEL="$kernel"
    refused_at_once "for_sm_80.cu cannot run on the local GPU" make bench KERNEL="$kernel"
    last=$(printf '%s\n' solutions/[0-9][0-9]_*/attention.cu | tail -n 1)
    unit=solution-$(numbers | tail -n 1)
    kernel sm_90a "$last"
    gpu 10.0
    refused_at_once "$last cannot run on the local GPU: the file requires sm_90a exactly, and the GPU here is an sm_100" \
        make "$unit" check DEVICE=gpu
    refused_at_once "$last cannot run" make solutions check DEVICE=gpu
    refused_at_once "$last cannot run" make all DEVICE=gpu
    refused_at_once "$last cannot run" make "$unit" bench
    # make bench times the rest of the ladder.
    run make -n bench
    [ "$(grep -c "^$last is skipped: the file requires sm_90a exactly" <<<"$output")" -eq 1 ]
    [[ $output == *"attention bench "*"--name solution-02_vectorized "* ]]
    [[ $output != *"--name $unit"_* ]]
    # A broken kernel on the GPU, and a file for a GPU that is neither installed nor simulated.
    cp "$kernel" lessons/01_basic_attention/repaired.cu
    refused_at_once "repaired.cu cannot run on the local GPU" make lesson-01 repair DEVICE=gpu
    kernel sm_100
    gpu 9.0
    refused_at_once "for_sm_100.cu cannot run on the local GPU or the simulator: the file requires sm_100 or newer, and the GPU here is an sm_90, the simulator is an sm_90" \
        make check KERNEL="$kernel"
    refused_at_once "for_sm_100.cu cannot run on the simulator" make trace KERNEL="$kernel"
}

@test "scripts/architecture knows the newest simulated GPU" {
    simulated=$(sed -n 's/.*[.]compute_capability = \([0-9]*\),/\1/p' simulator/runtime/device.c)
    [ "$(head -n 1 <<<"$simulated")" = "$(sort -n <<<"$simulated" | tail -n 1)" ] # the first one is the default
    grep -q "SIMULATOR = $(head -n 1 <<<"$simulated"), " teach/architecture.c
}

@test "for a GPU that can run the file, nothing is reported" {
    kernel sm_90a
    gpu 9.0
    run make -n check KERNEL="$kernel"
    [ "$status" -eq 0 ]
    [[ $output != *--device* && $output != *"runs on the simulator"* ]]
    make -n bench KERNEL="$kernel" | grep -q 'attention bench .*--name kernel-for_sm_90a.cu'
}

@test "an architecture line that is malformed, unsupported by this nvcc, or repeated is an error" {
    for line in sm_91 sm_80a sm_1000; do
        kernel $line
        refused_at_once " does not support $line; " make check KERNEL="$kernel"
    done
    for line in sm80 90 sm_90b "sm_80 or newer" ""; do
        kernel "$line" "$BATS_TEST_TMPDIR/wrong.cu"
        refused_at_once "wrong.cu:2: '// architecture:${line:+ $line}' is not an architecture line; write '// architecture: sm_80', or sm_90a [architecture-line]" \
            make check KERNEL="$kernel"
    done
    kernel sm_80
    sed -i '9a // architecture: sm_90' "$kernel"
    refused_at_once "for_sm_80.cu:10: second architecture line" make check KERNEL="$kernel"
    # A wrong line in one lesson does not affect another one; building its library directly also fails.
    kernel sm_91 lessons/01_basic_attention/attention.cu
    make -n lesson-02 check >/dev/null
    refused "lessons/01_basic_attention/attention.cu:2: CUDA" make lesson-01 check
    refused "lessons/01_basic_attention/attention.cu:2: CUDA" make build/kernels/lessons/01_basic_attention/attention.so
    fresh 01
}

@test "a skeleton has the architecture line of its solution" {
    kernel sm_80
    scripts/teach skeleton "$kernel" | grep -x -q '// architecture: sm_80'
    sed 's,^ *// END TODO 1,// architecture: sm_80\n&,' solutions/01_basic_attention/attention.cu >"$kernel"
    run scripts/teach skeleton "$kernel"
    [ "$status" -eq 1 ]
    [[ $output == *"the architecture line must be outside of all blanks"* ]]
}
