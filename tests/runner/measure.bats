#!/usr/bin/env bats
# scripts/measure with fake make, ncu, nvidia-smi and Python: a step that fails does not affect the others.

bats_require_minimum_version 1.5.0

setup() {
    project=$BATS_TEST_DIRNAME/../..
    cd "$BATS_TEST_TMPDIR" || return 1
    mkdir -p scripts plots bin solutions/01_one solutions/02_two
    cp "$project"/scripts/{measure,metrics,profile,shared.sh} scripts/
    cp "$project"/plots/{add-profile,counters.tsv} plots/
    printf '#!/bin/sh\necho abc1234\n' >scripts/commit
    printf '#!/bin/sh\nshift 2\nprintf "%%s|any|%%s\\n" "$1" "$([ -e "$1" ] && cat "$1" || echo gpu,sim)"\n' >scripts/architecture
    printf '#!/bin/sh\n' >scripts/find-cuda
    printf '#!/bin/sh\necho "make $*" >>calls\ncase "$* " in *"$BROKEN "*) exit 2 ;; esac\n' >bin/make
    printf '#!/bin/sh\necho "Fake GPU"\n' >bin/nvidia-smi
    printf '#!/bin/sh\nexit ${NO_TORCH:-0}\n' >bin/python3
    cat >bin/ncu <<'END'
#!/bin/sh
[ "$1" != --query-metrics ] || { printf '%s\n' smsp__inst_executed dram__bytes_read lts__t_bytes; exit; }
echo "ncu $*" >>calls
case $* in *"$NCU_FAILS"*) echo "==ERROR== ERR_NVGPUCTRPERM - no permission"; exit 1 ;; esac
while [ "$1" != --log-file ]; do shift; done
cat >"$2" <<'CSV'
"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"
"0","attention(float *)","lts__t_bytes.sum","byte","1,024"
CSV
END
    chmod +x scripts/* bin/*
    export PATH="$PWD/bin:$PATH" BROKEN=nothing NCU_FAILS=nothing
}

@test "checks, timings, counts of every solution, peers" {
    run scripts/measure
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$(grep -c '^make solution-01 solution-02 check DEVICE=gpu\|^make bench ' calls)" -eq 2 ]
    [ "$(grep '^make peers ' calls | xargs)" = "make peers PYTHON=python3 make peers DTYPE=bf16 PYTHON=python3 make peers DTYPE=fp16 PYTHON=python3 \
make peers UNITS=1 PYTHON=python3 make peers UNITS=1 DTYPE=bf16 PYTHON=python3 make peers UNITS=1 DTYPE=fp16 PYTHON=python3" ]
    [ "$(grep -c '^ncu .*--metrics dram__bytes_read.sum,smsp__inst_executed.sum,lts__t_bytes.sum ' calls)" -eq 4 ]
    [ "$(cut -d , -f 1,7,11,13 results/fake-gpu/profile.csv | xargs)" = "lesson,D,value,commit \
solution-01_one,64,1024,abc1234 solution-01_one,128,1024,abc1234 solution-02_two,64,1024,abc1234 solution-02_two,128,1024,abc1234" ]
    [[ $output == *"ncu does not support dram__bytes.sum"* ]]
}

@test "make profile requests the same counters, or all counters if ncu does not list its metrics" {
    : >known
    scripts/profile --log-file known program
    grep -q '^ncu .*--metrics dram__bytes_read.sum,smsp__inst_executed.sum,lts__t_bytes.sum --log-file known program$' calls
    sed -i 's/--query-metrics/--nothing/' bin/ncu
    [ "$(scripts/metrics)" = "$(cut -f 1 "$BATS_TEST_DIRNAME/../../plots/counters.tsv" | paste -s -d ,)" ]
}

@test "a solution for another GPU is skipped and reported" {
    mkdir solutions/03_three
    echo sim >solutions/03_three/attention.cu
    run scripts/measure
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output == *"== solutions/03_three/ is skipped: "*" [skipped]"* ]]
    grep -q '^make solution-01 solution-02 check ' calls
    grep -q '^make solution-02 peers EAGER=1 ' calls
    run ! grep three calls
}

@test "a step that fails is reported, and the other steps still run" {
    BROKEN="bench DEVICE=gpu" run scripts/measure
    echo "$output"
    [ "$status" -eq 1 ]
    [ "$(grep -c '^== timings: failed with status 2 after ' <<<"$output")" -eq 1 ]
    [ "$(grep -c '^== .*: failed' <<<"$output")" -eq 1 ]
    [ "$(wc -l <results/fake-gpu/profile.csv)" -eq 5 ]
    grep -q '^make peers' calls
}

@test "a count that fails does not affect the others" {
    NCU_FAILS="solution-01_one --source solutions/01_one/attention.cu --kernel build/kernels/solutions/01_one/attention.so --device gpu --shape 1,16,4096,64" run scripts/measure
    echo "$output"
    [ "$status" -eq 1 ]
    [ "$(wc -l <results/fake-gpu/profile.csv)" -eq 4 ]
    [[ $output == *"01_one at 1,16,4096,64 [ncu-failed]: ==ERROR== ERR_NVGPUCTRPERM - no permission"* ]]
    grep -q '^make peers' calls
}

@test "without ncu or PyTorch the other steps run, and messages report the missing tool" {
    rm bin/ncu
    if command -v ncu; then skip "an ncu is installed"; fi
    NO_TORCH=1 run scripts/measure
    echo "$output"
    [ "$status" -eq 1 ]
    grep -q '^make bench' calls
    [[ $output == *"[no-ncu]"* ]]
    [[ $output == *"peers: skipped, python3 has no PyTorch"*" [skipped]"* ]]
    run ! grep -q '^make peers' calls
}
