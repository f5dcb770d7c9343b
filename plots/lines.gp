# Lines over N on logarithmic axes, one a lesson:
#     gnuplot -c lines.gp STYLE DATA OUTPUT HEADING SUBJECT FOOTNOTE PEAK PEAK_NAME SERIES
# DATA, tab-separated: series (from 1)  colour (from 1)  N  value. SERIES are the quoted names in the key.
# PEAK is drawn as a line with its name on it; 0 for none.

data = ARG2
output = ARG3
heading = ARG4
subject = ARG5
footnote = ARG6
peak = ARG7 + 0.0
peak_name = ARG8
series = words(ARG9)
array series_colour[series]

set datafile separator tab
do for [i = 1:series] {
    stats data using ($1 == i ? $2 : NaN) name "hue" nooutput
    series_colour[i] = (int(hue_max) - 1) % 8 + 1
}
stats data using 3 name "n" nooutput
stats data using 4 name "height" nooutput
high = peak > height_max ? peak : height_max
low = height_min
key_rows = (series + 1) / 2
height = 84 + 24 * key_rows + 300 + 108
load ARG1
dot = type == 1 ? 0.8 : 1.2

set lmargin at screen x_at(84)
set rmargin at screen x_at(676)
set tmargin at screen y_at(84 + 24 * key_rows)
set bmargin at screen y_at(height - 108)
do for [i = 1:series] {
    key_x = 84 + 300 * ((i - 1) % 2)
    key_y = 84 + 24 * ((i - 1) / 2)
    hue = series_colour[i]
    set arrow 10 + i from screen x_at(key_x), screen y_at(key_y) to screen x_at(key_x + 28), screen y_at(key_y) nohead \
        linecolor rgb colour[hue] linewidth 2
    set label 10 + i "" at screen x_at(key_x + 14), screen y_at(key_y) point pointtype mark[hue] pointsize dot \
        linecolor rgb colour[hue]
    set label 30 + i word(ARG9, i) at screen x_at(key_x + 38), screen y_at(key_y) left textcolor rgb ink
}

set logscale x 2
set xrange [n_min / 1.15 : n_max * 1.15]
every = n_max / n_min > 300 ? 2 : 1
set xtics (1)
do for [power = 0:30:every] { set xtics add (2 ** power) }
set xlabel "N (queries = keys)" offset 0, type == 1 ? 0.6 : 0 textcolor rgb ink

set logscale y 10
spread = high / low > 2 ? high / low : 2
set yrange [low / spread ** 0.06 : high * spread ** 0.09]
if (high / low < 100) {
    set ytics (0.001)
    do for [power = -4:6] { do for [digit in "1 2 5"] { set ytics add (digit * 10.0 ** power) } }
}
set format xy "%g"

if (peak > 0) {
    set arrow 1 from graph 0, first peak to graph 1, first peak nohead linecolor rgb ink linewidth 1.5 dashtype 2
    set label 4 peak_name at graph 0.01, first peak left offset 0, 0.65 textcolor rgb ink
}

plot for [i = 1:series] data using ($1 == i ? $3 : NaN):4 with linespoints linewidth 2 \
         linecolor rgb colour[series_colour[i]] pointtype mark[series_colour[i]] pointsize dot
