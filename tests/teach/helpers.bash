# Like the tests of the interface, in a copy of the project; with what teaches, too.

load ../interface/helpers

setup_file() {
    root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    cd "$root" || return 1
    make build/bin/attention build/bin/teach >/dev/null
    copy_project
    for folder in "$root"/lessons/*/; do
        cp "$folder"hints "$folder"questions "$folder"README.md "$project/lessons/$(basename "$folder")"
    done
    cp -R "$root/tests/teach" "$project/tests"
    rm -rf "$project/results" "$project/.progress"
    mkdir -p "$project/results"
}
