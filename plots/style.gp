# The common style of all charts. These variables must be set before it is loaded:
#     output                        NAME.png is a bitmap of twice the size; other names are SVGs
#     paper, ink, faint, rule, neutral, colour[1] to colour[8]    the colours for a white background in plots/palette
#     title, subtitle, footnote     the result, the quantities shown, the method; each may have several lines
#     plot_height, below            heights in pixels: of the plot, and of the area below its axis
# It opens the terminal, writes the texts, and defines hue(), x_at() and y_at(); the latter convert pixels to screen coordinates.
#
# A chart is 440 pixels wide with type of 15 pixels or more; on a phone 360 pixels wide, whose page has 328 for it, type is 11.2 pixels. The
# colours are Okabe and Ito's, darker on white and lighter on black until each has a contrast of 3 to 1. Labels identify lines and bars;
# colour alone does not. plots/svg.awk adds the colours for a black background.

set encoding utf8
if (!exists("width")) width = 440
margin = 10
hue(i) = i == 0 ? neutral : colour[(int(i) - 1) % 8 + 1]

rows_of(text) = strstrt(text, "\n") ? 1 + rows_of(text[strstrt(text, "\n") + 1:]) : 1
line_height = 21
subtitle_top = 14 + 27 * rows_of(title)
plot_top = subtitle_top + line_height * rows_of(subtitle) + 10
plot_bottom = plot_top + plot_height
height = plot_bottom + below + 14 + line_height * rows_of(footnote)
x_at(pixels) = real(pixels) / width
y_at(pixels) = 1 - real(pixels) / height

# Cairo measures type in points, SVG in pixels.
if (strlen(output) > 4 && output[strlen(output) - 3:] eq ".png") {
    points = 0.75
    set terminal pngcairo size 2 * width, 2 * height font sprintf("DejaVu Sans,%g", points * 15) fontscale 2 \
        linewidth 2 pointscale 2 background rgb paper noenhanced
} else {
    points = 1.0
    set terminal svg size width, height fixed font "DejaVu Sans,15" background rgb paper noenhanced
}
set output output

set label 1 title at screen x_at(margin), screen y_at(24) left textcolor rgb ink font sprintf("DejaVu Sans:Bold,%g", 18 * points)
set label 2 subtitle at screen x_at(margin), screen y_at(subtitle_top + 12) left textcolor rgb faint
set label 3 footnote at screen x_at(margin), screen y_at(plot_bottom + below + 16) left textcolor rgb faint
set tmargin at screen y_at(plot_top)
set bmargin at screen y_at(plot_bottom)
set rmargin at screen x_at(width - 14)

set border 3 linecolor rgb faint
set tics nomirror out scale 0.6 textcolor rgb ink
set grid linecolor rgb rule linewidth 1 linetype 1 dashtype 1
set style fill solid 1.0 noborder
set key off
set datafile separator tab
set datafile missing "-"
