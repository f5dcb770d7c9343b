#!/usr/bin/env bats
# Ablations of lessons' kernels: their patches and the notes on them, scripts/ablations with a compiler, a GPU and a disassembler that
# are made up, the tables, and some ablations on the simulator.

bats_require_minimum_version 1.5.0
load ../long

setup() {
    project=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    fixtures=$BATS_TEST_DIRNAME/fixtures
    solution=solutions/08_even_shares
    export LC_ALL=C
}

# A tree in which scripts/ablations runs: two ablations of lesson 08 and one of a lesson in bf16, make and nvcc that do nothing, a
# bench that knows its times, a trace that knows its counts.
make_tree() {
    cd "$BATS_TEST_TMPDIR" || return 1
    other=solutions/11_other
    mkdir -p "$solution/ablations" "$other/ablations" solutions/09_plain common build/bin build/kernels/{$solution,$other} cuda/bin \
        cuda/include bin results lessons
    make -C "$project" --no-print-directory build/bin/teach
    cp -R "$project/scripts" "$project/plots" .
    cp "$project/build/bin/teach" build/bin/teach.real
    cp "$project/build/sql_text.so" build/
    cat >build/bin/teach <<'END'
#!/bin/sh
[ "$1" = trace ] || exec build/bin/teach.real "$@"
[ ! -e no-trace ] || { echo "no such shape" && exit 2; }
echo "$*" >>traces
name=$(echo "$*" | sed 's/.*--name \([^ ]*\).*/\1/')
requests=40
[ "${name%-solution}" = "$name" ] || requests=7
mkdir -p build/trace
{
    echo grid,shared_bytes,launches,file,space,access,requests,wavefronts
    echo "2x3x1,100,1,\"a, b.cu\",shared,matrix load,$requests,80"
    echo "1x1x1,90,1,\"a, b.cu\",shared,matrix load,2,8"
} >"build/trace/$name-attention.csv"
END
    chmod +x build/bin/teach
    touch cuda/include/cuda_runtime_api.h common/attention.h
    echo x >common/reduce.cuh
    printf 'first\nKernelTraits<64, 4, 8, 8, 64>, KernelTraits<64, 4, 16, 8, 64>\nKernelTraits<128, 8, 8, 8, 64>\nlast\n' >$solution/attention.cu
    cp $solution/attention.cu $other
    printf '# comment\nfp32 1,16,4096,64\nfp32 1,16,4096,128\nfp32 1,1,4096,64\n' >$solution/ablations/shapes
    printf 'bf16 4,16,4096,64\nbf16 4,16,4096,64 causal\n' >$other/ablations/shapes
    printf 'Idea: Its y is z.\nCounter: shared_matrix_load_requests 1,1,256,64\n\n--- a/common/reduce.cuh\n+++ b/common/reduce.cuh\n@@ -1 +1 @@\n-x\n+y\n' \
        >$other/ablations/other.patch
    for name in slow wrong; do
        printf 'Idea: x.\n\n--- a/%s/attention.cu\n+++ b/%s/attention.cu\n@@ -3,2 +3,2 @@\n KernelTraits<128, 8, 8, 8, 64>\n-last\n+%s\n' \
            $solution $solution $name >$solution/ablations/$name.patch
    done
    printf '#!/bin/sh\n' >bin/make
    printf '#!/bin/sh\necho abc1234\n' >scripts/commit
    cat >cuda/bin/nvcc <<'END'
#!/bin/sh
case $1 in --version) echo release 13.0, && exit ;; --list-gpu-code) echo sm_90 && exit ;; esac
for source; do case $source in *.cu) break ;; esac; done
grep -q BROKEN "$source" && echo 'error: broken' >&2 && exit 1
while [ $# -gt 1 ]; do
    [ "$1" != -o ] || cp "$source" "$2"
    [ "$1" != -MF ] || echo "x: $source" >"$2"
    shift
done
cat "$PTXAS" >&2
END
    cat >cuda/bin/cuobjdump <<'END'
#!/bin/sh
cat "$LISTING"
END
    cat >build/bin/attention <<'END'
#!/bin/sh
echo "$*" >>calls
if [ "$1" = check ]; then
    case $* in *ablation-wrong*) echo "wrong" && exit 1 ;; esac
    exit
