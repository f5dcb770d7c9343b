#!/usr/bin/env bats
# The drawings on the lessons' pages, each readable on a telephone and on a desktop. tests/post/page.bats checks in a browser that texts are
# large enough, do not overlap and stay inside the drawing.

bats_require_minimum_version 1.5.0

setup() {
    cp -R "$BATS_TEST_DIRNAME/../../lessons" "$BATS_TEST_TMPDIR"
    cd "$BATS_TEST_TMPDIR" || return 1
}

# Prints the errors of the drawings in lessons/.
wrong() {
    for drawing in lessons/*/*.svg; do
        file=${drawing##*/}
        # A page shows a drawing of 360 pixels at 328 or more; type of 13 is 11.8 then.
        head -n 2 "$drawing" | tr '\n' ' ' | grep -q '<svg [^>]* width="360" height="\([0-9]*\)" viewBox="0 0 360 \1" .* font-size="13"' ||
            echo "$drawing: not 360 wide with type of 13"
        grep -o 'font-size="[0-9.]*"' "$drawing" | awk -F '"' -v file="$drawing" '$2 < 13 { print file ": type of " $2 }'
        title=$(sed -n 's/.*<title id="title">\(.*\)<\/title>/\1/p' "$drawing")
        sed 's/^ *//' "${drawing%/*}/README.md" | grep -q -F -x "<img alt=\"$title\" src=\"$file\" width=\"440\">" ||
            echo "${drawing%/*}/README.md: does not show $file with its title"
    done
}

@test "each drawing is readable at both widths, and its page shows it with its title" {
    wrong
    [ -z "$(wrong)" ]
    [ "$(ls lessons/*/*.svg | wc -l)" -ge 20 ]
}

@test "errors of drawings are found" {
    sed -i '0,/<text /s/<text /<text font-size="12" /' lessons/03_fused_softmax/fused.svg
    sed -i 's/alt="\(.*\)" src="tiles.svg"/alt="x\1" src="tiles.svg"/' lessons/04_tiled_online_softmax/README.md
    sed -i 's/src="micro-tile.svg"/src="shares.svg"/' lessons/05_register_tiling/README.md
    sed -i 's/viewBox="0 0 360/viewBox="0 0 800/' lessons/08_even_shares/shares.svg
    run wrong
    echo "$output"
    [ "$(grep -c '^lessons/' <<<"$output")" -eq 4 ]
    for line in "lessons/03_fused_softmax/fused.svg: type of 12" \
        "lessons/04_tiled_online_softmax/README.md: does not show tiles.svg with its title" \
        "lessons/05_register_tiling/README.md: does not show micro-tile.svg with its title" \
        "lessons/08_even_shares/shares.svg: not 360 wide with type of 13"; do
        grep -q -F -x "$line" <<<"$output"
    done
}
