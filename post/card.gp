# The picture of link previews, 1200 by 630 pixels: the ladder as bars, in letters that can be read in a small preview.
#     gnuplot -e 'output = "card.png"; title = "..."; what = "..."' -e 'load "COLOURS"' post/card.gp
# Rows of `data`: number of the bar from the top, title, value, figure.

set encoding utf8
set terminal pngcairo size 1200, 630 font "DejaVu Sans,19" background rgb paper noenhanced
set output output
stats data using 3 name "rate" nooutput
bars = rate_records
set label 1 title at screen 0.04, screen 0.915 left textcolor rgb ink font "DejaVu Sans:Bold,33"
set label 2 what at screen 0.04, screen 0.825 left textcolor rgb faint font "DejaVu Sans,22"
set lmargin at screen 0.36
set rmargin at screen 0.88
set tmargin at screen 0.77
set bmargin at screen 0.05
set border 0
unset key
unset xtics
unset ytics
set xrange [0 : rate_max]
set yrange [bars + 0.5 : 0.5]
size = bars > 8 ? 15 : 19
plot data using (0):1:(0):3:($1 - 0.36):($1 + 0.36) with boxxyerror fillstyle solid noborder linecolor rgb colour[1], \
     data using (0):1:2 with labels right offset character -1, 0 textcolor rgb ink font sprintf("DejaVu Sans,%d", size), \
     data using 3:1:4 with labels left offset character 0.7, 0 textcolor rgb ink font sprintf("DejaVu Sans,%d", size)
