# The bars of a ladder, from what ladder.awk selected (view=ladder): awk -f figures.awk -f bars.awk -f speedup.awk SELECTED
#
# Variables: chart  "over_first" or "over_previous"
#            out    writes out.tsv and out.gp, for bars.gp, and out.text, the figures in words
# Nothing is written where there is nothing to chart.

BEGIN {
    FS = "\t"
}

$1 == "#" {
    next
}

{
    value = chart == "over_first" ? $8 : $9
    if (value == "-" || $3 ~ /^triton_/)
        next
    if ($3 != last) {
        title = title_of($3, $4)
        add_group(title ($3 in idea && !is_other($4) ? ": " idea[$3] : ""))
        text = text (last == "" ? "" : "; ") title ":"
        last = $3
        first = 1
    }
    figure = ($10 == "noisy" ? "~" : "") times(value)
    noisy = noisy || $10 == "noisy"
    add_bar("D=" $1, value, figure, is_other($4) ? 0 : $1 == 64 ? 1 : 2, $10 == "noisy" ? "hollow" : "solid", "-")
    text = text (first ? " " : ", ") "D=" $1 " " figure
    first = 0
    if (bars == 1 || value > most)
        most = value
}

END {
    if (!bars)
        exit 0
    finish_bars(most / (least < 1 ? least : 1) > 8 ? "log" : "linear", "×", 1, \
        noisy ? "~ and hollow: " noisy_words() : "")
    print text > (out ".text")
}
