#!/usr/bin/env bats
# `make ... explore`: its output, and the data in its page. The drawings are tested by tests/explore/browser.py. Works in the checkout
# itself: explore writes only to build/.

load ../long

setup() {
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    # page.bats writes the same pages.
    exec 8>build/.explored && flock 8
    unset DEVICE SHAPE CAUSAL DTYPE DATA KERNEL SEED TIME_LIMIT BESIDE MAKEFLAGS MAKELEVEL
}

# query PAGE EXPRESSION: one value out of a page's data, by sqlite3's JSON.
query() {
    sed -n '/^<script type="application\/json" id="recording">$/,/^<\/script>$/p' "$1" | sed '1d;$d' >"$BATS_TEST_TMPDIR/data.json"
    sqlite3 :memory: "select $2 from (select readfile('$BATS_TEST_TMPDIR/data.json') as data)"
}

# of RUN PATH: the SQL expression for a value of a run
of() { echo "json_extract(data, '\$.runs[$1].$2')"; }

# broken NAME PATCH: creates build/explore/test/NAME.cu from the solution that PATCH applies to.
broken() {
    solution=$(sed -n 's,^+++ b/,,p' "$2")
    rm -rf "build/explore/test/$1"
    mkdir -p "build/explore/test/$1/$(dirname "$solution")"
    cp "$solution" "build/explore/test/$1/$solution"
    git apply --directory="build/explore/test/$1" "$2"
    mv "build/explore/test/$1/$solution" "build/explore/test/$1.cu"
}

@test "the page of a solution, side by side with another one" {
    run make solution-02 explore BESIDE=solution-01 SHAPE=1,2,40,32 SEED=7
    echo "$output"
    [ "$status" -eq 0 ]
    page=build/explore/solution-02_vectorized-attention.html
    [[ ${lines[-1]} == "$page ("*" KiB)" ]]
    [ "$(grep -c '^@[a-z]*@$' $page)" -eq 0 ]
    [ "$(query $page "$(of 0 name) || ' ' || $(of 1 name)")" = "solution-02_vectorized solution-01_basic_attention" ]
    [ "$(query $page "$(of 0 shape.text) || ' ' || $(of 0 seed) || ' ' || $(of 0 status)")" = "1,2,40,32 7 right" ]
    [ "$(query $page "$(of 0 kernels[0].name) || ' ' || $(of 0 kernels[0].blocks)")" = "attention_kernel 80" ]
    [ "$(query $page "$(of 0 kernels[0].sampled.blocks)")" = "[0,79]" ]
    [ "$(query $page "json_extract(data, '\$.sources[0].name')")" = solutions/02_vectorized/attention.cu ]
    # q is read in full, once by each query's block: 32 floats in four sectors.
    sites="json_each($(of 0 kernels[0].sites)) where json_extract(value, '\$.ptx') like 'ld.global.v4.u32%'"
    [ "$(query $page "(select json_extract(value, '\$.counts.sectors') from $sites)")" = 320 ]
    [ "$(query $page "(select json_extract(data, '\$.runs[0].tensors[' || json_extract(value, '\$.samples[0][5]') || '].name')
        from $sites)")" = q ]
}

@test "the counts equal those of trace" {
    make solution-02 explore SHAPE=1,1,64,64
    # By a name of its own: other tests trace the solution, too.
    build/bin/teach trace --name explored --source solutions/02_vectorized/attention.cu \
        --kernel build/kernels/solutions/02_vectorized/attention.so --shape 1,1,64,64 >/dev/null
    page=build/explore/solution-02_vectorized-attention.html
    for quantity in requests sectors wavefronts; do
        traced=$(sqlite3 -cmd '.mode csv' -cmd '.import build/trace/explored-attention.csv t' :memory: \
            "select sum($quantity) from t")
        [ "$(query $page "(select sum(json_extract(value, '\$.counts.$quantity')) from json_each($(of 0 kernels[0].sites)))")" = "$traced" ]
    done
}

