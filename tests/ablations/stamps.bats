#!/usr/bin/env bats
# scripts/stamps on the simulator and on a GPU that is made up, and the table of its rows.

bats_require_minimum_version 1.5.0

load ../long

setup() {
    project=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    cd "$project"
    export LC_ALL=C
    unset STEPS
}

@test "kernels with time stamps on the simulator: the solution's bits, as many steps in each lesson, nothing recorded" {
    for patch in solutions/*/stamps.patch; do
        git apply --check "$patch"
    done
    before=$(ls results/*)
    long
    DEVICE=sim run scripts/stamps
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$before" = "$(ls results/*)" ]
    [ "$(cut -d , -f 2,8-15,18 build/stamps-sim/rows | sort -u)" = "solution-19_one_stream,1,256,256,128,1,2,128,128,2
solution-19_one_stream,1,320,320,64,0,3,192,128,10
solution-20_critical_path,1,256,256,128,1,2,128,128,2
solution-20_critical_path,1,320,320,64,0,3,192,128,10" ]
    [ "$(grep '20_critical_path.*,128,1,' build/stamps-sim/rows | cut -d , -f 16 | xargs)" = "turn ask scores vote early products weights" ]
    [ "$(grep '19_one_stream.*,128,1,' build/stamps-sim/rows | cut -d , -f 16 | xargs)" = "turn ask scores vote products weights rounding" ]
    [ "$(grep -c "tensor-core cycles of all warpgroups: 2048" <<<"$output")" -eq 2 ]
    # Other bits than the solution's are no result.
    build=build/stamps-sim
    run env LD_LIBRARY_PATH=build/simulator $build/stamps sim $build/20_critical_path/kernel.so $build/19_one_stream.so bf16 1,1,256,128
    echo "$output"
    [ "$status" -eq 1 ]
    [[ $output == *"the output is not the solution's" ]]
}

# A tree in which scripts/stamps finds what STEPS=compile has made, a program that knows its cycles, and a GPU.
make_tree() {
    cd "$BATS_TEST_TMPDIR" || return 1
    mkdir -p scripts bin results lessons/20_b build/stamps/{19_a,20_b} solutions/{19_a,20_b}
    cp "$project"/scripts/{stamps,shared.sh} scripts
    cp -R "$project/plots" .
    rm -rf plots/charts
    cp "$project/build/sql_text.so" build/
    touch {solutions,build/stamps}/{19_a,20_b}/{stamps.patch,kernel.so}
    echo 13.0,abc1234 >build/stamps/built
    cat >build/stamps/stamps <<'END'
#!/bin/sh
echo "$*" >>calls
early='early,1 weights,460.4'
case $2 in *19_a*) early='weights,500.5 rounding,99.5' ;; esac
case "$2 ${6-}" in *20_b*causal) exit 1 ;; esac
d=${5##*,}
causal=0
[ "${6-}" != causal ] || causal=1
for segment in turn,100 ask,200 scores,300 vote,150.25 products,50 $early; do
    echo "$4,4,16,4096,4096,$d,$causal,2,128,128,$segment,1000,1.0246"
done
END
    printf '#!/bin/sh\necho "Fake GPU, 1.0"\n' >bin/nvidia-smi
    chmod +x bin/nvidia-smi build/stamps/stamps
    printf 'no marker\n' >README.md
    printf '<!-- results:begin steps -->\n<!-- results:end steps -->\n' >lessons/20_b/README.md
    export PATH="$PWD/bin:$PATH" STEPS=run
}

@test "what a GPU gives is recorded with its kernel's commit, and is a table; what fails is named and left out" {
    make_tree
    plots/tables
    grep -qx 'Not measured yet: `scripts/stamps` measures it, on a GPU.' lessons/20_b/README.md
    run scripts/stamps
    echo "$output"
    [ "$status" -eq 1 ]
    [[ $output == *"scripts/stamps: 20_b at bf16 4,32,4096,64 causal is skipped, status 1"* ]]
    [[ $output == *"scripts/stamps: added to results/fake-gpu/steps.csv" ]]
    rows=results/fake-gpu/steps.csv
    [ "$(grep -c '^run,' $rows)" -eq 1 ]
    [ "$(wc -l <$rows)" -eq 43 ] # seven segments of three shapes, twice, but two of 20_b
    [ "$(awk -F , '{ print NF }' $rows | sort -u)" = 21 ]
    grep -q '^[^,]*,solution-19_a,Fake GPU,1.0,13.0,bf16,4,16,4096,4096,64,0,2,128,128,turn,100,1000,1.0246,20[^,]*Z,abc1234$' $rows
    plots/tables
    cat lessons/20_b/README.md
    page=lessons/20_b/README.md
    grep -qxF '| cycles | D=64, lesson 19 | D=64, lesson 20 | D=128, lesson 19 | D=128, lesson 20 |' $page
    grep -qxF '| warp vote: is rescaling necessary? | 150 | 150 | 150 | 150 |' $page
    grep -qxF '| exponentials before the wait for PV | - | 1 | - | 1 |' $page
    grep -qxF '| rounds the weights to 16 bits | 100 | - | 100 | - |' $page
    grep -qxF '| **iteration of one warpgroup** | 1400 | 1262 | 1400 | 1262 |' $page
    grep -qxF '| from the end of QK^T to the end of the iteration | 800 | 662 | 800 | 662 |' $page
    grep -qxF "| **both GEMMs of all warpgroups**, minimum | 1024 | 1024 | 2048 | 2048 |" $page
    grep -qxF '| without its own QK^T | 768 | 768 | 1536 | 1536 |' $page
    grep -qxF '| slow-down by the time stamps | +2.5 % | +2.5 % | +2.5 % | +2.5 % |' $page
    grep -qxF '| cycles | D=64, lesson 19 | D=128, lesson 19 |' $page # with a mask
    grep -q 'B,H,N,D = 4,16,4096,64 and 4,16,4096,128, no mask. Fake GPU: driver 1.0, CUDA 13.0, 20.*, commit abc1234.$' $page
    plots/tables --check
    # A row that cannot be right.
    sed -i '2s/,turn,/,turns,/' $rows
    run plots/tables
    [ "$status" -eq 2 ]
    [ "$output" = "results/fake-gpu/steps.csv:2: segment is 'turns', not the name of a segment; fix or delete this line [invalid-row]" ]
}

@test "what cannot be measured: one line, status 2" {
    make_tree
    for call in "scripts/stamps 16" "env DEVICE=tpu scripts/stamps" "env STEPS=time scripts/stamps"; do
        run $call
        echo "$output"
        [ "$status" -eq 2 ]
        [ "${#lines[@]}" -eq 1 ]
    done
    run scripts/stamps 16
    [ "$output" = "scripts/stamps: lesson 16 has no stamps.patch; lessons that have one: 19 20 [no-patch]" ]
    [ ! -e calls ]
    rm -r build/stamps/20_b
    run scripts/stamps 20
    [ "$status" -eq 1 ]
    [ "${lines[0]}" = "scripts/stamps: there is no kernel of 20_b: build it with STEPS=compile [no-kernel]" ]
    [ ! -e results/fake-gpu ]
}
