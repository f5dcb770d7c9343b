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
    if (title != "")
        add_head(title, GROUP_PITCH, GROUP_PITCH / 2, 0)
}

# A text on lines of its own, the first of them at y below what there is; in a narrow chart it breaks behind its colon.
function add_head(title, pitch, y, is_label,    colon) {
    colon = narrow ? index(title, ": ") : 0
    heads++
    head_title[heads] = (colon ? substr(title, 1, colon) "\n" : "") folded(substr(title, colon ? colon + 2 : 1), RIGHT - margin)
    head_is_label[heads] = is_label
    head_top[heads] = y_next
    head_y[heads] = y_next + y
    y_next += pitch + px(24) * (rows_of(head_title[heads]) - 1)
    head_bottom[heads] = y_next
}

function add_bar(label, value, figure, hue, style, mark) {
    bars++
    if (labels_above) {
        add_head(label, px(27), px(17), 1)
        label = ""
    }
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
    left = margin + (label_width ? (narrow ? 1 : 1.1) * label_width + px(10) : 0)
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
    set_list("head_top", heads, head_top, 0)
    set_list("head_bottom", heads, head_bottom, 0)
    set_list("head_is_label", heads, head_is_label, 0)
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
    set("bar_marks", has_marks + 0)
    legend = folded(legend, RIGHT - margin - (has_marks ? px(20) : 0))
    set("legend_lines", legend == "" ? 0 : rows_of(legend))
    set("legend", quoted(legend))
}
