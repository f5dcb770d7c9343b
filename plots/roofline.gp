# A roofline of device memory: gnuplot SETTINGS roofline.gp
# Rows of `data`: FLOP per byte of device memory, TFLOP/s, number, hue, y of the number. Settings in addition to style.gp's: copy (GB/s), peak (TFLOP/s),
# x_low, x_high, y_low.

plot_height = 330
below = 62
load style

set logscale xy 10
set xrange [x_low : x_high]
set yrange [y_low : peak * 1.6]
set format xy "%g"
set xlabel "FLOP per byte of device memory" offset 0, 0.4 textcolor rgb ink
roof(x) = x * copy / 1000 < peak ? x * copy / 1000 : peak
set label 10 sprintf("peak %.1f", peak) at 1100 * peak / copy, peak left offset 0, 0.6 textcolor rgb ink
set label 11 sprintf("copy %.2f TB/s", copy / 1000.0) at x_low * 1.6, roof(x_low * 1.6) left offset 1.5, -1 textcolor rgb ink
plot roof(x) with lines linecolor rgb ink linewidth 2, \
     for [k = 1:8] data using ((int($4) - 1) % 8 + 1 == k ? $1 : NaN):2 with points pointtype 7 pointsize 1 linecolor rgb hue(k), \
     data using 1:5:3 with labels left offset 0.8, 0 textcolor rgb ink
