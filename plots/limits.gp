# A table of small bars, one row a lesson and one column a limit: gnuplot SETTINGS limits.gp
# Rows of `data`, tab-separated: row (from 1)  column (from 1)  percent  figure  1 for the largest of its row.
# Settings beside those of style.gp: data, row_name, head ("one line|the other").

pitch = px(62)
head_height = px(54)
left = margin
right = width - 10
legend_height = 0
plot_height = head_height + pitch * row_name_count
axis_height = px(2)
load style

set xrange [left : right]
set yrange [plot_height : 0]
unset tics
unset grid
set border 0
cell = (right - left) / real(head_count)
bar = cell - px(16)
x_of(column) = left + cell * (column - 1)
y_of(row) = head_height + pitch * (row - 1)
do for [i = 1:head_count] {
    cut = strstrt(head[i], "|")
    set label 10 + i head[i][1:cut - 1] . "\n" . head[i][cut + 1:] at x_of(i), px(10) left textcolor rgb faint font small
}
do for [i = 1:row_name_count] {
    set label 30 + i row_name[i] at left, y_of(i) + px(12) left textcolor rgb ink font small
    set arrow 30 + i from left, y_of(i) to right - px(8), y_of(i) nohead linecolor rgb rule linewidth 1
}

# A bar's track is a whole; the largest share of a row has the colour that stands out.
part(value) = value > 100 ? 100 : value
plot data using (x_of($2)):(y_of($1)):(x_of($2)):(x_of($2) + bar):(y_of($1) + px(50)):(y_of($1) + px(56)) with boxxyerror \
         linecolor rgb rule, \
     for [k = 0:1] data using (x_of($2)):($5 == k ? y_of($1) : NaN):(x_of($2)):(x_of($2) + bar * part($3) / 100):\
         (y_of($1) + px(50)):(y_of($1) + px(56)) with boxxyerror linecolor rgb colour[k == 1 ? 4 : 1], \
     data using (x_of($2)):(y_of($1) + px(35)):4 with labels left textcolor rgb ink font small