@test "arrays in shared memory: static arrays, and members of a structure in dynamic shared memory" {
    shared="$(of 0 kernels[0].shared)"
    array() { query "$1" "(select json_extract(value, '\$.element') || json_extract(value, '\$.dims') || json_extract(value, '\$.offset')
        from json_each($shared) where json_extract(value, '\$.name') = '$2')"; }
    make solution-03 explore SHAPE=1,1,8,32
    page=build/explore/solution-03_fused_softmax-attention.html
    [ "$(array $page max_smem)" = "float[4,8]4096" ]
    [[ $(array $page Q_smem) == "float4["* ]]
    # Of the five sizes of tile that which this head_dim takes.
    make solution-04 explore SHAPE=1,1,8,32
    page=build/explore/solution-04_tiled_online_softmax-attention.html
    [ "$(array $page K)" = "float[32,36]4096" ]
    [ "$(array $page P)" = "float[4,8,32]12800" ]
    # The tiles of both types are equally large: the kernel's name tells which it is.
    for type in bf16:__nv_bfloat16 fp16:__half; do
        make solution-09 explore SHAPE=1,1,8,64 DTYPE=${type%%:*}
        page=build/explore/solution-09_tensor_cores-attention.html
        [ "$(array $page K)" = "${type#*:}[1,64,72]18432" ]
        [ "$(query $page "$(of 0 shape.dtype)")" = "${type%%:*}" ]
    done
}

@test "a race in a source with Latin-1 and HTML text: the page has the finding, and the source as text" {
    long
    mkdir -p build/explore/test
    broken race tests/broken/02-barrier-missing-after-query.patch
    printf '// caf\xe9 </script><script>alert(1)</script> <!--\n' >>build/explore/test/race.cu
    run make explore KERNEL=build/explore/test/race.cu SHAPE=1,1,64,32
    echo "$output"
    [ "$status" -eq 2 ]
    [[ $output == *kernel-race.cu*"[check-failed]"* ]]
    page=build/explore/kernel-race.cu-race.html
    [ "$(grep -c 'alert(1)' $page)" -eq 1 ]
    [ "$(grep -c '</script><script>alert' $page)" -eq 0 ]
    [ "$(query $page "$(of 0 status) || ' ' || $(of 0 shape.text)")" = "wrong 1,1,64,32" ]
    [ "$(query $page "json_extract(data, '\$.sources[0].encoding')")" = latin-1 ]
    [[ $(query $page "json_extract(data, '\$.sources[0].text')") == *"// café </script><script>alert(1)</script> <!--" ]]
    [[ $(query $page "$(of 0 findings[0].text)") == "race: race.cu:"* ]]
    # The first access is the second warp's, the other one that of the warp which stores the query: they touch the same bytes.
    [ "$(query $page "$(of 0 findings[0].here.warp) || ' ' || $(of 0 findings[0].there.warp)")" = "1 0" ]
    access() {
        site="$(of 0 kernels[0].sites)"
        query $page "json_extract($site, '\$[' || $(of 0 findings[0].$1.site) || '].samples[' || $(of 0 findings[0].$1.sample) || '][$2]')"
    }
    [ "$(access here 1) $(access there 1)" = "1 0" ]
    [ "$(access here 6)" = "[0,16,8,0,16,8,0,16,8,0,16,8]" ]
    [ "$(access there 6)" = "[0,16,8]" ]
}

@test "the page of a kernel that fails shows the run up to the failure" {
    mkdir -p build/explore/test
    broken endless tests/broken/01-reads-past-the-end.patch
    run make explore KERNEL=build/explore/test/endless.cu SHAPE=1,1,64,33 BESIDE=none
    [ "$status" -eq 2 ]
    page=build/explore/kernel-endless.cu-endless.html
    [ "$(query $page "$(of 0 status) || ' ' || $(of 0 kernels[0].complete)")" = "failed 0" ]
    [[ $(query $page "$(of 0 findings[0].text)") == "out of bounds: "* ]]
    [ "$(query $page "json_array_length($(of 0 kernels[0].steps))")" -gt 0 ]
}

