# . scripts/shared.sh: functions shared by scripts that run at the top of the repository.
# shellcheck shell=sh

# fail MESSAGE [STATUS]: prints the script's name and the message, and exits; status 2 is bad input.
fail() {
    echo "$(echo "$0" | grep -o '[^/]*/[^/]*$'): $1" >&2
    exit "${2:-2}"
}
# check_or_write [OPTION]: validates the option of a script that writes pages.
check_or_write() {
    case ${1-} in --check | '') ;; *) fail "unknown option $1; the only option is --check [usage]" ;; esac
}
# scratch [PATTERN...]: creates the folder $work, which is removed at exit together with all files that match the patterns.
scratch() {
    work=$(mktemp -d)
    rubbish=$*
    # shellcheck disable=SC2086 # names
    trap 'rm -rf "$work" $rubbish' EXIT
}
trap 'exit 130' INT TERM HUP
# gpu_folder NAME: the folder of a GPU in results/, nvidia-h200 for NVIDIA H200.
gpu_folder() { printf %s "$1" | tr '[:upper:]' '[:lower:]' | tr -c 'a-z0-9' -; }
