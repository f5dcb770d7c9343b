# Lays out horizontal bars, for bars.gp. A chart's program calls
#     add_group(title)                                     a line of text above what follows
#     add_bar(label, value, figure, hue, style, mark)      label stands left of the bar, figure behind it; hue 0 is neutral;
#                                                          style: "solid", or "hollow"; mark: a value to mark, or "-"
#     finish_bars(scale, unit, base, legend)               scale: "linear" or "log"; unit goes to the axis; base: where a
#                                                          logarithmic axis starts at the latest; legend: a text, or ""
# With labels_above set to 1 before, each label stands above its bar.
# Writes out.tsv (rows of bars.gp), out.gp (settings) and, once the program has made its text, nothing else.

BEGIN {
    BAR_PITCH = px(23)
    GROUP_PITCH = px(28)
    GROUP_GAP = px(10)
    RIGHT = width - 10
    y_next = 0
}

function add_group(title) {
    if (y_next > 0)
        y_next += GROUP_GAP
    if (title != "") {
        heads++
        title = folded_title(title, RIGHT - margin)
        head_y[heads] = y_next + GROUP_PITCH / 2
        head_lines[heads] = rows_of(title)
        head_title[heads] = title
        y_next += GROUP_PITCH + px(24) * (head_lines[heads] - 1)
    }
}

# In a narrow chart all titles break behind their colons.
function folded_title(title, room,    i) {
    i = narrow ? index(title, ": ") : 0
    return (i ? substr(title, 1, i) "\n" : "") folded(substr(title, i ? i + 2 : 1), room)
}

function add_bar(label, value, figure, hue, style, mark) {
    bars++
    if (labels_above)
        y_next += px(22)
    bar_y[bars] = y_next + BAR_PITCH / 2
    y_next += BAR_PITCH
    bar_label[bars] = label
    bar_value[bars] = value
    bar_figure[bars] = figure
    bar_hue[bars] = hue
    bar_style[bars] = style
    bar_mark[bars] = mark
    if (text_width(label) > label_width)
        label_width = text_width(label)
    if (bars == 1 || value < least)
        least = value
    if (mark != "-")
        has_marks = 1
}

# Where a value stands on the axis, from 0 at its start; without a unit.
function on_axis(value) {
    return is_log ? log(value / axis_start) : value - axis_start
}

function off_axis(place) {
    return is_log ? axis_start * exp(place) : axis_start + place
}

# The axis is so long that the figure behind the longest bar still fits, behind its mark where that is close.
function finish_bars(scale, unit, base, legend,    i, room, left, plot_width, need, longest, anchor, at) {
    is_log = scale == "log"
    axis_start = !is_log ? 0 : least < base ? least / 1.5 : base
    left = margin + (label_width && !labels_above ? (narrow ? 1.04 : 1.1) * label_width + px(10) : 0)
    plot_width = RIGHT - left
    longest = 0
    for (i = 1; i <= bars; i++) {
        room = text_width(bar_figure[i]) + px(14)
        at = on_axis(bar_value[i])
        if (bar_mark[i] != "-" && on_axis(bar_mark[i]) > at)
            at = on_axis(bar_mark[i])
        need = at / (1 - room / plot_width)
        if (need > longest)
            longest = need
    }
    if (longest <= 0)
        longest = is_log ? log(2) : 1
    set_list("head_y", heads, head_y, 0)
    set_list("head_lines", heads, head_lines, 0)
    set_list("head_title", heads, head_title, 1)
    for (i = 1; i <= bars; i++) {
        anchor = bar_value[i]
        room = (text_width(bar_figure[i]) + px(14)) / plot_width * longest
        if (bar_mark[i] != "-" && on_axis(bar_mark[i]) > on_axis(anchor) - 0.02 * longest &&
            on_axis(bar_mark[i]) < on_axis(anchor) + room)
            anchor = bar_mark[i] > anchor ? bar_mark[i] : anchor
        print bar_y[i], bar_label[i], bar_value[i], bar_figure[i], bar_hue[i], bar_style[i], bar_mark[i], anchor \
            > (out ".tsv")
    }
    set("is_log", is_log + 0)
    set("unit", quoted(unit))
    set("axis_start", sprintf("%.10g", axis_start))
    set("axis_end", sprintf("%.10g", off_axis(longest)))
    set("left", int(left))
    set("right", RIGHT)
    set("plot_height", y_next + px(6))
    set("labels_above", labels_above + 0)
    set("bar_marks", has_marks + 0)
    legend = folded(legend, RIGHT - margin - (has_marks ? px(20) : 0))
    set("legend_lines", legend == "" ? 0 : rows_of(legend))
    set("legend", quoted(legend))
}
