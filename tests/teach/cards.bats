#!/usr/bin/env bats
# The self-checks on the pages, and make flashcards.

load helpers

self_checks() {
    sed -n '/^## Check yourself$/,$p' "$@" | grep -c '^<details>'
}

@test "each page ends with self-checks, and has a speed-up to explain and a kernel to repair" {
    for page in lessons/*/README.md; do
        [ "$(grep '^## ' "$page" | grep -v '^## What is not understood$' | tail -n 1)" = "## Check yourself" ]
        [ "$(self_checks "$page")" -ge 3 ]
        grep -q '^## Explain the speed-up$' "$page"
        grep -q '^## A kernel to repair$' "$page"
        [ "$(grep -c '^<details>' "$page")" -eq "$(grep -c '^</details>' "$page")" ]
        number=${page#lessons/}
        sed -n '/^## A kernel to repair$/,/^## Explain/p' "$page" | grep -q "make lesson-${number%%_*} repair"
    done
}

@test "the self-checks cover the required topics" {
    for topic in "What is a kernel" "write a kernel of one" "launch" "fusing" "arithmetic intensity" "Memory-bound or compute-bound" \
        "not fused memory-bound at long N" "What does tiling change" "Triton and XLA"; do
        sed -n '/^## Check yourself$/,$p' lessons/*/README.md | grep -i -q "<summary>.*$topic"
    done
}

@test "each self-check becomes a card of well-formed HTML, with its question and its answer" {
    run make flashcards
    echo "$output"
    [ "$status" -eq 0 ]
    xmllint --noout build/flashcards.html
    cards=0
    for page in lessons/*/README.md; do
        cards=$((cards + $(self_checks "$page")))
    done
    [ "$(grep -c '^<section>' build/flashcards.html)" -eq "$cards" ]
    [ "$(grep -c 'class="question">[^<]' build/flashcards.html)" -eq "$cards" ]
    [ "$(grep -A 1 'class="answer"' build/flashcards.html | grep -c '^<p>')" -eq "$cards" ]
    ! grep -E '\*\*|`|\]\(' build/flashcards.html
}

@test "each card is printed on a page of its own" {
    browser=$(command -v chromium || command -v google-chrome) || skip "no chromium here"
    make flashcards
    "$browser" --headless --no-sandbox --disable-gpu --no-pdf-header-footer --print-to-pdf="$BATS_TEST_TMPDIR/cards.pdf" \
        "file://$PWD/build/flashcards.html" 2>/dev/null
    # Pages of a PDF are objects of this type; this does not find pages in compressed streams.
    pages=$(grep -a -c '/Type */Page$\|/Type */Page[^s]' "$BATS_TEST_TMPDIR/cards.pdf")
    [ "$pages" -eq "$(grep -c '^<section>' build/flashcards.html)" ]
    # Nothing is cut off on the smallest paper: a script lists the cards that overflow their page.
    { sed '/^<\/body>/,$d' build/flashcards.html
        echo '<script>'
        echo 'const full = [...document.querySelectorAll("section")].filter(s => s.scrollHeight > s.clientHeight);'
        echo 'document.body.textContent = "too full: " + full.map(s => s.textContent).join("; ");'
        echo '</script></body></html>'
    } >build/full.html
    "$browser" --headless --no-sandbox --disable-gpu --window-size=740,525 --dump-dom "file://$PWD/build/full.html" 2>/dev/null |
        tr -d '\n' | grep -q 'too full: *</body>'
}
