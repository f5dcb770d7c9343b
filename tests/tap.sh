# For the shell tests: . tests/tap.sh, from the root of the repository. finish prints the plan last, so that an aborted script is
# detected.
tap_count=0
tap_failed=0
tap_log=$(mktemp)
trap 'rm -f "$tap_log"' EXIT

# ok DESCRIPTION COMMAND...: passes if COMMAND succeeds; otherwise shows its output.
ok() {
    tap_count=$((tap_count + 1))
    tap_description=$1
    shift
    if ("$@") >"$tap_log" 2>&1; then
        echo "ok $tap_count - $tap_description"
    else
        echo "not ok $tap_count - $tap_description"
        sed 's/^/# /' "$tap_log"
        tap_failed=1
    fi
}

# skip DESCRIPTION REASON
skip() {
    tap_count=$((tap_count + 1))
    echo "ok $tap_count - $1 # SKIP $2"
}

finish() {
    echo "1..$tap_count"
    exit "$tap_failed"
}
