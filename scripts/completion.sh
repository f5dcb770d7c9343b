# . scripts/completion.sh: goals, variables and their values at Tab after make, in this workbook's folder, for bash and zsh.
# Elsewhere make is completed as before.
# shellcheck shell=bash disable=SC2206,SC2207,SC2154

if [ -n "${ZSH_VERSION-}" ]; then
    autoload -Uz compinit bashcompinit
    compinit -u
    bashcompinit
fi

_workbook_make() {
    # bash breaks words at =, so it wants what stands behind; zsh does not, and gives the whole word.
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
        # Without a value in the list none is left, and bash completes the name of a file.
        case $current in *=*) COMPREPLY=(${COMPREPLY[@]#*=}) ;; esac
        # A variable is followed by its value.
        case ${#COMPREPLY[@]}:${COMPREPLY[*]-} in 1:*=) compopt -o nospace ;; esac
    fi
}
complete -o default -o bashdefault -F _workbook_make make
