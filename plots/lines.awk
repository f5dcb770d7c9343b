# Collects series over N, for lines.gp. A chart's program calls
#     add_point(name, role, number, n, value, noise)   role: "lesson" (number gives colour, mark and dash), "other",
#                                                       "ceiling" (measured) or "paper" (a ceiling that is not)
#     finish_lines(scale)                              "log", "linear", or "from 0", which is linear too
# Writes out.tsv (rows of lines.gp), out.gp (settings) and out.text (the figures in words).

function add_point(name, role, number, n, value, noise) {
    if (!(name in line_index)) {
        line_index[name] = ++lines
        line_name[lines] = name
        line_role[lines] = role == "lesson" ? 1 : role == "other" ? 2 : role == "ceiling" ? 3 : 4
        line_number[lines] = role == "lesson" ? number : ++role_count[role]
        line_text[lines] = name ":"
    } else {
        line_text[line_index[name]] = line_text[line_index[name]] ","
    }
    number = line_index[name]
    line_text[number] = line_text[number] " " (noise == "noisy" ? "~" : "") trimmed(short(value)) " at N=" n
    any_noisy = any_noisy || noise == "noisy"
    print number, n, value, (noise == "noisy") > (out ".tsv")
    if (!points++ || value < value_least)
        value_least = value
    if (points == 1 || value > value_most)
        value_most = value
    if (points == 1 || n < n_least)
        n_least = n
    if (points == 1 || n > n_most)
        n_most = n
}

function finish_lines(scale,    i, text, rows, line_row, line_column) {
    set("is_log", scale == "log")
    set("is_from_0", scale == "from 0")
    set("value_least", sprintf("%.10g", value_least))
    set("value_most", sprintf("%.10g", value_most))
    set("n_least", n_least)
    set("n_most", n_most)
    rows = place_legend(lines, line_name, 0, line_row, line_column)
    set("noisy_row", any_noisy ? ++rows : 0)
    set("noisy_note", quoted("ringed: " noisy_words()))
    set("legend_rows", rows)
    set_list("line_row", lines, line_row, 0)
    set_list("line_column", lines, line_column, 0)
    set_list("line_name", lines, line_name, 1)
    set_list("line_role", lines, line_role, 0)
    set_list("line_number", lines, line_number, 0)
    for (i = 1; i <= lines; i++)
        text = text (i > 1 ? "; " : "") line_text[i]
    print text > (out ".text")
}
