# . scripts/completion.sh: completes goals, variables and values after make, in this workbook's folder, for bash and zsh. In
# other folders the previous completion of make is used.
# shellcheck shell=bash disable=SC2206,SC2207,SC2154

if [ -n "${ZSH_VERSION-}" ]; then
    autoload -Uz compinit bashcompinit
    compinit -u
    bashcompinit
fi

_workbook_make() {
    # bash breaks words at = and expects only the part after it; zsh passes the whole word.
    local current=$2 line
    if [ -n "${BASH_VERSION-}" ]; then
        line=${COMP_LINE:0:$COMP_POINT}
        current=${line##* }
    fi
    if [ ! -e make/words.mk ]; then
        if [ -n "${BASH_VERSION-}" ] && declare -F _make >/dev/null; then _make "$@"; fi
        return
    fi
    COMPREPLY=($(compgen -W "$(command make words 2>/dev/null)" -- "$current"))
    if [ -n "${BASH_VERSION-}" ]; then
        # If the variable has no listed values, bash completes file names.
        case $current in *=*) COMPREPLY=(${COMPREPLY[@]#*=}) ;; esac
        # No space after NAME=, since the value follows.
        case ${#COMPREPLY[@]}:${COMPREPLY[*]-} in 1:*=) compopt -o nospace ;; esac
    fi
}
complete -o default -o bashdefault -F _workbook_make make
