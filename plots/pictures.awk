# The charts of a page, used before tables.awk: awk -f pictures.awk -f tables.awk ... part=charts FILE ...
# FILE has a line for each chart that was drawn for pages: the GPU's folder name, the chart's path without .svg, its name, its
# heading, caption and text alternative, tab-separated.

part == "charts" {
    if (!($1 in has_charts))
        charted[++charted_count] = $1
    has_charts[$1] = 1
    chart_path[$1, $3] = $2
    chart_text[$1, $3] = $6
    next
}

function escaped(text) {
    gsub(/&/, "\\&amp;", text)
    gsub(/"/, "\\&quot;", text)
    gsub(/</, "\\&lt;", text)
    return text
}

function show_source(media, file) {
    printf "  <source media=\"%s\" srcset=\"%s.svg\">\n", media, file
}

# A chart, wide or for a phone and light or dark as the reader's screen is, where it was drawn. The first source that
# fits is taken; up to 540 pixels a wide chart's type would be too small.
function show_chart(slug, name,    path) {
    if (!((slug, name) in chart_path))
        return
    path = up chart_path[slug, name]
    print "<picture>"
    show_source("(max-width: 540px) and (prefers-color-scheme: dark)", path "-phone-dark")
    show_source("(max-width: 540px)", path "-phone")
    show_source("(prefers-color-scheme: dark)", path "-dark")
    printf "  <img alt=\"%s\" src=\"%s.svg\" width=\"700\">\n</picture>\n\n", escaped(chart_text[slug, name]), path
}

# README.md shows one, results/MEASURED.md the ladder, the page of the peers the grid of 16 bits, a lesson's page what its bytes
# are about.
function print_charts(    i, j, count, list) {
    count = split(page ~ /^peers\// ? "tflops-bf16-d64 tflops-bf16-d64-causal tflops-bf16-d128 tflops-bf16-d128-causal" : \
        page ~ /^results\// ? "speedup-over-01 tflops-d64 peers roofline-d64" : lesson == "" ? "tflops-d64" : \
        "roofline-d64 roofline-d128 bytes-d64 limits-d64", list, " ")
    for (i = 1; i <= charted_count; i++)
        for (j = 1; j <= count; j++)
            show_chart(charted[i], list[j])
}