fi
option() {
    name=$1
    shift
    echo "$*" | sed -n "s/.*--$name \([^ ]*\).*/\1/p"
}
results=$(option results "$@") shape=$(option shape "$@") dtype=$(option dtype "$@")
causal=0
case $* in *--causal*) causal=1 ;; esac
d=${shape##*,} heads=${shape%,*}
n=${heads##*,} heads=${heads%,*}
mkdir -p "$results/fake-gpu"
file=$results/fake-gpu/attention.csv
[ -f "$file" ] || echo run,lesson,device,sm_count,driver,cuda,dtype,B,H,Nq,Nk,D,causal,median_us,min_us,p95_us,repeats,sm_clock_before_mhz,sm_clock_after_mhz,tflops,rel_rms_error,date,commit,cache,noise >"$file"
run=r$(grep -c ^bench calls)
for name in first-of-a-round ablation-solution ablation-slow ablation-other; do
    us=1000
    [ $name != ablation-slow ] || us=1250
    [ $name != ablation-other ] || us=900
    for cache in cold warm; do
        case $* in *"--name $name "*) echo "$run,$name,Fake GPU,2,1.0,13.0,$dtype,$heads,$n,$n,$d,$causal,$us,1,1,9,1500,1490,40.5,1e-7,2026-01-02T03:04:05Z,abc1234,$cache,steady" ;; esac
    done
done >>"$file"
END
    chmod +x bin/make scripts/commit cuda/bin/* build/bin/attention
    for d in 64,4 128,8; do
        tile=KernelTraits$(printf 'ILi%sELi%sELi8ELi8ELi64EE' "${d%,*}" "${d#*,}")
        printf "ptxas info    : Compiling entry function '_Z16attention_kernelI12%sEvPKf' for 'sm_90'\n" "$tile"
        printf '    8 bytes stack frame, %d bytes spill stores, 12 bytes spill loads\n' $((${d%,*} / 64 * 8))
        printf 'ptxas info    : Used %d registers, used 1 barriers\n' $((${d%,*} + 100))
    done >ptxas
    echo "ptxas info    : 0 bytes gmem" >>ptxas
    printf "ptxas info    : Compiling entry function '_Z16attention_kernelI12KernelTraitsI13__nv_bfloat16Li64ELi3EEEv' for 'sm_90'\n" >>ptxas
    printf '    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\nptxas info    : Used 168 registers, used 1 barriers\n' >>ptxas
    for folder in $solution $other; do
        echo solution >build/kernels/$folder/attention.so
        cp ptxas build/kernels/$folder/attention.so.ptxas
    done
    # The count is over loops of 256 multiply-adds and more.
    awk 'BEGIN {
        print "Function : _Z16attention_kernelI12KernelTraitsILi64ELi4ELi8ELi8ELi64EEEvPKf"
        for (i = 0; i < 256; i++)
            printf "  /*%04x*/ FFMA R4, R%d, R1, R6 ; /* 0x0 */\n", 16 * i, i % 4 == 0 ? 2 : 1
        printf "  /*%04x*/ BRA 0x0 ;\n", 16 * i
    }' >listing
    export PATH="$PWD/bin:$PATH" CUDA_HOME="$PWD/cuda" PTXAS="$PWD/ptxas" LISTING="$PWD/listing" JOBS=2
    unset DEVICE WORK
}

# column NAME of the row of ablation $2 at D=$3 in results/fake-gpu/ablations.csv
field() {
    awk -F , -v name="$1" -v ablation="$2" -v d="$3" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $at["ablation"] == ablation && $at["D"] == d && $at["H"] == 16 { print $at[name] }' results/fake-gpu/ablations.csv
}

