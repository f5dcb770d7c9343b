# The one style of all charts. A chart's script sets these variables and loads it:
#     output                      where to write: NAME.png is a bitmap of twice the size, anything else an SVG
#     height                      in pixels; every chart is 700 wide
#     heading, subject, footnote  the texts above the plot and below it
# and then places the plot with the help of x_at() and y_at(), which turn pixels from the upper left corner into
# screen coordinates. Colours are Okabe and Ito's, which every common kind of colour vision tells apart; lines differ
# in the shape of their points as well.

set encoding utf8

paper = "#ffffff"
ink = "#1a1a1a"
faint = "#555555"
rule = "#dddddd"
colours = 8
array colour[colours] = ["#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#7f7f00", "#444444"]
array mark[colours] = [7, 5, 9, 13, 11, 6, 4, 8]

width = 700
x_at(pixels) = real(pixels) / width
y_at(pixels) = 1 - real(pixels) / height

# Cairo counts type in points and SVG in pixels.
if (strlen(output) > 4 && output[strlen(output) - 3:] eq ".png") {
    set terminal pngcairo size 2 * width, 2 * height font "DejaVu Sans,12" fontscale 2 linewidth 2 pointscale 2 \
        background rgb paper noenhanced
    type = 0.75
} else {
    set terminal svg size width, height fixed font "DejaVu Sans,16" background rgb paper noenhanced
    type = 1.0
}
set output output

# A long name of a GPU still has to fit on the line.
small(text) = 15 * type * (strlen(text) > 74 ? 74.0 / strlen(text) : 1)
set label 1 heading at screen x_at(16), screen y_at(24) left textcolor rgb ink \
    font sprintf("DejaVu Sans:Bold,%g", 21 * type)
set label 2 subject at screen x_at(16), screen y_at(50) left textcolor rgb faint font sprintf(",%g", small(subject))
set label 3 footnote at screen x_at(16), screen y_at(height - 18) left textcolor rgb faint \
    font sprintf(",%g", small(footnote))

set border 3 linecolor rgb faint
set tics nomirror out scale 0.6 textcolor rgb ink
set grid linecolor rgb rule linewidth 1 linetype 1
set style fill solid 1.0 noborder
set key off
set datafile separator tab
set datafile commentschars "#"
set datafile missing "-"
