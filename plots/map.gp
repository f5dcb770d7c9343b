# A map with a figure in each cell: gnuplot SETTINGS map.gp
# Rows of `data`, tab-separated: row (from 1)  column (from 1)  shade (1 to 7; 1 and 2 are below 1)  figure.
# Settings beside those of style.gp: data, row_name, column_name, left, column_title ("" for none), noisy_note ("" for none).

right = width - 10
legend_height = noisy_note eq "" ? 0 : line_height
plot_height = px(44) * row_name_count
axis_height = px(column_title eq "" ? 34 : 60)
load style

set xrange [0.5 : column_name_count + 0.5]
set yrange [row_name_count + 0.5 : 0.5]
unset tics
unset grid
set border 0
if (noisy_note ne "") { set label 4 noisy_note at screen x_at(margin), screen legend_y(1) left textcolor rgb ink font small }
do for [i = 1:row_name_count] {
    set label 10 + i row_name[i] at screen x_at(left - px(8)), first i right textcolor rgb ink font small
}
do for [i = 1:column_name_count] {
    set label 40 + i column_name[i] at first i, screen y_at(plot_bottom + px(18)) center textcolor rgb ink font small
}
set label 5 column_title at screen x_at((left + right) / 2), screen y_at(plot_bottom + px(44)) center textcolor rgb ink font small

plot for [k = 1:7] data using 2:($3 == k ? $1 : NaN):($2 - 0.48):($2 + 0.48):($1 - 0.46):($1 + 0.46) with boxxyerror \
         linecolor rgb shade[k], \
     data using 2:1:4 with labels center textcolor rgb ink font small
