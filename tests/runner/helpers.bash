# For the tests of this folder, whose launcher and runner are in $place/bin.

# Waits until the launcher has started its runner, at most half a minute.
until_running() {
    for _ in $(seq 300); do
        pgrep -f "$place/bin/runner" >/dev/null && return
        sleep 0.1
    done
    return 1
}
