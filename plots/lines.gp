# Lines over N and horizontal lines, with their names at the right end: gnuplot SETTINGS lines.gp
# Rows of `data`: line (from 1), hue (0: grey), N, value, 1 if noisy. Rows of `ends`: N, y of the name, name, hue, and
# y of the end of the line. Rows of `levels`: value.
# Settings in addition to style.gp's: lines, n_least, n_most, most (of values and levels).

plot_height = 330
below = 62
load style

set rmargin at screen x_at(width - 104)
set logscale x 2
# The space after the last point is for a stroke from the point to the name.
n_end = n_most * (n_most / n_least) ** 0.05
set xrange [n_least / 1.1 : n_end]
set yrange [0 : most * 1.08]
every = n_most / n_least > 40 ? 2 : 1
set xtics (1) offset 0, 0.3
do for [power = 0:30:every] { set xtics add (2 ** power) }
set xlabel "N (queries = keys)" offset 0, 0.4 textcolor rgb ink
set format xy "%g"

plot levels using (n_least / 1.1):1:(n_end - n_least / 1.1):(0) with vectors nohead linecolor rgb ink linewidth 1.5 dashtype 2, \
     for [i = 1:lines] data using (int($1) == i && int($2) > 0 ? $3 : NaN):4 with linespoints linewidth 2.5 linecolor rgb hue(line_hue[i]) pointtype 7 pointsize 0.6, \
     for [i = 1:lines] data using (int($1) == i && int($2) == 0 ? $3 : NaN):4 with linespoints linewidth 2 dashtype 3 linecolor rgb neutral pointtype 5 pointsize 0.6, \
     data using ($5 == 1 ? $3 : NaN):4 with points linecolor rgb ink pointtype 6 pointsize 1.4, \
     ends using (n_most * (n_most / n_least) ** 0.012):5:(n_end - n_most * (n_most / n_least) ** 0.012):($2 - $5) with vectors nohead linecolor rgb faint linewidth 1, \
     ends using (n_end):2:3 with labels left offset character 0.3, 0 textcolor rgb ink
