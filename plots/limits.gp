# A table of small bars, one row per lesson and one column per unit of the GPU: gnuplot SETTINGS limits.gp
# Rows of `data`: row (from 1), column (from 1), percent, figure, 1 for the largest of the row, name of the row in its first column.
# Settings in addition to style.gp's: rows.

row_height = 62
head_height = 46
plot_height = head_height + row_height * rows
below = -8
load style

set lmargin at screen x_at(margin)
set rmargin at screen x_at(width - margin)
set xrange [0 : 6]
set yrange [plot_height : 0]
unset tics
unset grid
set border 0
array head[6] = ["useful\nFLOP/s", "FMA\nunits", "issue\nslots", "shared\nmem.", "L2\ncache", "device\nmem."]
do for [i = 1:6] { set label 10 + i head[i] at i - 1, 8 left textcolor rgb faint }
y_of(row) = head_height + row_height * (row - 1)
clamped(value) = value > 100 ? 100 : value

# The track of a bar is 100 %; the busiest unit of a lesson is drawn in a different colour.
plot data using ($2 - 1):(y_of($1)):($2 - 1):($2 - 0.14):(y_of($1) + 46):(y_of($1) + 52) with boxxyerror linecolor rgb rule, \
     for [k = 0:1] data using ($2 - 1):($5 == k ? y_of($1) : NaN):($2 - 1):($2 - 1 + 0.86 * clamped($3) / 100):(y_of($1) + 46):(y_of($1) + 52) \
         with boxxyerror linecolor rgb hue(k == 1 ? 4 : 1), \
     data using (0):(y_of($1)):(6):(0) with vectors nohead linecolor rgb rule, \
     data using (0):(y_of($1) + 13):6 with labels left textcolor rgb ink, \
     data using ($2 - 1):(y_of($1) + 33):4 with labels left textcolor rgb ink
