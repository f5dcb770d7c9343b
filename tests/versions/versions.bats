#!/usr/bin/env bats
# The versions of lesson 07's kernel: their patches and the notes on them, scripts/versions with a compiler, a GPU and a
# disassembler that are made up, the tables, and two versions on the simulator.

bats_require_minimum_version 1.5.0

setup() {
    project=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    fixtures=$BATS_TEST_DIRNAME/fixtures
    solution=solutions/07_even_shares
    export LC_ALL=C
}

# A tree in which scripts/versions runs: two versions, make and nvcc that do nothing, a bench that knows its times.
make_tree() {
    cd "$BATS_TEST_TMPDIR" || return 1
    mkdir -p "$solution/versions" common build/bin build/kernels/$solution cuda/bin cuda/include bin results lessons
    make -C "$project" --no-print-directory build/bin/teach
    cp -R "$project/scripts" "$project/plots" .
    cp "$project/build/bin/teach" build/bin/
    touch cuda/include/cuda_runtime_api.h common/{attention.h,reduce.cuh}
    printf 'first\nTile<64, 4, 8, 8, 64>, Tile<64, 4, 16, 8, 64>\nTile<128, 8, 8, 8, 64>\nlast\n' >$solution/attention.cu
    for name in slow wrong; do
        printf 'Idea: x\n\n--- a/%s/attention.cu\n+++ b/%s/attention.cu\n@@ -3,2 +3,2 @@\n Tile<128, 8, 8, 8, 64>\n-last\n+%s\n' \
            $solution $solution $name >$solution/versions/$name.patch
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
    case $* in *version-wrong*) echo "wrong" && exit 1 ;; esac
    exit
fi
results=$(echo "$*" | sed 's/.*--results \([^ ]*\).*/\1/')
mkdir -p "$results/fake-gpu"
file=$results/fake-gpu/attention.csv
[ -f "$file" ] || echo run,lesson,device,sm_count,driver,cuda,B,H,Nq,Nk,D,median_us,min_us,p95_us,repeats,sm_clock_before_mhz,sm_clock_after_mhz,tflops,rel_rms_error,date,commit,cache,noise >"$file"
case $* in *--shape*) run=r2 shapes=1,4096,4096,64 ;; *) run=r1 shapes='16,4096,4096,64 16,4096,4096,128' ;; esac
for shape in $shapes; do
    for name in first-of-a-round version-solution version-slow; do
        us=1000
        [ $name != version-slow ] || us=1250
        for cache in cold warm; do
            case $* in *"--name $name "*) echo "$run,$name,Fake GPU,2,1.0,13.0,1,$shape,$us,1,1,9,1500,1490,40.5,1e-7,2026-01-02T03:04:05Z,abc1234,$cache,steady" ;; esac
        done
    done
done >>"$file"
END
    chmod +x bin/make scripts/commit cuda/bin/* build/bin/attention
    for d in 64,4 128,8; do
        tile=Tile$(printf 'ILi%sELi%sELi8ELi8ELi64EE' "${d%,*}" "${d#*,}")
        printf "ptxas info    : Compiling entry function '_Z16attention_kernelI4%sEvPKf' for 'sm_90'\n" "$tile"
        printf '    8 bytes stack frame, %d bytes spill stores, 12 bytes spill loads\n' $((${d%,*} / 64 * 8))
        printf 'ptxas info    : Used %d registers, used 1 barriers\n' $((${d%,*} + 100))
    done >ptxas
    echo "ptxas info    : 0 bytes gmem" >>ptxas
    echo solution >build/kernels/$solution/attention.so
    cp ptxas build/kernels/$solution/attention.so.ptxas
    # The count is over loops of 256 multiply-adds and more.
    awk 'BEGIN {
        print "Function : _Z16attention_kernelI4TileILi64ELi4ELi8ELi8ELi64EEEvPKf"
        for (i = 0; i < 256; i++)
            printf "  /*%04x*/ FFMA R4, R%d, R1, R6 ; /* 0x0 */\n", 16 * i, i % 4 == 0 ? 2 : 1
        printf "  /*%04x*/ BRA 0x0 ;\n", 16 * i
    }' >listing
    export PATH="$PWD/bin:$PATH" CUDA_HOME="$PWD/cuda" PTXAS="$PWD/ptxas" LISTING="$PWD/listing" JOBS=2
    unset DEVICE WORK
}

