#!/usr/bin/env bats
# A folder that appears is a lesson: the smallest one, copied under another number, is found by all commands and by the tests,
# with no other line changed. The GPU that times it is made up, as in tests/runner.

load ../long
load helpers

# Sets up the lesson 90_throwaway in the copy of the project.
setup_file() {
    root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    copy_project
    from=$(cd "$root/solutions" && wc -l [0-9][0-9]_*/attention.cu | sort -n | awk -F '[ /]+' '$2 != "total" { print $(NF - 1); exit }')
    cp -R "solutions/$from" solutions/90_throwaway
    mkdir -p lessons/90_throwaway
    cp "$root/lessons/$from"/{README.md,hints,questions,predictions.csv} lessons/90_throwaway
    sed -i -e "s/$from/90_throwaway/g" -e "s/\(esson[- ]\)${from%%_*}/\190/g" lessons/90_throwaway/* solutions/90_throwaway/{*.cu,repair.patch}
    # One question is as good as ten.
    awk '/^== /{ n++ } n < 2' lessons/90_throwaway/questions >q && mv q lessons/90_throwaway/questions
    scripts/teach skeleton solutions/90_throwaway/attention.cu >lessons/90_throwaway/attention.cu
    cp -R "$root"/tests/{tap.sh,solutions,skeletons,architectures,runner} tests
    cp -R "$root/baselines" "$root/post" "$root/peers" .
}

@test "make lists the new lesson and prints its subject" {
    make lessons | grep -q '^lesson-90  '
    run make lesson-90
    [[ $output == *"Edit   lessons/90_throwaway/attention.cu, "[1-9]*" blanks"* ]]
    refused "lesson-90" make lesson-99
    [[ $output == *"[unknown-goal]"* ]]
    make -n post | grep -q lessons/90_throwaway
    make flashcards && grep -q 'Lesson 90' build/flashcards.html
    DEVICE='' make -n peers PYTHON=true | grep -q build/kernels/solutions/90_throwaway/attention.so
}

@test "its skeleton fails and can be reset, its solution passes, and check runs both" {
    long
    run make lesson-90 check SHAPE=1,1,16,16
    echo "$output"
    [ "$status" -eq 2 ]
    [[ $output == *"lessons/90_throwaway/attention.cu:"*": TODO 1"* ]]
    run make progress
    grep -q '^lesson-90  *untouched ' <<<"$output"
    solve 90
    run make lesson-90 check
    echo "$output"
    [ "$status" -eq 0 ]
    make progress | grep -q '^lesson-90  *passing '
    make -n check | grep -q -- '--name lesson-90_throwaway '
    make -n solutions check | grep -q -- '--name solution-90_throwaway '
    make lesson-90 reset
    scripts/teach skeleton solutions/90_throwaway/attention.cu | cmp - lessons/90_throwaway/attention.cu
    [ -e lessons/90_throwaway/attention.cu.1 ]
}

@test "hint and quiz" {
    long
    run make lesson-90 hint
    echo "$output"
    [[ $output == "lessons/90_throwaway/attention.cu:"*": TODO 1, hint 1 of "* ]]
    run make lesson-90 quiz <<<""
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output == *"lesson-90, question 1 of 1"* ]]
}

# A toolkit whose nvcc makes of a kernel file the stand-in of tests/runner for it, and a runtime and a driver that need no GPU.
fake_toolkit() {
    read -r nvcc cuda _ <<<"$(scripts/find-cuda)"
    toolkit=$BATS_TEST_TMPDIR/toolkit
    mkdir -p "$toolkit/bin" "$toolkit/gpu"
    ln -s "$cuda/include" "$toolkit/include"
    library=$(ldd build/bin/runner | awk '$1 ~ /^libcudart/ { print $1 }')
    echo "$library { global: *; };" >"$toolkit/map"
    compile="gcc -std=c17 -D_GNU_SOURCE=1 -O2 -shared -fPIC -Icommon -isystem $cuda/include"
    $compile -Wl,--version-script="$toolkit/map" -Wl,-soname="$library" tests/runner/fake_cudart.c -o "$toolkit/gpu/$library"
    for name in libcuda.so.1 libnvidia-ml.so.1; do
        $compile -Wl,-soname=$name tests/runner/fake_driver.c -o "$toolkit/gpu/$name"
    done
    for name in timed softmax ceilings products; do
        $compile tests/runner/fake_$name.c -o "$toolkit/$name.so" -lm
    done
    echo '#!/bin/sh' >"$toolkit/bin/nvcc"
    cat >>"$toolkit/bin/nvcc" <<END
case \$1 in --version | --list-gpu-code) exec "$nvcc" "\$1" ;; esac
for word; do
    case \$word in *.cu) source=\$word ;; esac
    case \$last in -o) output=\$word ;; -MF) rules=\$word ;; -MT) target=\$word ;; esac
    last=\$word
done
name=timed
grep -q 'cudaError_t softmax_forward(' "\$source" && name=softmax
case \$source in */ceilings.cu) name=ceilings ;; */ceiling_*.cu) name=products ;; esac
cp "$toolkit/\$name.so" "\$output"
echo "\$target: \$source" >"\$rules"
END
    chmod +x "$toolkit/bin/nvcc"
    rm -rf build/kernels
    export CUDA_HOME=$toolkit
}