@test "every patch applies to its solution and says its idea; every lesson from 05 on has some, and shapes to time them at" {
    cd "$project"
    for folder in solutions/0[5-9]_* solutions/[1-9]*; do
        # scripts/ablations times the kernels of one GPU.
        ! grep -q ring_attention "$folder/attention.cu" || continue
        [ "$(ls "$folder"/ablations/*.patch | wc -l)" -ge 1 ]
        grep -q '^[^#]' "$folder/ablations/shapes"
        run grep -vxE '#.*|(fp32|fp16|bf16) [0-9]+,[0-9]+(:[0-9]+)?,[0-9]+(:[0-9]+)?,[0-9]+( causal)?' "$folder/ablations/shapes"
        [ "$status" -eq 1 ]
    done
    for patch in solutions/*/ablations/*.patch; do
        echo "$patch"
        git apply --check "$patch"
        [ "$(sed '/^---/,$d' "$patch" | grep -c '^Idea: .*[^.]\.$')" -eq 1 ]
        counter=$(sed '/^---/,$d' "$patch" | grep '^Counter: ' || :)
        [ -z "$counter" ] || grep -qxE 'Counter: [a-z_]+ [0-9]+,[0-9]+,[0-9]+(:[0-9]+)?,[0-9]+( causal)?' <<<"$counter"
        # Its own lesson's kernel, and headers that it includes.
        run grep -v -e '^+++ b/common/' -e "^+++ b/$(dirname "$(dirname "$patch")")/attention.cu$" <(grep '^+++ ' "$patch")
        [ "$status" -eq 1 ]
    done
}

@test "every ablation of every lesson compiles" {
    long
    cd "$project"
    for folder in solutions/*/ablations; do
        number=${folder#solutions/}
        STEPS=compile DEVICE=sim JOBS=2 WORK=build/tests/ablations run scripts/ablations "${number%%_*}"
        echo "$output"
        [ "$status" -eq 0 ]
    done
}

@test "of lesson 08 every ablation has a prediction and is in the notes, and only they are" {
    cd "$project"
    for patch in $solution/ablations/*.patch; do
        grep -q '^Predicted: ' "$patch"
        basename "$patch" .patch
    done | sort >"$BATS_TEST_TMPDIR/patches"
    sed -n 's/^\*\*\(.*\)\.\*\* .*/\1/p' $solution/NOTES.md | sed '/^[A-Z]/d' | tr -d ' ' | tr , '\n' | sort >"$BATS_TEST_TMPDIR/noted"
    diff "$BATS_TEST_TMPDIR/patches" "$BATS_TEST_TMPDIR/noted"
    [ "$(grep -c . "$BATS_TEST_TMPDIR/patches")" -ge 4 ]
}

@test "bank conflicts: what is kept, what is lost, innermost loops alone" {
    cd "$project"
    run scripts/teach bank-conflicts 4 <"$fixtures/listing.sass"
    [ "$output" = "$(printf '_Z16attention_kernelI12KernelTraitsILi64ELi4ELi8ELi8ELi64EEEvPKf\t8\t0.750')" ]
    run scripts/teach bank-conflicts 4 2 <"$fixtures/listing.sass" # R6, R2 and R4
    [ "${output##*$'\t'}" = 0.125 ]
    run scripts/teach bank-conflicts <"$fixtures/listing.sass"
    [ -z "$output" ]
}

@test "a wrong ablation is named and left out; the others are timed in one run and recorded with what their code is like" {
    make_tree
    run scripts/ablations 08
    echo "$output"
    [ "$status" -eq 1 ]
    [[ $output == *"build/ablations/08/wrong/check [wrong-output]"* ]]
    [ "$(grep -c '^bench' calls)" -eq 3 ]
    run grep '^bench.*ablation-wrong' calls
    [ "$status" -eq 1 ]
    grep -q '^bench .* --name first-of-a-round .*ablation-solution.*ablation-slow.*--commit abc1234$' calls
    [ "$(tail -n +2 results/fake-gpu/ablations.csv | wc -l)" -eq 6 ] # two ablations, three shapes, cold
    [ "$(field registers slow 64) $(field registers slow 128)" = "164 228" ]
    [ "$(field spill_stores slow 64) $(field spill_stores slow 128) $(field spill_loads slow 128)" = "8 16 12" ]
    [ "$(field bank_conflicts slow 64) $(field bank_conflicts slow 128)" = "0.250 -" ]
    [ "$(field median_us slow 64) $(field run slow 64) $(field commit slow 64)" = "1250 r1 abc1234" ]
    [ "$(field lesson slow 64) $(field dtype slow 64) $(field causal slow 64)" = "solution-08_even_shares fp32 0" ]
    scripts/ablations 08 slow
    [ "$(grep -c '^run,' results/fake-gpu/ablations.csv)" -eq 1 ]
    [ "$(tail -n +2 results/fake-gpu/ablations.csv | wc -l)" -eq 12 ]
}

@test "what does not compile or apply is named; without a right solution nothing is timed" {
    make_tree
    sed -i 's/+wrong/+BROKEN/' $solution/ablations/wrong.patch
    sed -i 's/^-last/-gone/' $solution/ablations/slow.patch
    run scripts/ablations 08
    [ "$status" -eq 1 ]
    [[ $output == *"wrong does not compile: see build/ablations/08/wrong/log"* ]]
    [[ $output == *"slow: the patch no longer applies to the solution"* ]]
    [ "$(grep -c ablation-solution calls)" -eq 4 ] # checked once, timed at three shapes
    sed -i 's/ablation-wrong/ablation-solution/' build/bin/attention
    rm -r results calls
    run scripts/ablations 08
    [ "$status" -eq 1 ]
    [[ ${lines[-1]} == "scripts/ablations: the solution "*" [wrong-output]" ]]
    [ ! -e results ]
}

@test "an ablation or device that does not exist: one line, status 2" {
    make_tree
    for call in "scripts/ablations" "scripts/ablations fast" "scripts/ablations 09" "scripts/ablations 13" "scripts/ablations 08 fast" \
        "scripts/ablations 08 --all" "env DEVICE=tpu scripts/ablations 08"; do
        run $call
        [ "$status" -eq 2 ]
        [ "${#lines[@]}" -eq 1 ]
    done
    run scripts/ablations 08 fast
    [[ $output == "scripts/ablations: lesson 08 has no ablation fast; its ablations: slow wrong [no-patch]" ]]
    run scripts/ablations 09
    [[ $output == "scripts/ablations: lesson 09 has no ablations: solutions/09_plain/ablations/shapes is missing [no-patch]" ]]
    run scripts/ablations 13
    [[ $output == "scripts/ablations: there is no lesson 13 [unknown-lesson]" ]]
    run scripts/ablations
    [[ $output == "scripts/ablations: no lesson is given; lessons with ablations are 08 11 [needs-lesson]" ]]
    [ ! -e calls ]
}

@test "the tables of the notes: the newest run with the solution, fastest first, against the solution" {
    make_tree
    scripts/ablations 08 slow
    printf '<!-- results:begin ablations -->\n<!-- results:end ablations -->\n' >$solution/NOTES.md
    printf 'no marker\n' >README.md
    plots/tables
    [ "$(grep '^B,H,N,D' $solution/NOTES.md | xargs)" = "B,H,N,D = 1,16,4096,64: B,H,N,D = 1,16,4096,128: B,H,N,D = 1,1,4096,64:" ]
    grep -qF '| solution | 1000 | 40.5 | - | 164 | 20 | 0.250 |' $solution/NOTES.md
    grep -qF '| [slow](../../solutions/08_even_shares/ablations/slow.patch) | 1250 | 40.5 | +25.0 % | 228 | 28 | - |' $solution/NOTES.md
    grep -q 'Fake GPU: driver 1.0, CUDA 13.0, SM clock 1490 to 1500 MHz, 2026-01-02, commit abc1234' $solution/NOTES.md
    plots/tables --check
    # A newer run without the solution is no run to compare in; one with it is, and is ordered by time.
    sed -n '/^r1,slow,.*,64,1250,/{s/^r1/r9/;s/2026-01-02/2026-01-03/;p}' results/fake-gpu/ablations.csv >newer
    cat newer >>results/fake-gpu/ablations.csv
    plots/tables --check
    sed 's/,slow,/,solution,/;s/,64,1250,/,64,1500,/' newer >>results/fake-gpu/ablations.csv
    plots/tables
    [ "$(grep -A 2 '^|---' $solution/NOTES.md | sed -n 2,3p | cut -d ' ' -f 2,4,8,9)" = "$(printf '[slow](../../solutions/08_even_shares/ablations/slow.patch) 1250 -16.7 %%\nsolution 1500 - |')" ]
    rm -r results/fake-gpu
    plots/tables
    grep -q '^Not measured yet: `scripts/ablations 08`' $solution/NOTES.md
}

@test "a malformed row of ablations: one line, status 2, the notes untouched" {
    make_tree
    scripts/ablations 08 slow
    printf '<!-- results:begin ablations -->\n<!-- results:end ablations -->\n' >$solution/NOTES.md
    for change in 's/,0.250,/,many,/' 's/,1250,/,fast,/' 's/,slow,/,slow one,/'; do
        cp results/fake-gpu/ablations.csv kept
        sed -i "$change" results/fake-gpu/ablations.csv
        run plots/tables
        [ "$status" -eq 2 ]
        [ "${#lines[@]}" -eq 1 ]
        [[ $output == results/fake-gpu/ablations.csv:* ]]
        [ "$(wc -l <$solution/NOTES.md)" -eq 2 ]
        cp kept results/fake-gpu/ablations.csv
    done
}

@test "another lesson: its type, mask and counter are in its rows; its table is on its page" {
    long
    make_tree
    mkdir lessons/11_other
    for page in lessons/11_other/README.md $solution/NOTES.md; do
        printf '<!-- results:begin ablation -->\n<!-- results:end ablation -->\n' >$page
    done
    printf 'no marker\n' >README.md
    plots/tables
    grep -qx 'Not measured yet: `scripts/ablations 11` measures it, on a GPU.' lessons/11_other/README.md
    grep -qx 'Not measured yet: `scripts/ablations 08` measures it, on a GPU.' $solution/NOTES.md
    scripts/ablations 11
    cat results/fake-gpu/ablations.csv traces
    [ "$(cut -d , -f 27- results/fake-gpu/ablations.csv | sort)" = "$(printf '%s\n' lesson,dtype,causal,counter,counted,counted_solution \
        solution-11_other,bf16,{0,1}',-,-,-' solution-11_other,bf16,{0,1},shared_matrix_load_requests,42,9 | sort)" ]
    [ "$(grep -c -- '--dtype bf16 --shape 1,1,256,64$' traces)" -eq 2 ]
    grep -q '^bench .*--dtype bf16 --shape 4,16,4096,64 --causal ' calls
    cmp build/ablations/11/other/reduce.cuh <(echo y)
    cmp build/ablations/11/solution/reduce.cuh <(echo x)
    plots/tables
    cat lessons/11_other/README.md
    grep -qxF '| change | 4,16,4096,64 | 4,16,4096,64 causal | registers at D=64 | counter of the trace |' lessons/11_other/README.md
    grep -qxF '| the solution, us | 1000 | 1000 | 168 |  |' lessons/11_other/README.md
    grep -qxF '| [Its y is z](../../solutions/11_other/ablations/other.patch) | -10.0 % | -10.0 % | 168 | `shared_matrix_load_requests`: 42 instead of 9 |' \
        lessons/11_other/README.md
    grep -q '^Not measured yet: `scripts/ablations 08`' $solution/NOTES.md # another lesson's rows are not its own
    scripts/ablations 08 slow
    [ "$(grep -c 'solution-11_other' results/fake-gpu/ablations.csv)" -eq 4 ]
    plots/tables
    cat $solution/NOTES.md
    grep -qxF '| [x](../../solutions/08_even_shares/ablations/slow.patch) | +25.0 % | +25.0 % | +25.0 % | 228, 28 B spilled |  |' $solution/NOTES.md
    rm $solution/ablations/slow.patch # it is what the solution does now
    plots/tables
    run grep -c '^| ' $solution/NOTES.md
    [ "$output" = 2 ] # the heading and the solution
}

@test "a trace that cannot be counted, a counter that does not move: one line, and the ablation is timed all the same" {
    make_tree
    sed -i 's/_load_requests/_load_wavefronts/' $other/ablations/other.patch
    run scripts/ablations 11
    echo "$output"
    [ "$status" -eq 1 ]
    [[ $output == *"other: shared_matrix_load_wavefronts is 88 "*" [same-count]"* ]]
    [ "$(grep -c ',shared_matrix_load_wavefronts,88,88$' results/fake-gpu/ablations.csv)" -eq 2 ]
    rm -r results/fake-gpu
    touch no-trace
    run scripts/ablations 11
    echo "$output"
    [ "$status" -eq 1 ]
    [[ $output == *"build/ablations/11/other/trace [count-failed]"* ]]
    [ "$(grep -c ',bf16,[01],-,-,-$' results/fake-gpu/ablations.csv)" -eq 4 ]
}

@test "rows from before there were several lessons are lesson 08's, alone and with newer ones behind them" {
    make_tree
    scripts/ablations 08 slow
    cut -d , -f 1-26 results/fake-gpu/ablations.csv >older
    cp older results/fake-gpu/ablations.csv
    printf '<!-- results:begin ablations -->\n<!-- results:end ablations -->\n' >$solution/NOTES.md
    printf 'no marker\n' >README.md
    plots/tables
    grep -qF '| [slow](../../solutions/08_even_shares/ablations/slow.patch) | 1250 | 40.5 | +25.0 % | 228 | 28 | - |' $solution/NOTES.md
    scripts/ablations 11
    plots/tables --check # nothing of it is new
    diff <(cut -d , -f 1-26 results/fake-gpu/ablations.csv | head -n "$(wc -l <older)") older
    [ "$(awk -F , '{ print NF }' results/fake-gpu/ablations.csv | sort -u)" = 32 ]
}

@test "what an ablation counts: an access by its name, blocks, shared memory" {
    cd "$project"
    {
        printf 'grid,shared_bytes,launches,file,space,access,requests,bytes\n2x3x1,100,1,"a, b",shared,load,5,7\n'
        printf '4x1x2,90,1,"a, b",shared,load,6,8\n1x1x1,90,2,"a",global,async copy,6,4\n'
    } >"$BATS_TEST_TMPDIR/trace"
    for pair in shared_load_requests=11 shared_load_bytes=15 global_async_copy_bytes=4 blocks=8 shared_bytes=100 shared_store_bytes=0; do
        [ "$(scripts/teach counter "$BATS_TEST_TMPDIR/trace" ${pair%=*})" = "${pair#*=}" ]
    done
}

@test "ablations of a lesson in fp32 and of one in bf16 are right on the simulator, and move what they say" {
    long
    cd "$project"
    DEVICE=sim JOBS=2 WORK=build/tests/ablations run scripts/ablations 08 one-block-per-work-tile eight-warps-at-64
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output == *"one-block-per-work-tile fp32 128 "* ]]
    [ "$(grep -l 'right' build/tests/ablations/08/*/check | wc -l)" -eq 3 ]
    DEVICE=sim JOBS=2 WORK=build/tests/ablations run scripts/ablations 11 unswizzled
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output == *" shared_matrix_load_wavefronts 40960 5120"* ]]
}