@test "the page of a kernel without a recording reports that" {
    run make solution-01 explore SHAPE=1,1,512:600,64 TIME_LIMIT=1
    [ "$status" -eq 2 ]
    page=build/explore/solution-01_basic_attention-attention.html
    [ "$(query $page "$(of 0 status) || ' ' || json_array_length($(of 0 kernels)) || ' ' || $(of 0 shape.text)")" = "failed 0 1,1,512:600,64" ]
    [[ $(query $page "$(of 0 notes[0])") == "Nothing was recorded"* ]]
    [[ $(query $page "$(of 0 log[1])") == *"took more than 1 s,"*"and was stopped"* ]]
}

@test "a kernel without a counterpart is shown alone" {
    run make solution-03 explore SHAPE=16,256 BESIDE=solution-02
    echo "$output"
    [[ $output == *"solution-02_vectorized has no softmax.cu"* ]]
    [[ $output == *"build/explore/solution-03_fused_softmax-softmax.html ("* ]]
}

@test "bad input is a one-line error" {
    for words in "explore" "solution-02 explore BESIDE=lesson-77" "solution-02 check BESIDE=none" "lesson-77 explore" \
        "solution-02 explore SHAPE=x" "solution-02 explore DEVICE=gpu" "solution-02 explore DTYPE=fp16" \
        "explore KERNEL=no/such/file.cu"; do
        # shellcheck disable=SC2086 # words
        run make $words
        echo "$words: $output"
        [ "$status" -eq 2 ]
        [ "$(grep -c -v '^make: \*\*\* \[' <<<"$output")" -eq 1 ]
    done
}

@test "an existing page stays if a new one cannot be written" {
    make solution-02 explore SHAPE=1,1,8,8
    top=$BATS_TEST_TMPDIR/top
    mkdir -p "$top/build/explore"
    ln -s "$PWD"/build/{bin,simulator,kernels} "$top/build/"
    echo old >"$top/build/explore/x-a.html"
    cd "$top"
    # There is no explorer/ here, from which pages are made.
    run build/bin/teach explore --name x --source a.cu --kernel build/kernels/solutions/02_vectorized/attention.so --shape 1,1,8,8
    echo "$output"
    [ "$status" -eq 1 ]
    [ "$output" = "error: explorer/page.html is missing; restore it with: git checkout explorer [missing-file]" ]
    [ "$(cat build/explore/*html*)" = old ]
}

@test "an unwritable build/explore is a one-line error" {
    top=$BATS_TEST_TMPDIR/readonly
    mkdir -p "$top/build"
    touch "$top/build/explore"
    cd "$top"
    run "$BATS_TEST_DIRNAME/../../build/bin/teach" explore --name x --source a.cu --kernel a.so
    [ "$status" -eq 2 ]
    [ "${#lines[@]}" -eq 1 ]
    [[ $output == "error: build/explore cannot be written [cannot-write]" ]]
}

@test "a copied checkout, and one that is renamed: the page names its own sources and has counts at their lines" {
    make solution-02 build/kernels/solutions/02_vectorized/attention.so build/harness >/dev/null
    mkdir "$BATS_TEST_TMPDIR/copied folder"
    tar -c --exclude=./.git --exclude='./build/[!bfkors]*' . | tar -x -C "$BATS_TEST_TMPDIR/copied folder"
    for folder in "copied folder" renamed; do
        [ -d "$BATS_TEST_TMPDIR/$folder" ] || mv "$BATS_TEST_TMPDIR/copied folder" "$BATS_TEST_TMPDIR/$folder"
        cd "$BATS_TEST_TMPDIR/$folder"
        # Another text at the same lines shows whose source it is.
        sed -i "1s|.*|// $folder|" solutions/02_vectorized/attention.cu
        touch -d '2020-01-01' solutions/02_vectorized/attention.cu
        run make solution-02 explore SHAPE=1,1,8,32
        [ "$status" -eq 0 ]
        [[ $output != *nvcc* ]]
        page=build/explore/solution-02_vectorized-attention.html
        [ "$(query $page "json_extract(data, '\$.sources[0].name')")" = solutions/02_vectorized/attention.cu ]
        [[ $(query $page "json_extract(data, '\$.sources[0].text')") == "// $folder"* ]]
        # Places in the kernel's own file that count something.
        [ "$(query $page "(select count(*) from json_each($(of 0 places)) where json_extract(value, '\$[0]') = 0)")" -gt 20 ]
        cd - >/dev/null
    done
}