# column NAME of the row of version $2 at D=$3 in results/fake-gpu/versions.csv
field() {
    awk -F , -v name="$1" -v version="$2" -v d="$3" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $at["version"] == version && $at["D"] == d && $at["H"] == 16 { print $at[name] }' results/fake-gpu/versions.csv
}

@test "every patch applies to the solution, says its idea and the prediction, and is in the notes, and only they are" {
    cd "$project"
    for patch in $solution/versions/*.patch; do
        git apply --check "$patch"
        grep -q '^Idea: ' "$patch"
        grep -q '^Predicted: ' "$patch"
        basename "$patch" .patch
    done | sort >"$BATS_TEST_TMPDIR/patches"
    sed -n 's/^\*\*\(.*\)\.\*\* .*/\1/p' $solution/NOTES.md | sed '/^[A-Z]/d' | tr -d ' ' | tr , '\n' | sort >"$BATS_TEST_TMPDIR/noted"
    diff "$BATS_TEST_TMPDIR/patches" "$BATS_TEST_TMPDIR/noted"
    [ "$(grep -c . "$BATS_TEST_TMPDIR/patches")" -ge 10 ]
}

@test "bank conflicts: what is kept, what is lost, innermost loops alone" {
    cd "$project"
    run scripts/teach bank-conflicts 4 <"$fixtures/listing.sass"
    [ "$output" = "$(printf '_Z16attention_kernelI4TileILi64ELi4ELi8ELi8ELi64EEEvPKf\t8\t0.750')" ]
    run scripts/teach bank-conflicts 4 2 <"$fixtures/listing.sass" # R6, R2 and R4
    [ "${output##*$'\t'}" = 0.125 ]
    run scripts/teach bank-conflicts <"$fixtures/listing.sass"
    [ -z "$output" ]
}

@test "a wrong version is named and left out; the others are timed in one run and recorded with what their code is like" {
    make_tree
    run scripts/versions
    echo "$output"
    [ "$status" -eq 1 ]
    [[ $output == *"wrong is not right and is left out: see build/versions/wrong/check"* ]]
    [ "$(grep -c '^bench' calls)" -eq 2 ]
    run grep '^bench.*version-wrong' calls
    [ "$status" -eq 1 ]
    grep -q '^bench .* --name first-of-a-round .*version-solution.*version-slow.*--commit abc1234$' calls
    [ "$(tail -n +2 results/fake-gpu/versions.csv | wc -l)" -eq 6 ] # two versions, three shapes, cold
    [ "$(field registers slow 64) $(field registers slow 128)" = "164 228" ]
    [ "$(field spill_stores slow 64) $(field spill_stores slow 128) $(field spill_loads slow 128)" = "8 16 12" ]
    [ "$(field bank_conflicts slow 64) $(field bank_conflicts slow 128)" = "0.250 -" ]
    [ "$(field median_us slow 64) $(field run slow 64) $(field commit slow 64)" = "1250 r1 abc1234" ]
    scripts/versions slow
    [ "$(grep -c '^run,' results/fake-gpu/versions.csv)" -eq 1 ]
    [ "$(tail -n +2 results/fake-gpu/versions.csv | wc -l)" -eq 12 ]
}

