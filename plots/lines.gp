# Lines over N, as lines.awk has collected them: gnuplot SETTINGS lines.gp
# Rows of `data`, tab-separated: line (from 1)  N  value  1 where it is noisy.
# Settings beside those of style.gp: data, is_log, is_from_0, value_least, value_most, n_least, n_most; legend_rows, noisy_row (0 for
# none) and noisy_note of the legend; of each line its line_name, line_row and line_column in the legend; line_role: 1 a
# lesson, 2 a peer or baseline, 3 a measured ceiling, 4 one on paper; line_number: which of that role.

# Six digits before the axis need more of a narrow chart.
left = margin + px(width < 500 && value_most > 5e4 ? 76 : 68)
right = width - 20
legend_height = line_height * legend_rows
plot_height = px(330)
axis_height = px(64)
load style

array line_colour[line_name_count]
array line_mark[line_name_count]
array line_dash[line_name_count]
array line_width[line_name_count]
do for [i = 1:line_name_count] {
    number = (line_number[i] - 1) % 12 + 1
    # Not both ceilings in one colour: gnuplot 5.4 joins neighbouring arrows that differ in their dashes alone.
    line_colour[i] = line_role[i] == 1 ? colour[hue(number)] : line_role[i] == 2 ? neutral : \
                     line_role[i] == 3 && line_number[i] == 1 ? ink : faint
    line_mark[i] = line_role[i] == 1 ? mark[number] : line_role[i] == 2 ? other_mark[number] : 0
    line_dash[i] = line_role[i] == 1 ? dash[number] : line_role[i] == 2 ? 3 : line_role[i] == 3 ? 1 : 2
    line_width[i] = line_role[i] == 1 ? 2.5 : 1.5
}

do for [i = 1:line_name_count] {
    x = key_x(line_column[i])
    row = line_row[i]
    set arrow 10 + i from screen x_at(x), screen legend_y(row) to screen x_at(x + px(34)), screen legend_y(row) nohead \
        linecolor rgb line_colour[i] linewidth line_width[i] dashtype line_dash[i]
    if (line_mark[i] > 0) {
        set label 40 + i "" at screen x_at(x + px(17)), screen legend_y(row) point pointtype line_mark[i] pointsize dot \
            linecolor rgb line_colour[i]
    }
    set label 80 + i line_name[i] at screen x_at(x + px(42)), screen legend_y(row) left textcolor rgb ink font small
}
if (noisy_row) {
    set label 4 "" at screen x_at(margin + px(17)), screen legend_y(noisy_row) point pointtype 6 pointsize 2 * dot \
        linecolor rgb ink
    set label 5 noisy_note at screen x_at(margin + px(42)), screen legend_y(noisy_row) left textcolor rgb ink font small
}

set logscale x 2
set xrange [n_least / 1.15 : n_most * 1.15]
octave = (right - left) / (log(n_most / n_least * 1.15 ** 2) / log(2))
every = ceil(px(60) / octave)
set xtics (1) offset 0, 0.3
do for [power = 0:30:every] { set xtics add (2 ** power) }
set label 6 "N (queries = keys)" at screen x_at((left + right) / 2), screen y_at(plot_bottom + px(50)) center \
    textcolor rgb ink font small

if (is_log) {
    set logscale y 10
    spread = value_most / value_least > 2 ? value_most / value_least : 2
    set yrange [value_least / spread ** 0.05 : value_most * spread ** 0.05]
    if (spread < 1000) {
        set ytics (0.001)
        do for [power = -4:6] { do for [digit in "1 2 5"] { set ytics add (digit * 10.0 ** power) } }
    }
} else { if (is_from_0) {
    set yrange [0 : value_most * 1.06]
} else {
    spread = value_most - value_least > 0.1 ? value_most - value_least : 0.1
    set yrange [(value_least > 1 ? 1 : value_least) - 0.08 * spread : value_most + 0.08 * spread]
} }
set format xy "%g"

line_of(i, value) = int(column(1)) == i ? value : NaN
plot for [i = 1:line_name_count] data using (line_of(i, $2)):3 with lines linewidth line_width[i] \
         dashtype line_dash[i] linecolor rgb line_colour[i], \
     for [i = 1:line_name_count] data using (line_mark[i] > 0 ? line_of(i, $2) : NaN):3 with points \
         linecolor rgb line_colour[i] pointtype line_mark[i] pointsize dot, \
     data using ($4 == 1 ? $2 : NaN):3 with points linecolor rgb ink pointtype 6 pointsize 2 * dot
