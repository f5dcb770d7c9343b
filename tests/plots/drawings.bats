#!/usr/bin/env bats
# The drawings on the lessons' pages: one for wide screens and one for phones, with the same content. tests/post/page.bats checks in a
# browser that texts are large enough, do not overlap and stay inside the drawing.

bats_require_minimum_version 1.5.0

setup() {
    cp -R "$BATS_TEST_DIRNAME/../../lessons" "$BATS_TEST_TMPDIR"
    cd "$BATS_TEST_TMPDIR" || return 1
}

# content FILE: title, description and the sorted words of a drawing. Of stills, which show as many labels as fit, only title and
# description.
content() {
    sed -n '/<title/,/<\/desc>/p' "$1"
    ! is_still "$1" || return 0
    sed -n 's/<tspan[^>]*>\|<\/tspan>//g; s/<\/text>/&\n/g; s/[^\n]*<text[^>]*>\([^<]*\)<\/text>\n/\1 /gp' "$1" | tr -s ' ' '\n' | sort -u
}

# True for a drawing that explorer/stills makes from the recording of a kernel.
is_still() {
    local own
    own=$(basename "$1" .svg)
    grep -q -s "^${own%-phone} " "${1%/*}/stills"
}

# form FILE WIDTH TYPE: checks the width, the default font size TYPE, and that no text is smaller.
form() {
    head -n 2 "$1" | tr '\n' ' ' | grep -q "<svg [^>]* width=\"$2\" height=\"\([0-9]*\)\" viewBox=\"0 0 $2 \1\" .* font-size=\"$3\"" ||
        echo "$1: not $2 wide with type of $3"
    grep -o 'font-size="[0-9.]*"' "$1" | awk -F '"' -v least="$3" -v file="$1" '$2 < least { print file ": type of " $2 }'
}

# Prints the errors of the drawings in lessons/.
wrong() {
    for drawing in lessons/*/*.svg; do
        name=${drawing%.svg}
        page=${drawing%/*}/README.md
        case $name in
        *-phone)
            [ -e "${name%-phone}.svg" ] || echo "$drawing: the wide drawing is missing"
            form "$drawing" 360 13
            continue
            ;;
        esac
        # A page shows a drawing of 700 pixels at 490 pixels or more, a drawing of 360 pixels at 328 or more.
        form "$drawing" 700 16
        [ -e "$name-phone.svg" ] || { echo "$drawing: the drawing for phones is missing" && continue; }
        content "$drawing" >"$BATS_TEST_TMPDIR/wide"
        content "$name-phone.svg" | diff "$BATS_TEST_TMPDIR/wide" - || echo "$drawing: the drawing for phones has other content"
        title=$(sed -n 's/.*<title id="title">\(.*\)<\/title>/\1/p' "$drawing")
        grep -F -A 2 "srcset=\"${name##*/}-phone.svg\"" "$page" | tr -s ' \n' ' ' | grep -q -F -x -e \
            " <source media=\"(max-width: 540px)\" srcset=\"${name##*/}-phone.svg\"> <img alt=\"$title\" src=\"${name##*/}.svg\" width=\"700\"> </picture> " ||
            echo "$page: does not show ${name##*/}.svg, and ${name##*/}-phone.svg on narrow screens"
    done
}

@test "each drawing has a version for phones with the same content, and its page shows both" {
    wrong
    [ -z "$(wrong)" ]
    [ "$(ls lessons/*/*-phone.svg | wc -l)" -ge 6 ]
}

@test "errors of drawings are found" {
    rm lessons/01_basic_attention/block-per-query-phone.svg
    sed -i 's/>query</>queries</' lessons/02_vectorized/lanes-per-key.svg
    sed -i '0,/<text /s/<text /<text font-size="12" /' lessons/03_fused_softmax/fused-phone.svg
    sed -i 's/srcset="tiles-phone.svg"/srcset="tiles.svg"/' lessons/04_tiled_online_softmax/README.md
    sed -i 's/src="micro-tile.svg"/src="shares.svg"/' lessons/05_register_tiling/README.md
    sed -i 's/viewBox="0 0 700/viewBox="0 0 800/' lessons/08_even_shares/shares.svg
    run wrong
    echo "$output"
    [ "$(grep -c '^lessons/' <<<"$output")" -eq 6 ]
    for line in "lessons/01_basic_attention/block-per-query.svg: the drawing for phones is missing" \
        "lessons/02_vectorized/lanes-per-key.svg: the drawing for phones has other content" \
        "lessons/03_fused_softmax/fused-phone.svg: type of 12" \
        "lessons/04_tiled_online_softmax/README.md: does not show tiles.svg, and tiles-phone.svg on narrow screens" \
        "lessons/05_register_tiling/README.md: does not show micro-tile.svg, and micro-tile-phone.svg on narrow screens" \
        "lessons/08_even_shares/shares.svg: not 700 wide with type of 16"; do
        grep -q -F -x "$line" <<<"$output"
    done
}
