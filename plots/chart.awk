# Turns what ladder.awk or softmax.awk selected into the data of one chart.
#
# Variables: chart  "over_first", "over_previous" (from the ladder), "time", "tflops" (from the sizes; d chooses the head
#                   dimension), "softmax"
#            out    writes out.tsv (data of bars.gp or lines.gp), out.names (the quoted names of the series), out.text
#                   (the figures in words); with "time" and "tflops" also out.peak
# Nothing is written where there is nothing to chart.

BEGIN {
    FS = OFS = "\t"
}

$1 == "#" {
    next
}

# "04_tiled_online_softmax" -> "04 tiled online softmax"; a star marks a solution among a learner's own lessons.
function title_of(folder, row_kind) {
    gsub(/_/, " ", folder)
    return folder (kind == "lesson" && row_kind == "solution" ? "*" : "")
}

# Puts "|" where the name is best broken in two lines; short ones stay as they are.
function broken(name,    i, best, at) {
    if (length(name) <= 14)
        return name
    at = 0
    best = length(name)
    for (i = 4; i < length(name); i++)
        if (substr(name, i, 1) == " " && (i > length(name) / 2 ? i : length(name) - i) < best) {
            best = i > length(name) / 2 ? i : length(name) - i
            at = i
        }
    return at ? substr(name, 1, at - 1) "|" substr(name, at + 1) : name
}

function series_of(name) {
    if (!(name in series)) {
        series[name] = ++series_count
        series_name[series_count] = name
    }
    return series[name]
}

# A bar of the group; the groups keep the order in which they come.
function add_bar(group, name, value, ceiling) {
    if (!(group in bars_in))
        group_name[++groups] = group
    bars_in[group]++
    bar_series[group, bars_in[group]] = name
    bar_value[group, bars_in[group]] = value
    bar_ceiling[group, bars_in[group]] = ceiling
    if (!(name in seen))
        order[++seen_count] = name
    seen[name] = 1
}

chart == "over_first" || chart == "over_previous" {
    value = chart == "over_first" ? $8 : $9
    if (value != "-") {
        add_bar(title_of($3, $4), "D=" $1, value, "-")
    }
    next
}

chart == "softmax" {
    if ($4 != "-")
        add_bar($1 " × " $2, "five passes", $4, $7)
    add_bar($1 " × " $2, "one read, one write", $6, $7)
    next
}

$1 == d {
    number = series_of(title_of($3, $4))
    value = chart == "time" ? $6 / 1000 : $7
    print number, substr($3, 1, 2) + 0, $5, value > (out ".tsv")
    text = text (number in said ? ", " : (text == "" ? "" : "; ") series_name[number] ": ") \
        sprintf(value >= 99.95 ? "%.0f at N=%d" : "%.3g at N=%d", value, $5)
    said[number] = 1
    if ($8 > peak)
        peak = $8
}

function write_bars(    i, j, name, group) {
    for (i = 1; i <= seen_count; i++)
        series_of(order[i])
    for (i = 1; i <= groups; i++) {
        group = group_name[i]
        text = text (i > 1 ? "; " : "") group ":"
        for (j = 1; j <= bars_in[group]; j++) {
            name = bar_series[group, j]
            print i, j, bars_in[group], series[name], bar_value[group, j], broken(group), bar_ceiling[group, j] > (out ".tsv")
            text = text (j > 1 ? ", " : " ") name " " \
                sprintf(chart != "softmax" && bar_value[group, j] < 99.95 ? "%.1f" : "%.0f", bar_value[group, j]) \
                (chart == "softmax" ? " GB/s" : "×")
        }
        if (bar_ceiling[group, 1] != "-")
            text = text sprintf(", copy %.0f GB/s", bar_ceiling[group, 1])
    }
}

END {
    if (groups)
        write_bars()
    if (!series_count)
        exit 0
    names = ""
    for (i = 1; i <= series_count; i++)
        names = names (i > 1 ? " " : "") "'" series_name[i] "'"
    print names > (out ".names")
    print text > (out ".text")
    if (chart == "time" || chart == "tflops")
        print peak + 0 > (out ".peak")
}
