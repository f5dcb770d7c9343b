# Horizontal bars with figures: gnuplot SETTINGS bars.gp
# Rows of `data`: panel (from 0), y in pixels from the top of the plot, y if the panels are stacked, 1 for a head, text of the head or left of the
# bar, length of the bar and position of its mark as fractions of the axis, figure, hue (0: grey).
# Settings in addition to style.gp's: panels; stacked, 1 to draw them one below the other; rows_height, stacked_height; label_space and figure_space,
# left and right of the bars; line_label and line_at, the label of the marks and its fraction of the axis, "" for none.

stacked = panels == 1 ? 1 : stacked
columns = stacked ? 1 : panels
panel_width = stacked ? 440 : 500
width = columns * panel_width
plot_height = stacked ? stacked_height : rows_height
below = 0
load style

set lmargin at screen 0
set rmargin at screen 1
set xrange [0 : width]
set yrange [plot_height : 0]
set border 0
unset grid
unset tics
left(panel) = margin + 6 + label_space + (stacked ? 0 : panel * panel_width)
bar_width = panel_width - margin - label_space - figure_space - 28.0
x_of(fraction) = left(column(1)) + fraction * bar_width
y_of(kind) = int(column(4)) == kind ? column(stacked ? 3 : 2) : NaN
if (line_label ne "") { set label 10 line_label at left(0) + line_at * bar_width, 12 right textcolor rgb ink }

# A track leads from the bar to its mark.
plot data using (x_of(0)):($7 > $6 ? y_of(0) : NaN):(x_of(0)):(x_of($7)):(y_of(0) - 8):(y_of(0) + 8) with boxxyerror linecolor rgb rule, \
     for [k = 0:8] data using (x_of(0)):(int($9) == k ? y_of(0) : NaN):(x_of(0)):(x_of($6)):(y_of(0) - 8):(y_of(0) + 8) \
         with boxxyerror linecolor rgb hue(k), \
     data using ($7 > 0 ? x_of($7) : NaN):(y_of(0) - 9):(0):(18) with vectors nohead linecolor rgb ink linewidth 2, \
     data using (left($1) - label_space - 6):(y_of(1)):5 with labels left textcolor rgb ink, \
     data using (left($1) - label_space - 6):(y_of(0)):5 with labels left textcolor rgb ink, \
     data using (x_of(1)):(y_of(0)):8 with labels left offset character 0.6, 0 textcolor rgb ink
