#!/usr/bin/env bats
# make update (scripts/update): what the project has published comes in, and nothing of the learner's is lost. The project is made up.

bats_require_minimum_version 1.5.0

file=lessons/01_first/attention.cu

setup() {
    export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
    theirs=$BATS_TEST_TMPDIR/theirs
    git init -q "$theirs"
    mkdir -p "$theirs/lessons/01_first" "$theirs/lessons/02_second" "$theirs/scripts"
    cp "$BATS_TEST_DIRNAME/../../scripts/update" "$theirs/scripts"
    echo skeleton | tee "$theirs/$file" >"$theirs/lessons/02_second/attention.cu"
    echo page >"$theirs/README.md"
    publish one
    git clone -q "$theirs" "$BATS_TEST_TMPDIR/mine"
    cd "$BATS_TEST_TMPDIR/mine"
}

publish() {
    git -C "$theirs" add -A && git -C "$theirs" commit -q -m "$1"
}

@test "unedited files are updated; an edited file is kept, and the new skeleton is written next to it" {
    echo work >>$file
    echo "skeleton 2" | tee "$theirs/$file" >"$theirs/lessons/02_second/attention.cu"
    publish two
    run scripts/update
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output == *"$file: your version is kept; the new skeleton is $file.new"*"Updated to "*two ]]
    [ "$(cat $file)" = "$(printf 'skeleton\nwork')" ]
    [ "$(cat $file.new)" = "skeleton 2" ]
    [ "$(cat lessons/02_second/attention.cu)" = "skeleton 2" ]
    [ ! -e $file.kept ]
    run scripts/update
    [ "$output" = "Already up to date." ]
}

@test "a lesson that the project has moved: the learner's file stays where it was" {
    echo work >>$file
    git -C "$theirs" mv lessons/01_first lessons/03_third
    publish moved
    run scripts/update
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$(tail -n 1 $file)" = work ]
    [ -e lessons/03_third/attention.cu ]
    # And a file of one's own where a new one of the project's comes.
    mkdir lessons/04_fourth "$theirs/lessons/04_fourth"
    echo mine >lessons/04_fourth/attention.cu
    echo theirs >"$theirs/lessons/04_fourth/attention.cu"
    publish fourth
    scripts/update
    [ "$(cat lessons/04_fourth/attention.cu)$(cat lessons/04_fourth/attention.cu.new)" = minetheirs ]
}

@test "other conflicts, own commits, no upstream: one line, and nothing is changed" {
    echo work >>$file
    echo note >>README.md
    echo other >"$theirs/README.md"
    echo "skeleton 2" >"$theirs/$file"
    publish two
    before=$(git rev-parse HEAD; cat README.md $file)
    run scripts/update
    echo "$output"
    [ "$status" -eq 2 ]
    [[ ${#lines[@]} -eq 1 && $output == *"README.md"*"[conflict]"* ]]
    git checkout -q README.md
    git commit -q -a -m mine
    run scripts/update
    [ "$status" -eq 2 ]
    [[ ${#lines[@]} -eq 1 && $output == *"git merge origin/"*"[own-commits]"* ]]
    [ "$(tail -n 1 $file)" = work ]
    git branch -q --unset-upstream
    run scripts/update
    [ "$status" -eq 2 ]
    [[ ${#lines[@]} -eq 1 && $output == *"[no-upstream]"* ]]
}

@test "a folder of another user, or one that is not a clone: one line" {
    GIT_TEST_ASSUME_DIFFERENT_OWNER=1 run scripts/update
    echo "$output"
    [ "$status" -eq 2 ]
    [ "$output" = "update: git refuses this folder because another user owns it: git config --global --add safe.directory '$PWD' [not-owner]" ]
    rm -rf .git
    run scripts/update
    [ "$status" -eq 2 ]
    [ "$output" = "update: this folder is not a git clone, so there is no remote to fetch from [no-clone]" ]
}

@test "git merge fails: the learner's files are unchanged" {
    echo work >>$file
    echo "skeleton 2" >"$theirs/$file"
    publish two
    git fetch -q
    : >.git/index.lock
    run scripts/update
    echo "$output"
    [ "$status" -eq 2 ]
    rm .git/index.lock
    [ "$(tail -n 1 $file)" = work ]
    [ ! -e $file.kept ]
}