# The harness stays as it is: it was built with the true toolkit.
bench() {
    LD_LIBRARY_PATH=$toolkit/gpu FAKE_CLOCK=1 DEVICE='' make -o build/flags "$@" bench
}

@test "bench times it together with the previous lessons and the ladder, and it is in the charts" {
    long
    fake_toolkit
    before=$(printf '%s\n' solutions/[0-8]*_* | tail -n 1)
    run bench lesson-90 SIZES=16
    echo "$output"
    [ "$status" -eq 0 ]
    rows=results/fake-gpu/attention.csv
    grep -q ',lesson-90_throwaway,' $rows
    grep -q ",solution-${before#*/}," $rows
    rm -r results/fake-gpu
    run bench SHAPE=1,16,64,64
    echo "$output"
    [ "$status" -eq 0 ]
    for folder in solutions/[0-9][0-9]_*; do
        grep -q ",solution-${folder#*/}," $rows
    done
    # As if it were of the size that charts are about.
    sed -i 's/,64,64,64,/,4096,4096,64,/' $rows
    run make plots
    echo "$output"
    [ "$status" -eq 0 ]
    grep -q "90 throwaway" build/plots/fake-gpu/solutions/ladder-d64.svg
    rm -r results/fake-gpu
}

@test "the tests check it and its skeleton, and compile it for each architecture" {
    # All that they call succeeds. The new lesson is none of those that make test takes.
    export TEST_ALL=1
    for name in make nvcc; do
        printf '#!/bin/sh\n[ $1 != --list-gpu-code ] || echo sm_90\n[ $1 != --version ] || echo release 13.0, V13\n' >"$BATS_TEST_TMPDIR/$name"
        chmod +x "$BATS_TEST_TMPDIR/$name"
    done
    make -n build/tests/all >plan
    grep -q 'nvcc.* solutions/90_throwaway/attention.cu' plan
    grep -q 'nvcc.* build/skeletons/90_throwaway/attention.cu' plan
    mkdir -p "$BATS_TEST_TMPDIR/cuda/bin"
    mv "$BATS_TEST_TMPDIR/nvcc" "$BATS_TEST_TMPDIR/cuda/bin"
    PATH=$BATS_TEST_TMPDIR:$PATH CUDA_HOME=$BATS_TEST_TMPDIR/cuda
    tests/solutions | grep -q '^ok .* - solution-90 check$'
    tests/skeletons >listed || true
    grep -q ' - 90_throwaway/attention.cu: the skeleton fails its check' listed
    tests/architectures | grep -q '^ok .* - 90_throwaway/attention.cu for 90'
}
