# Dots on a logarithmic axis of bytes, one row per lesson: gnuplot SETTINGS dots.gp
# Rows of `data`: row (from 1), series (1 predicted, 2 loaded, 3 through L2, 4 device memory), bytes, name of the row, text at its end.
# Settings in addition to style.gp's: rows, least, most.

row_height = 44
key_height = 50
plot_height = key_height + row_height * rows + 6
below = 26
load style

set lmargin at screen x_at(margin + 4)
set logscale x 10
set xrange [least / 2.5 : most * 1.8]
set yrange [plot_height : 0]
unset ytics
set border 1
set grid xtics
set format x "%.0s %cB"
set xtics offset 0, 0.4
set key on at screen x_at(width - 20), screen y_at(plot_top + 4) horizontal maxcols 2 width 2 samplen 1 textcolor rgb ink
y_of(row) = key_height + row_height * (row - 1)

# A line of text has the colour of the background behind it, not the grid.
do for [i = 1:rows] {
    set object i rectangle from graph 0, first y_of(i) to graph 1, first y_of(i) + 22 fillstyle solid noborder fillcolor rgb paper
    set arrow i from graph 0, first y_of(i) + 32 to graph 1, first y_of(i) + 32 nohead linecolor rgb rule
}
set object 100 rectangle from graph 0, first 0 to graph 1, first key_height fillstyle solid noborder fillcolor rgb paper
plot data using ($2 == 4 ? $3 : NaN):(y_of($1) + 32) with points pointtype 13 pointsize 1.1 linecolor rgb hue(3) title "device memory", \
     data using ($2 == 3 ? $3 : NaN):(y_of($1) + 32) with points pointtype 5 pointsize 0.9 linecolor rgb hue(2) title "through L2", \
     data using ($2 == 2 ? $3 : NaN):(y_of($1) + 32) with points pointtype 7 pointsize 0.9 linecolor rgb hue(1) title "loaded", \
     data using ($2 == 1 ? $3 : NaN):(y_of($1) + 32) with points pointtype 6 pointsize 1.6 linewidth 2 linecolor rgb ink title "predicted", \
     data using (least / 2.5):(y_of($1) + 12):4 with labels left textcolor rgb ink notitle, \
     data using (most * 1.8):(y_of($1) + 12):5 with labels right textcolor rgb faint notitle
