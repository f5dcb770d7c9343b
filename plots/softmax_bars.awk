# The bars of the row softmax, from what softmax.awk selected: awk -f figures.awk -f bars.awk -f softmax_bars.awk SELECTED
#
# Variable: out  writes out.tsv and out.gp, for bars.gp, and out.text, the figures in words; nothing where there is nothing

BEGIN {
    FS = "\t"
}

$1 == "#" {
    next
}

{
    size = $1 " × " $2
    if (size != last) {
        add_group(size)
        text = text (last == "" ? "" : "; ") size ":"
        if ($6 != "-")
            text = text " copy " sprintf("%.0f GB/s", $6) ","
        last = size
        first = 1
    }
    label = $3 == "five" ? "five passes" : $3 == "one" ? "one read, one write" : title_of($3, "peer")
    figure = ($7 == "noisy" ? "~" : "") sprintf("%.0f", $5)
    noisy = noisy || $7 == "noisy"
    add_bar(label, $5, figure, $3 == "five" ? 1 : $3 == "one" ? 2 : 0, $7 == "noisy" ? "hollow" : "solid", $6)
    text = text (first ? " " : ", ") label " " figure " GB/s"
    first = 0
}

END {
    if (!bars)
        exit 0
    legend = has_marks ? "a device-to-device copy of the same run" : ""
    if (noisy)
        legend = legend (legend == "" ? "" : "; ") "~ and hollow: noisy"
    finish_bars("linear", "", 0, legend)
    print text > (out ".text")
}
