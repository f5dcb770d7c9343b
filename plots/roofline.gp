# A roofline, as roofline.awk has laid it out: gnuplot SETTINGS roofline.gp
# Rows of `data`, tab-separated: point (from 1)  TFLOP/s  FLOP a byte of device memory  FLOP a byte through L2.
# Settings beside those of style.gp: data, x_low, x_high, y_low, y_high; copy_gbs, fma_tflops, peak_tflops (0: not known)
# and their names roof_name, in this order; point_name, point_number; kind_name, of full points and of empty ones; the rows and
# columns of these in the legend of legend_rows: roof_row, roof_column and so on; label_x, label_y: where labels stand, in pixels;
# label_far: 1 for those that need a line to their point, at point_x, point_y.

legend_height = line_height * legend_rows
axis_height = px(64)
load style

do for [i = 1:point_name_count] {
    x = key_x(point_column[i])
    row = point_row[i]
    set label 10 + i "" at screen x_at(x + px(17)), screen legend_y(row) point pointtype 7 pointsize 1.2 * dot \
        linecolor rgb colour[hue(point_number[i])]
    set label 40 + i point_name[i] at screen x_at(x + px(42)), screen legend_y(row) left textcolor rgb ink font small
    set label 70 + i point_name[i][1:2] at screen x_at(label_x[i]), screen y_at(plot_top + label_y[i]) center \
        textcolor rgb ink font small
    if (label_far[i]) {
        set arrow 130 + i from screen x_at(left + point_x[i]), screen y_at(plot_top + point_y[i]) to \
            screen x_at(label_x[i]), screen y_at(plot_top + label_y[i]) nohead linecolor rgb faint linewidth 1 back
    }
}
do for [i = 1:kind_name_count] {
    x = key_x(kind_column[i])
    row = kind_row[i]
    set label 2 + 2 * i "" at screen x_at(x + px(17)), screen legend_y(row) point pointtype (8 - i) pointsize 1.2 * dot \
        linecolor rgb ink linewidth i
    set label 3 + 2 * i kind_name[i] at screen x_at(x + px(42)), screen legend_y(row) left textcolor rgb ink font small
}

do for [i = 1:roof_name_count] {
    x = key_x(roof_column[i])
    row = roof_row[i]
    is_peak = peak_tflops > 0 && i == roof_name_count
    dashed = is_peak ? 2 : 1
    is_copy = copy_gbs > 0 && i == 1
    set arrow 20 + i from screen x_at(x), screen legend_y(row) to screen x_at(x + px(34)), screen legend_y(row) nohead \
        linecolor rgb (is_copy ? faint : ink) linewidth (is_peak ? 1.5 : 3) dashtype dashed
    set label 100 + i roof_name[i] at screen x_at(x + px(42)), screen legend_y(row) left textcolor rgb ink font small
}

set logscale xy 10
set xrange [x_low : x_high]
set yrange [y_low : y_high]
set format xy "%g"
set xtics offset 0, 0.3
do for [power = -3:6] {
    do for [digit in "1 2 5"] {
        if ((right - left) / log10(x_high / x_low) > px(241) || digit == 1) { set xtics add (digit * 10.0 ** power) }
        set ytics add (digit * 10.0 ** power)
    }
}
set label 8 "FLOP a byte" at screen x_at((left + right) / 2), screen y_at(plot_bottom + px(50)) center textcolor rgb ink font small
set label 9 "TFLOP/s" at screen x_at(left + px(8)), screen y_at(plot_top + px(14)) left textcolor rgb ink font small

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
