# A roofline, as roofline.awk has laid it out: gnuplot SETTINGS roofline.gp
# Rows of `data`, tab-separated: point (from 1)  TFLOP/s  FLOP a byte of device memory  FLOP a byte through L2.
# Settings beside those of style.gp: data, x_low, x_high, y_low, y_high; copy_gbs, fma_tflops, peak_tflops (0: not known)
# and their names roof_name, in this order; point_name, point_number; label_x, label_y: where labels stand, in pixels;
# label_far: 1 for those that need a line to their point, at point_x, point_y.

point_rows = (point_name_count + 1) / 2
roof_rows = (roof_name_count + 1) / 2
legend_height = 24 * (point_rows + 1 + roof_rows)
axis_height = 64
load style

do for [i = 1:point_name_count] {
    key_x = 16 + 342 * ((i - 1) % 2)
    row = (i + 1) / 2
    set label 10 + i "" at screen x_at(key_x + 17), screen legend_y(row) point pointtype 7 pointsize 1.2 * dot \
        linecolor rgb colour[hue(point_number[i])]
    set label 40 + i point_name[i] at screen x_at(key_x + 42), screen legend_y(row) left textcolor rgb ink font small
    set label 70 + i point_name[i][1:2] at screen x_at(label_x[i]), screen y_at(plot_top + label_y[i]) center \
        textcolor rgb ink font small
    if (label_far[i]) {
        set arrow 130 + i from screen x_at(left + point_x[i]), screen y_at(plot_top + point_y[i]) to \
            screen x_at(label_x[i]), screen y_at(plot_top + label_y[i]) nohead linecolor rgb faint linewidth 1 back
    }
}
row = point_rows + 1
set label 4 "" at screen x_at(33), screen legend_y(row) point pointtype 7 pointsize 1.2 * dot linecolor rgb ink
set label 5 "by bytes of device memory" at screen x_at(58), screen legend_y(row) left textcolor rgb ink font small
set label 6 "" at screen x_at(375), screen legend_y(row) point pointtype 6 pointsize 1.2 * dot linecolor rgb ink linewidth 2
set label 7 "by bytes through L2" at screen x_at(400), screen legend_y(row) left textcolor rgb ink font small

do for [i = 1:roof_name_count] {
    key_x = 16 + 342 * ((i - 1) % 2)
    row = point_rows + 1 + (i + 1) / 2
    is_peak = peak_tflops > 0 && i == roof_name_count
    dashed = is_peak ? 2 : 1
    is_copy = copy_gbs > 0 && i == 1
    set arrow 20 + i from screen x_at(key_x), screen legend_y(row) to screen x_at(key_x + 34), screen legend_y(row) nohead \
        linecolor rgb (is_copy ? faint : ink) linewidth (is_peak ? 1.5 : 3) dashtype dashed
    set label 100 + i roof_name[i] at screen x_at(key_x + 42), screen legend_y(row) left textcolor rgb ink font small
}

set logscale xy 10
set xrange [x_low : x_high]
set yrange [y_low : y_high]
set format xy "%g"
set xtics offset 0, 0.3
do for [power = -3:6] {
    do for [digit in "1 2 5"] {
        if (log10(x_high / x_low) < 2.5 || digit == 1) { set xtics add (digit * 10.0 ** power) }
        set ytics add (digit * 10.0 ** power)
    }
}
set label 8 "FLOP a byte" at screen x_at((left + right) / 2), screen y_at(plot_bottom + 50) center textcolor rgb ink font small
set label 9 "TFLOP/s" at screen x_at(left + 8), screen y_at(plot_top + 14) left textcolor rgb ink font small

# Where the slope of the copy meets the highest ceiling; below it the copy is the limit, above it arithmetic.
ceiling = fma_tflops > 0 ? fma_tflops : peak_tflops
ridge = copy_gbs > 0 && ceiling > 0 ? ceiling * 1000 / copy_gbs : x_low
if (copy_gbs > 0) {
    start = y_low * 1000 / copy_gbs > x_low ? y_low * 1000 / copy_gbs : x_low
    stop = ceiling > 0 ? ridge : x_high
    set arrow 2 from start, start * copy_gbs / 1000 to stop, stop * copy_gbs / 1000 nohead linecolor rgb faint linewidth 3
}
if (fma_tflops > 0) {
    set arrow 3 from ridge, fma_tflops to x_high, fma_tflops nohead linecolor rgb ink linewidth 3
}
if (peak_tflops > 0) {
    top_ridge = copy_gbs > 0 ? peak_tflops * 1000 / copy_gbs : x_low
    set arrow 4 from top_ridge, peak_tflops to x_high, peak_tflops nohead linecolor rgb ink linewidth 1.5 dashtype 2
    if (copy_gbs > 0) { set arrow 5 from ridge, ceiling to top_ridge, peak_tflops nohead linecolor rgb faint linewidth 1.5 dashtype 2 }
}

of(i, value) = int(column(1)) == i ? value : NaN
plot for [i = 1:point_name_count] data using (of(i, $4)):2:($3 - $4):(0) with vectors nohead linewidth 1.5 dashtype 3 \
         linecolor rgb colour[hue(point_number[i])], \
     for [i = 1:point_name_count] data using (of(i, $3)):2 with points pointtype 7 pointsize 1.6 * dot \
         linecolor rgb colour[hue(point_number[i])], \
     for [i = 1:point_name_count] data using (of(i, $4)):2 with points pointtype 7 pointsize 1.6 * dot \
         linecolor rgb paper, \
     for [i = 1:point_name_count] data using (of(i, $4)):2 with points pointtype 6 pointsize 1.6 * dot linewidth 2.5 \
         linecolor rgb colour[hue(point_number[i])]
