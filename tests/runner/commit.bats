#!/usr/bin/env bats
# scripts/commit: what is timed is what was built of the commit that the rows name. The compiler is made up.

bats_require_minimum_version 1.5.0

setup() {
    project=$BATS_TEST_DIRNAME/../..
    cd "$BATS_TEST_TMPDIR" || return 1
    mkdir -p scripts kernels results bin
    cp "$project/scripts/commit" "$project/scripts/compile-kernel" scripts/
    echo 'build/' >.gitignore
    echo one >kernels/one.cu
    echo shared >kernels/shared.h
    echo row >results/rows.csv
    # nvcc SOURCE -MMD -MP -MT TARGET -MF DEPENDENCIES -Xptxas -v -o OUTPUT
    cat >bin/nvcc <<'END'
#!/bin/sh
source=$1
while [ "$1" != -MF ]; do shift; done
printf '%s: %s \\\n    kernels/shared.h /usr/include/features.h\n' "$source" "$source" >"$2"
while [ "$1" != -o ]; do shift; done
text=$(cat "$source")
[ -z "${MEANWHILE-}" ] || { sleep 0.02; echo "$MEANWHILE" >>"$source"; }
sleep 0.02
echo "$text" >"$2"
END
    chmod +x bin/nvcc
    git init -q .
    git config user.email somebody@example.com
    git config user.name somebody
    git add . && git commit -q -m first
    hash=$(git rev-parse --short HEAD)
    scripts/compile-kernel build/one.so bin/nvcc kernels/one.cu
}

@test "the commit, and -dirty if a tracked file outside results/ differs" {
    [ "$(scripts/commit build/one.so)" = "$hash" ]
    echo row >>results/rows.csv
    [ "$(scripts/commit build/one.so)" = "$hash" ]
    echo more >>.gitignore
    [ "$(scripts/commit build/one.so)" = "$hash-dirty" ]
}

@test "a source that is not tracked makes it dirty, one from elsewhere does not" {
    echo two >kernels/two.cu
    scripts/compile-kernel build/two.so bin/nvcc kernels/two.cu
    [ "$(scripts/commit build/one.so build/two.so)" = "$hash-dirty" ]
    [ "$(scripts/commit build/one.so)" = "$hash" ]
    mkdir -p "$BATS_FILE_TMPDIR/elsewhere"
    echo mine >"$BATS_FILE_TMPDIR/elsewhere/mine.cu"
    scripts/compile-kernel build/mine.so bin/nvcc "$BATS_FILE_TMPDIR/elsewhere/mine.cu"
    [ "$(scripts/commit build/mine.so)" = "$hash" ]
}

# refused WORDS: one line, exit status 2.
refused() {
    run scripts/commit build/one.so
    echo "$output"
    [ "$status" -eq 2 ]
    [ "${#lines[@]}" -eq 1 ]
    [[ $output == *"$1"* ]]
}

@test "a library is not timed as the commit when a source or a header has changed since it was built" {
    echo changed >>kernels/one.cu
    refused "kernels/one.cu changed after it was compiled"
    # As committed again: it is what was compiled.
    git checkout -q kernels/one.cu
    [ "$(scripts/commit build/one.so)" = "$hash" ]
    # Older or newer does not matter, and what was compiled counts, not what is committed.
    echo changed >>kernels/shared.h
    touch -d 2000-01-01 kernels/shared.h
    refused "kernels/shared.h changed after it was compiled"
    git commit -q -a -m second
    refused "kernels/shared.h changed after it was compiled"
    rm kernels/shared.h
    refused "kernels/shared.h changed after it was compiled"
}

@test "a source that changes while it is compiled is detected" {
    unset KERNEL_CACHE # it has to be compiled, and not known already
    MEANWHILE=late scripts/compile-kernel build/one.so bin/nvcc kernels/one.cu
    refused "changed during its compilation: rerun make"
    # make sees that the source is newer.
    [ kernels/one.cu -nt build/one.so ]
}

@test "without git there is no commit" {
    rm -rf .git
    GIT_CEILING_DIRECTORIES=$BATS_TEST_TMPDIR/.. run scripts/commit build/one.so
    [ "$output" = none ]
}
