# The folders of simulator/ depend on each other in one direction. tsort, which orders pairs, fails if they form a cycle.

# cycles: reads lines "FOLDER FOLDER", the first of which depends on the second, and prints the folders that form a cycle.
cycles() {
    tsort 2>&1 >/dev/null | sed -n 's/^tsort: \([a-z]*\)$/\1/p' | tr '\n' ' '
}

# includes FOLDER: prints the pairs of folders below it of which one includes a header of the other
includes() {
    grep -rHoE '^#include "(\.\./)+[a-z_]+/' --include='*.[ch]' "$1" |
        sed -E 's,^.*/([a-z_]+)/(tools/)?[a-z_]+\.[ch]:#include "(\.\./)+([a-z_]+)/,\1 \4,'
}

# calls OBJECT...: prints the same pairs, by the symbols that the objects define and need
calls() {
    nm -A --no-sort "$@" | awk '
        { file = $1; sub(/:.*/, "", file); n = split(file, part, "/"); folder = part[n - 1]; name = $NF }
        $(NF - 1) ~ /^[TDBRVC]$/ { where[name] = folder }
        $(NF - 1) == "U" { needed[folder " " name] }
        END {
            for (pair in needed) {
                split(pair, p, " ")
                if (p[2] in where)
                    print p[1], where[p[2]]
            }
        }'
}

# The objects of the current sources; a build folder may hold older ones.
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
    [ "$(cycles <"$pairs")" = "" ]
}

@test "the folders' objects call each other in one direction" {
    read -r _ _ version _ <<<"$(scripts/find-cuda)"
    make "build/simulator/libcudart.so.${version%%.*}"
    # shellcheck disable=SC2046 # words
    calls $(objects) >"$pairs"
    grep -q '^execution instructions$' "$pairs"
    [ "$(cycles <"$pairs")" = "" ]
}

@test "includes and calls have the same direction" {
    # shellcheck disable=SC2046 # words
    { includes simulator; calls $(objects); } >"$pairs"
    [ "$(cycles <"$pairs")" = "" ]
}

@test "a header that is included from below is a cycle" {
    mkdir -p "$BATS_TEST_TMPDIR"/{above,below}
    echo '#include "../below/b.h"' >"$BATS_TEST_TMPDIR/above/a.c"
    echo '#include "b.h"' >"$BATS_TEST_TMPDIR/below/b.c"
    [ "$(includes "$BATS_TEST_TMPDIR" | cycles)" = "" ]
    echo '#include "../above/a.h"' >"$BATS_TEST_TMPDIR/below/b.h"
    [ "$(includes "$BATS_TEST_TMPDIR" | cycles | wc -w)" = 2 ]
}

@test "a function that is called from below is a cycle, even without an include" {
    mkdir -p "$BATS_TEST_TMPDIR"/{above,below}
    echo 'int b(void); int a(void) { return 0; } int c(void) { return b(); }' >"$BATS_TEST_TMPDIR/above/a.c"
    echo 'int b(void) { return 0; }' >"$BATS_TEST_TMPDIR/below/b.c"
    compile() {
        for one in above/a below/b; do
            gcc -c -o "$BATS_TEST_TMPDIR/$one.o" "$BATS_TEST_TMPDIR/$one.c" || return
        done
    }
    compile
    [ "$(calls "$BATS_TEST_TMPDIR"/*/*.o | cycles)" = "" ]
    echo 'int a(void); int b(void) { return a(); }' >"$BATS_TEST_TMPDIR/below/b.c"
    compile
    [ "$(calls "$BATS_TEST_TMPDIR"/*/*.o | cycles | wc -w)" = 2 ]
}
