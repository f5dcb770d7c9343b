#!/usr/bin/env bats
# The drawings on the lessons' pages: one for wide screens and one for a phone, of the same content. That no text is too small,
# covers another or leaves its drawing is for a browser to say: tests/post/page.bats.

bats_require_minimum_version 1.5.0

setup() {
    cp -R "$BATS_TEST_DIRNAME/../../lessons" "$BATS_TEST_TMPDIR"
    cd "$BATS_TEST_TMPDIR" || return 1
}

# What readers are told: title, description and the words, in whatever order and lines they stand. Stills have the labels that there
# is room for: their title and description.
told() {
    sed -n '/<title/,/<\/desc>/p' "$1"
    ! is_still "$1" || return 0
    sed -n 's/<tspan[^>]*>\|<\/tspan>//g; s/<\/text>/&\n/g; s/[^\n]*<text[^>]*>\([^<]*\)<\/text>\n/\1 /gp' "$1" | tr -s ' ' '\n' | sort -u
}

# A drawing that explorer/stills makes of the recording of a kernel.
is_still() {
    local own
    own=$(basename "$1" .svg)
    grep -q -s "^${own%-phone} " "${1%/*}/stills"
}

# form FILE WIDTH TYPE: as wide as it is to be, its type at least that large and of this size unless said otherwise.
form() {
    head -n 2 "$1" | tr '\n' ' ' | grep -q "<svg [^>]* width=\"$2\" height=\"\([0-9]*\)\" viewBox=\"0 0 $2 \1\" .* font-size=\"$3\"" ||
        echo "$1: not $2 wide with type of $3"
    grep -o 'font-size="[0-9.]*"' "$1" | awk -F '"' -v least="$3" -v file="$1" '$2 < least { print file ": type of " $2 }'
}

# Prints what is wrong with the drawings in lessons/.
wrong() {
    for drawing in lessons/*/*.svg; do
        name=${drawing%.svg}
        page=${drawing%/*}/README.md
        case $name in
        *-phone)
            [ -e "${name%-phone}.svg" ] || echo "$drawing: there is no wide one"
            form "$drawing" 360 13
            continue
            ;;
        esac
        # Of 700 pixels at least 490 are left on a page, of 360 at least 328.
        form "$drawing" 700 16
        [ -e "$name-phone.svg" ] || { echo "$drawing: there is none for a phone" && continue; }
        told "$drawing" >"$BATS_TEST_TMPDIR/wide"
        told "$name-phone.svg" | diff "$BATS_TEST_TMPDIR/wide" - || echo "$drawing: the one for a phone tells something else"
        title=$(sed -n 's/.*<title id="title">\(.*\)<\/title>/\1/p' "$drawing")
        grep -F -A 2 "srcset=\"${name##*/}-phone.svg\"" "$page" | tr -s ' \n' ' ' | grep -q -F -x -e \
            " <source media=\"(max-width: 540px)\" srcset=\"${name##*/}-phone.svg\"> <img alt=\"$title\" src=\"${name##*/}.svg\" width=\"700\"> </picture> " ||
            echo "$page: does not show ${name##*/}.svg, and ${name##*/}-phone.svg on narrow screens"
    done
}

@test "each drawing has one for a phone that tells the same, and its page shows both" {
    wrong
    [ -z "$(wrong)" ]
    [ "$(ls lessons/*/*-phone.svg | wc -l)" -ge 6 ]
}

@test "what is wrong with drawings is found" {
    rm lessons/01_basic_attention/block-per-query-phone.svg
    sed -i 's/>query</>queries</' lessons/02_vectorized/lanes-per-key.svg
    sed -i '0,/<text /s/<text /<text font-size="12" /' lessons/03_fused_softmax/fused-phone.svg
    sed -i 's/srcset="tiles-phone.svg"/srcset="tiles.svg"/' lessons/04_tiled_online_softmax/README.md
    sed -i 's/src="micro-tile.svg"/src="shares.svg"/' lessons/05_register_tiling/README.md
    sed -i 's/viewBox="0 0 700/viewBox="0 0 800/' lessons/07_even_shares/shares.svg
    run wrong
    echo "$output"
    [ "$(grep -c '^lessons/' <<<"$output")" -eq 6 ]
    for line in "lessons/01_basic_attention/block-per-query.svg: there is none for a phone" \
        "lessons/02_vectorized/lanes-per-key.svg: the one for a phone tells something else" \
        "lessons/03_fused_softmax/fused-phone.svg: type of 12" \
        "lessons/04_tiled_online_softmax/README.md: does not show tiles.svg, and tiles-phone.svg on narrow screens" \
        "lessons/05_register_tiling/README.md: does not show micro-tile.svg, and micro-tile-phone.svg on narrow screens" \
        "lessons/07_even_shares/shares.svg: not 700 wide with type of 16"; do
        grep -q -F -x "$line" <<<"$output"
    done
}
