# Horizontal bars with their figures, in groups:
#     gnuplot -c bars.gp STYLE DATA OUTPUT HEADING SUBJECT FOOTNOTE UNIT CEILING SERIES
# DATA, tab-separated: group (from 1)  bar of the group (from 1)  bars of the group  series (from 1)  value  name of the
# group  ceiling of the bar (or -). SERIES are the quoted names in the key, CEILING the ceiling's ("" for none).
# UNIT "×" says that values are speed-ups: the axis is logarithmic where the largest is over eight times the smallest,
# and bars then start at 1, which is no speed-up. With any other unit the axis starts at 0.

data = ARG2
output = ARG3
heading = ARG4
subject = ARG5
footnote = ARG6
unit = ARG7
is_ratio = unit eq "×"
ceiling = ARG8
series = words(ARG9)

set datafile separator tab
set datafile missing "-"
stats data using 1 name "group" nooutput
stats data using 5 name "bar" nooutput
groups = int(group_max)
high = bar_max
if (ceiling ne "") {
    stats data using 7 name "ceiling" nooutput
    high = ceiling_max > high ? ceiling_max : high
}
pitch = 26.0
group_height = pitch * series + 18
height = 104 + groups * group_height + 80
load ARG1

set lmargin at screen x_at(176)
set rmargin at screen x_at(690)
set tmargin at screen y_at(104)
set bmargin at screen y_at(height - 80)

key_x = 176
do for [i = 1:series] {
    set object 10 + i rectangle from screen x_at(key_x), screen y_at(77) to screen x_at(key_x + 16), screen y_at(93) \
        fillstyle solid 1.0 noborder fillcolor rgb colour[i]
    set label 10 + i word(ARG9, i) at screen x_at(key_x + 24), screen y_at(85) left textcolor rgb ink
    key_x = key_x + 24 + 10 * strlen(word(ARG9, i)) + 24
}
if (ceiling ne "") {
    set arrow 10 from screen x_at(key_x + 8), screen y_at(76) to screen x_at(key_x + 8), screen y_at(94) nohead \
        linecolor rgb ink linewidth 3
    set label 10 ceiling at screen x_at(key_x + 20), screen y_at(85) left textcolor rgb ink
}

low = bar_min < 1 ? bar_min : 1.0
if (is_ratio && high / low > 8) {
    set logscale x
    left_end = low < 1 ? low * 0.8 : 1.0
    set xrange [left_end : high * (high / low) ** 0.17]
    set xtics (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
    base = 1.0
} else {
    left_end = 0.0
    set xrange [left_end : high * 1.17]
    quarter = high / 4
    power = 10.0 ** floor(log10(quarter))
    step = power * (quarter / power >= 5 ? 5 : quarter / power >= 2 ? 2 : 1)
    set xtics 0, step, high * 1.06
    base = 0.0
}
set format x "%g" . unit
if (is_ratio) { set arrow 1 from 1, graph 0 to 1, graph 1 nohead linecolor rgb faint linewidth 1.5 front }
set yrange [groups + 0.5 : 0.5]
unset ytics
unset grid
set border 0

y_of(group, bar, bars) = group + (bar - (bars + 1) / 2.0) * pitch / group_height
half = 11 / group_height
figure(value) = sprintf(is_ratio && value < 99.95 ? "%.1f" : "%.0f", value) . unit
lines_of(name) = strstrt(name, "|") ? name[1:strstrt(name, "|") - 1] . "\n" . name[strstrt(name, "|") + 1:] : name
one_line(name) = strstrt(name, "|") == 0

# A figure stands behind its bar, or inside a long one where a ceiling may come close behind.
inside(value) = ceiling ne "" && value > 0.35 * high
shade(i) = i % 2 ? paper : ink

# Where a label does not belong its text is empty: gnuplot 5.4 crashes on a label plot without one valid point.
plot for [i = 1:series] data using (base):(y_of($1, $2, $3)):(base):($4 == i ? $5 : NaN):\
         (y_of($1, $2, $3) - half):(y_of($1, $2, $3) + half) with boxxyerror linecolor rgb colour[i], \
     data using ($5 > base ? $5 : base):(y_of($1, $2, $3)):(inside($5) ? "" : figure($5)) with labels left \
         offset 0.5, 0 textcolor rgb ink, \
     for [i = 1:series] data using 5:(y_of($1, $2, $3)):($4 == i && inside($5) ? figure($5) : "") with labels \
         right offset -0.7, 0 textcolor rgb shade(i), \
     data using (left_end):1:($2 == 1 && one_line(strcol(6)) ? strcol(6) : "") with labels right offset -0.7, 0 \
         textcolor rgb ink, \
     data using (left_end):1:($2 == 1 && !one_line(strcol(6)) ? lines_of(strcol(6)) : "") with labels right \
         offset -0.7, 0.5 textcolor rgb ink, \
     data using (ceiling eq "" ? NaN : $7):(y_of($1, $2, $3) - half * 1.15):(0):(half * 2.3) with vectors nohead \
         linecolor rgb ink linewidth 3
