# Horizontal bars with figures: gnuplot SETTINGS bars.gp
# Rows of `data`: y in pixels from the top of the plot, 1 for a head, text of a head, value, figure, hue (0: grey), mark (or 0), x of the figure.
# Settings in addition to style.gp's: plot_height; end of the axis; tics, the labels left of the bars; line_value and line_label of a
# vertical line, "" for none.

below = 0
load style

set yrange [plot_height : 0]
set xrange [0 : end]
set border 0
unset grid
unset xtics
eval 'set ytics scale 0 offset 0.5, 0 (' . tics . ')'
if (line_label ne "") {
    set arrow 10 from line_value, plot_height to line_value, 22 nohead linecolor rgb ink linewidth 2 dashtype 2 front
    if (line_value > 0.5 * end) { set label 10 line_label at line_value, 12 right textcolor rgb ink
    } else { set label 10 line_label at line_value, 12 left textcolor rgb ink }
}
y_of(kind) = int(column(2)) == kind ? column(1) : NaN

plot for [k = 0:8] data using (0):(int($6) == k ? y_of(0) : NaN):(0):4:($1 - 8):($1 + 8) with boxxyerror linecolor rgb hue(k), \
     data using ($7 > 0 ? $7 : NaN):(y_of(0) - 9):(0):(18) with vectors nohead linecolor rgb ink linewidth 3, \
     data using (0):(y_of(1)):3 with labels left offset character -0.6, 0 textcolor rgb ink, \
     data using 8:(y_of(0)):5 with labels left offset character 0.4, 0 textcolor rgb ink
