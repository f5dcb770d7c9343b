# The folders of simulator/ use each other in one direction. tsort, which puts pairs in order, fails where they go in a circle.

# circles: of lines "FOLDER FOLDER", the first of which uses the second, prints the folders that use each other in a circle.
circles() {
    tsort 2>&1 >/dev/null | sed -n 's/^tsort: \([a-z]*\)$/\1/p' | tr '\n' ' '
}

# includes FOLDER: of the folders below it, which one's files include which one's headers
includes() {
    grep -rHoE '^#include "(\.\./)+[a-z_]+/' --include='*.[ch]' "$1" |
        sed -E 's,^.*/([a-z_]+)/(tools/)?[a-z_]+\.[ch]:#include "(\.\./)+([a-z_]+)/,\1 \4,'
}

# calls OBJECT...: the same, by the symbols that objects define and need
calls() {
    nm -A --no-sort "$@" | awk '
        { file = $1; sub(/:.*/, "", file); n = split(file, part, "/"); room = part[n - 1]; name = $NF }
        $(NF - 1) ~ /^[TDBRVC]$/ { where[name] = room }
        $(NF - 1) == "U" { needed[room " " name] }
        END {
            for (pair in needed) {
                split(pair, p, " ")
                if (p[2] in where)
                    print p[1], where[p[2]]
            }
        }'
}

# The objects of the sources that there are now; a build may hold older ones.
objects() {
    for source in simulator/*/*.c; do
        ls "build/objects/${source%.c}".*o
    done
}

setup() {
    cd "$BATS_TEST_DIRNAME/../.." || return
    pairs=$BATS_TEST_TMPDIR/pairs
}

@test "the simulator's folders include each other in one direction" {
    includes simulator >"$pairs"
    grep -q '^execution machine$' "$pairs"
    [ "$(circles <"$pairs")" = "" ]
}

@test "their objects need each other in one direction" {
    read -r _ _ version _ <<<"$(scripts/find-cuda)"
    make "build/simulator/libcudart.so.${version%%.*}"
    # shellcheck disable=SC2046 # words
    calls $(objects) >"$pairs"
    grep -q '^execution instructions$' "$pairs"
    [ "$(circles <"$pairs")" = "" ]
}

@test "what is included and what is called go the same way" {
    # shellcheck disable=SC2046 # words
    { includes simulator; calls $(objects); } >"$pairs"
    [ "$(circles <"$pairs")" = "" ]
}

@test "a header included from below is a circle" {
    mkdir -p "$BATS_TEST_TMPDIR"/{above,below}
    echo '#include "../below/b.h"' >"$BATS_TEST_TMPDIR/above/a.c"
    echo '#include "b.h"' >"$BATS_TEST_TMPDIR/below/b.c"
    [ "$(includes "$BATS_TEST_TMPDIR" | circles)" = "" ]
    echo '#include "../above/a.h"' >"$BATS_TEST_TMPDIR/below/b.h"
    [ "$(includes "$BATS_TEST_TMPDIR" | circles | wc -w)" = 2 ]
}

@test "a function called from below is a circle, whoever declares it" {
    mkdir -p "$BATS_TEST_TMPDIR"/{above,below}
    echo 'int b(void); int a(void) { return 0; } int c(void) { return b(); }' >"$BATS_TEST_TMPDIR/above/a.c"
    echo 'int b(void) { return 0; }' >"$BATS_TEST_TMPDIR/below/b.c"
    compile() {
        for one in above/a below/b; do
            gcc -c -o "$BATS_TEST_TMPDIR/$one.o" "$BATS_TEST_TMPDIR/$one.c" || return
        done
    }
    compile
    [ "$(calls "$BATS_TEST_TMPDIR"/*/*.o | circles)" = "" ]
    echo 'int a(void); int b(void) { return a(); }' >"$BATS_TEST_TMPDIR/below/b.c"
    compile
    [ "$(calls "$BATS_TEST_TMPDIR"/*/*.o | circles | wc -w)" = 2 ]
}
