# . scripts/shared.sh: what scripts share, from the top of the repository.
# shellcheck shell=sh

# fail MESSAGE [STATUS]: says in which script what is wrong, and ends; status 2 is bad input.
fail() {
    echo "$(echo "$0" | grep -o '[^/]*/[^/]*$'): $1" >&2
    exit "${2:-2}"
}
# check_or_write [WORD]: of a script that writes pages.
check_or_write() {
    case ${1-} in --check | '') ;; *) fail "there is no option $1; the only one is --check" ;; esac
}
# scratch [FILE...]: a folder $work, which goes at the end, whatever that is, with the files, of which the shell makes names then.
scratch() {
    work=$(mktemp -d)
    rubbish=$*
    # shellcheck disable=SC2086 # names
    trap 'rm -rf "$work" $rubbish' EXIT
}
trap 'exit 130' INT TERM HUP
