# The one style of all charts. A chart's settings and its script set these variables, and then the script loads it:
#     theme, output                        "light" or "dark"; NAME.png is a bitmap of twice the size, anything else an SVG
#     width, margin, type, px(), line_height    the measures of the picture, as figures.awk has set them
#     heading, subject, footnote           the texts above the plot and below it; they may have lines
#     left, right                          the plot's edges, in pixels from the left edge
#     legend_height, plot_height, axis_height    in pixels: of the legend, of the plot, of what stands below its axis
# It opens the terminal, writes the texts, places the plot, and gives colours, marks, dashes and x_at(), y_at(), legend_y(),
# key_x().
#
# A wide chart has 700 pixels and type of 16 or more, which stay 11 down to a width of 481. The one for a phone has 360 and
# type of 13, which are 11.8 where a page leaves it 328. The colours are Okabe and Ito's, darker on white and lighter on black
# until each has a contrast of 3 to 1. From the ninth series on they come again with other marks and dashes, so that 16
# series can be told apart.

set encoding utf8

if (theme eq "dark") {
    paper = "#0d1117"
    ink = "#e6edf3"
    faint = "#9aa4b0"
    rule = "#2a313a"
    neutral = "#8b949e"
    array colour[8] = ["#6d92ee", "#f3ba2c", "#30c99f", "#db5f45", "#c076a9", "#68e3e7", "#c0ab5f", "#a4ade1"]
    array shade[7] = ["#4a2a12", "#2c2118", "#16222f", "#17334d", "#18446b", "#19568a", "#1b66a8"]
} else {
    paper = "#ffffff"
    ink = "#1a1a1a"
    faint = "#555555"
    rule = "#dddddd"
    neutral = "#767676"
    array colour[8] = ["#305a9f", "#af9025", "#659178", "#d41f0a", "#d258be", "#2a96ff", "#676e4f", "#51311d"]
    array shade[7] = ["#f7b28a", "#fbe0d0", "#eef4fa", "#cfe3f3", "#aed1ec", "#8abde3", "#66a9da"]
}
array mark[16] = [7, 5, 9, 13, 11, 15, 4, 8, 6, 12, 10, 14, 1, 2, 3, 4]
array dash[16] = [1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4]
array other_mark[12] = [4, 6, 8, 10, 12, 14, 1, 2, 3, 5, 7, 9]
hue(i) = (int(i) - 1) % 8 + 1

# How many lines a text has.
rows_of(text) = strstrt(text, "\n") ? 1 + rows_of(text[strstrt(text, "\n") + 1:]) : 1
heading_height = line_height + px(33) * (rows_of(heading) - 1)
subject_lines = rows_of(subject)
footnote_lines = rows_of(footnote)

top = px(22) + heading_height + line_height * subject_lines + px(8)
plot_top = top + legend_height + (legend_height > 0 ? px(10) : 0)
plot_bottom = plot_top + plot_height
height = plot_bottom + axis_height + px(12) + line_height * footnote_lines + px(8)
x_at(pixels) = real(pixels) / width
y_at(pixels) = 1 - real(pixels) / height
legend_y(row) = y_at(top + px(12) + line_height * (row - 1))
# A legend has two columns: where the left one (0) and the right one (1) begin.
key_x(column) = margin + column * (width - margin) / 2

# Cairo counts type in points and SVG in pixels.
if (strlen(output) > 4 && output[strlen(output) - 3:] eq ".png") {
    points = 0.75
    set terminal pngcairo size 2 * width, 2 * height font sprintf("DejaVu Sans,%g", points * px(17)) fontscale 2 \
        linewidth 2 pointscale 2 background rgb paper noenhanced
    dot = 1.5 * type / 16
} else {
    points = 1.0
    set terminal svg size width, height fixed font sprintf("DejaVu Sans,%g", px(17)) background rgb paper noenhanced
    dot = 0.8 * type / 16
}
set output output
small = sprintf(",%g", type * points)

set label 1 heading at screen x_at(margin), screen y_at(px(24)) left textcolor rgb ink \
    font sprintf("DejaVu Sans:Bold,%g", px(22) * points)
set label 2 subject at screen x_at(margin), screen y_at(px(30) + heading_height) left textcolor rgb faint font small
set label 3 footnote at screen x_at(margin), screen y_at(height - px(8) - line_height * footnote_lines + px(10)) left \
    textcolor rgb faint font small

set lmargin at screen x_at(left)
set rmargin at screen x_at(right)
set tmargin at screen y_at(plot_top)
set bmargin at screen y_at(plot_bottom)

set border 3 linecolor rgb faint
set tics nomirror out scale 0.6 textcolor rgb ink
set tics font small
set grid linecolor rgb rule linewidth 1 linetype 1 dashtype 1
set style fill solid 1.0 noborder
set key off
set datafile separator tab
set datafile commentschars "#"
set datafile missing "-"
