#!/usr/bin/env bats
# The wording of every error of the command line, in one place: messages.tsv has lines  COMMAND<TAB>MESSAGE. All other tests
# match only the code in brackets at the end of a message, names and numbers.

load helpers

@test "each error has exactly the wording in messages.tsv" {
    wrong=0
    while IFS=$'\t' read -r command message; do
        run sh -c "$command"
        printed=$(grep -v -e '^make: \*\*\* \[' -e '^nvcc ' -e '^cc ' <<<"$output" | sed 's/^[^ ]*:[0-9]*: \*\*\* //; s/\.  Stop\.$//')
        [ "$status" -eq 2 ] && [ "$printed" = "$message" ] ||
            { printf '%s: status %d\n  %s\n  instead of\n  %s\n' "$command" "$status" "$printed" "$message" && wrong=1; }
    done <"$BATS_TEST_DIRNAME/messages.tsv"
    [ "$wrong" -eq 0 ]
}

@test "every code of make/ has a golden text, or is tested elsewhere" {
    elsewhere=(no-ncu unsupported-architecture no-compiler)
    for code in $(grep -oh '\[[a-z]*-[a-z-]*\])' make/refuse.mk make/teach.mk make/words.mk make/architecture.mk make/build.mk | tr -d ')' | sort -u); do
        grep -q -F "$code" "$BATS_TEST_DIRNAME/messages.tsv" || [[ " ${elsewhere[*]} " == *" ${code:1:-1} "* ]] || { echo "$code" && false; }
    done
}
