# Horizontal bars with their figures, as bars.awk has laid them out: gnuplot SETTINGS bars.gp
# Rows of `data`, tab-separated, y in pixels from the top of the plot:
#     y  label  value  figure  hue (0: neutral)  solid or hollow  mark (or -)  where the figure stands
# Settings beside those of style.gp: data, is_log, unit, axis_start, axis_end, legend (a text of legend_lines, or none),
# bar_marks (1: marks are drawn, and explained in the legend); of the texts between the bars head_y, head_y_count, head_top,
# head_bottom, head_title, head_is_label (1: of one bar).

legend_height = line_height * legend_lines
axis_height = px(34)
load style

set yrange [plot_height : 0]
unset ytics
set border 0
unset grid
if (is_log) {
    set logscale x 10
    decade = (right - left) / log10(axis_end / axis_start)
    every = decade > px(70) ? 1 : decade > px(35) ? 2 : 3
    # Where decades are left out, they are counted from 1.
    first = every == 1 ? -3 : every * ceil(log10(axis_start) / every)
    set xtics (every == 1 && axis_start <= 1 ? 1 : 10.0 ** (every * ceil(log10(axis_start) / every)))
    do for [power = first:15:every] {
        do for [digit in (decade > px(200) ? "1 2 5" : "1")] {
            if (digit * 10.0 ** power <= axis_end * (axis_start / axis_end) ** 0.04) { set xtics add (digit * 10.0 ** power) }
        }
    }
} else {
    quarter = axis_end / (right - left < px(300) ? 2.5 : 4)
    power = 10.0 ** floor(log10(quarter))
    step = power * (quarter / power >= 5 ? 5 : quarter / power >= 2 ? 2 : 1)
    set xtics 0, step, 0.96 * axis_end
}
set xrange [axis_start : axis_end]
set xtics offset 0, 0.4
set grid xtics
if (unit eq "B") { set format x "%.0s %cB" } else { set format x "%g" . unit }

if (bar_marks) {
    set arrow 10 from screen x_at(margin + px(8)), screen y_at(top + px(3)) to \
        screen x_at(margin + px(8)), screen y_at(top + px(21)) nohead linecolor rgb ink linewidth 3
}
if (legend ne "") {
    set label 10 legend at screen x_at(margin + (bar_marks ? px(20) : 0)), screen legend_y(1) left textcolor rgb ink font small
}

# A line of text stands on paper, not on the grid.
do for [i = 1:head_y_count] {
    set object i rectangle from screen x_at(0), screen y_at(plot_top + head_top[i]) to \
        screen x_at(width), screen y_at(plot_top + head_bottom[i]) fillstyle solid noborder fillcolor rgb paper
    set label 10 + i head_title[i] at screen x_at(margin), screen y_at(plot_top + head_y[i]) left \
        textcolor rgb (head_is_label[i] ? faint : ink) font (head_is_label[i] ? small : "")
}

# A speed-up below 1 is a bar to the left of it.
from = is_log && axis_start < 1 && unit eq "×" ? 1.0 : axis_start
y_of(i, style) = int(column(5)) == i && strcol(6) eq style ? column(1) : NaN
# A label exactly on the edge of a logarithmic axis may count as outside.
edge = axis_start + (axis_end - axis_start) * 1e-9
hue_of(i) = i == 0 ? neutral : colour[hue(i)]
half = px(17) / 2.0

plot for [i = 0:8] data using (from):(y_of(i, "solid")):(from):3:($1 - half):($1 + half) with boxxyerror \
         linecolor rgb hue_of(i), \
     for [i = 0:8] data using (from):(y_of(i, "hollow")):(from):3:($1 - half + 1):($1 + half - 1) with boxxyerror \
         fillstyle empty border rgb hue_of(i) linecolor rgb hue_of(i) linewidth 2, \
     data using (from):($1 - px(23) / 2.0):(0):(px(23)) with vectors nohead linecolor rgb faint linewidth 1.5, \
     data using 7:($1 - half - 2):(0):(2 * half + 4) with vectors nohead linecolor rgb paper linewidth 7, \
     data using 7:($1 - half - 2):(0):(2 * half + 4) with vectors nohead linecolor rgb ink linewidth 3, \
     data using ($8 > from ? $8 : from):1:4 with labels left offset character 0.6, 0 textcolor rgb ink font small, \
     data using (edge):1:2 with labels right offset character -0.7, 0 textcolor rgb ink font small