@test "what does not compile or apply is named; without a right solution nothing is timed" {
    make_tree
    sed -i 's/+wrong/+BROKEN/' $solution/versions/wrong.patch
    sed -i 's/^-last/-gone/' $solution/versions/slow.patch
    run scripts/versions
    [ "$status" -eq 1 ]
    [[ $output == *"wrong does not compile: see build/versions/wrong/log"* ]]
    [[ $output == *"slow: the patch no longer applies to the solution"* ]]
    [ "$(grep -c version-solution calls)" -eq 3 ] # checked once, timed twice
    sed -i 's/version-wrong/version-solution/' build/bin/attention
    rm -r results calls
    run scripts/versions
    [ "$status" -eq 1 ]
    [[ ${lines[-1]} == "scripts/versions: the solution itself is not right; nothing is timed" ]]
    [ ! -e results ]
}

@test "a version or device that does not exist: one line, status 2" {
    make_tree
    for call in "scripts/versions fast" "scripts/versions --all" "env DEVICE=tpu scripts/versions"; do
        run $call
        [ "$status" -eq 2 ]
        [ "${#lines[@]}" -eq 1 ]
    done
    run scripts/versions fast
    [[ $output == "scripts/versions: there is no version fast; there are slow wrong" ]]
    [ ! -e calls ]
}

@test "the tables of the notes: the newest run with the solution, fastest first, against the solution" {
    make_tree
    scripts/versions slow
    printf '<!-- results:begin versions -->\n<!-- results:end versions -->\n' >$solution/NOTES.md
    printf 'no marker\n' >README.md
    plots/tables
    [ "$(grep '^B,H,N,D' $solution/NOTES.md | xargs)" = "B,H,N,D = 1,16,4096,64: B,H,N,D = 1,16,4096,128: B,H,N,D = 1,1,4096,64:" ]
    grep -qF '| solution | 1000 | 40.5 | - | 164 | 20 | 0.250 |' $solution/NOTES.md
    grep -qF '| [slow](versions/slow.patch) | 1250 | 40.5 | +25.0 % | 228 | 28 | - |' $solution/NOTES.md
    grep -q 'Fake GPU: driver 1.0, CUDA 13.0, SM clock 1490 to 1500 MHz, 2026-01-02, commit abc1234' $solution/NOTES.md
    plots/tables --check
    # A newer run without the solution is no run to compare in; one with it is, and is ordered by time.
    sed -n '/^r1,slow,.*,64,1250,/{s/^r1/r3/;s/2026-01-02/2026-01-03/;p}' results/fake-gpu/versions.csv >newer
    cat newer >>results/fake-gpu/versions.csv
    plots/tables --check
    sed 's/,slow,/,solution,/;s/,64,1250,/,64,1500,/' newer >>results/fake-gpu/versions.csv
    plots/tables
    [ "$(grep -A 2 '^|---' $solution/NOTES.md | sed -n 2,3p | cut -d ' ' -f 2,4,8,9)" = "$(printf '[slow](versions/slow.patch) 1250 -16.7 %%\nsolution 1500 - |')" ]
    rm -r results/fake-gpu
    plots/tables
    grep -q '^Not measured yet: `scripts/versions`' $solution/NOTES.md
}

@test "a malformed row of versions: one line, status 2, the notes untouched" {
    make_tree
    scripts/versions slow
    printf '<!-- results:begin versions -->\n<!-- results:end versions -->\n' >$solution/NOTES.md
    for change in 's/,0.250,/,many,/' 's/,1250,/,fast,/' 's/,slow,/,slow one,/'; do
        cp results/fake-gpu/versions.csv kept
        sed -i "$change" results/fake-gpu/versions.csv
        run plots/tables
        [ "$status" -eq 2 ]
        [ "${#lines[@]}" -eq 1 ]
        [[ $output == results/fake-gpu/versions.csv:* ]]
        [ "$(wc -l <$solution/NOTES.md)" -eq 2 ]
        cp kept results/fake-gpu/versions.csv
    done
}

@test "two versions are right on the simulator" {
    [ "${TEST_ALL-}" ] || skip "make test-all compiles and checks them"
    cd "$project"
    DEVICE=sim JOBS=2 WORK=build/tests/versions run scripts/versions whole-items sums-in-memory
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output == *"whole-items 128 "* ]]
    [ "$(grep -l 'right' build/tests/versions/*/check | wc -l)" -eq 3 ]
}
