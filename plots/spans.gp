# Horizontal bars of several parts below one another, each with a line of text above it: gnuplot SETTINGS spans.gp
# Rows of `data`: y of the text in pixels from the top of the plot, text (only in the first part of a bar), start and end of the part as
# fractions of the width, hue (0: grey).
# Settings in addition to style.gp's: rows_height.

plot_height = rows_height
below = 0
load style

set lmargin at screen x_at(margin)
set rmargin at screen x_at(width - margin)
set xrange [0 : 1]
set yrange [plot_height : 0]
unset tics
unset grid
set border 0

# A gap of a pixel separates the parts.
gap = 1.0 / (width - 2 * margin)
plot for [k = 0:8] data using ($3):(int($5) == k ? $1 + 28 : NaN):($3):($4 - gap):($1 + 20):($1 + 36) with boxxyerror linecolor rgb hue(k), \
     data using (0):($1 + 9):2 with labels left textcolor rgb ink
