# A map of the last lesson's speed-up over N and D:
#     awk -v what=attention -f csv.awk -f figures.awk -f rivals.awk -f map.awk attention.csv
#
# Variables: heads  B=1 and so many heads
#            out    writes out.tsv and out.gp, for map.gp, out.text and out.facts; nothing for less than two shapes
# and those of rivals.awk.

function insert(list, count, value,    at) {
    for (at = 1; at <= count; at++)
        if (list[at] == value)
            return count
    for (at = count++; at > 0 && list[at] + 0 > value + 0; at--)
        list[at + 1] = list[at]
    list[at + 1] = value
    return count
}

END {
    if (csv_failed)
        exit 2
    compare()
    high = 0
    for (i = 1; i <= shape_count; i++) {
        split(shape[i], part, SUBSEP)
        if (part[1] != 1 || part[2] != heads || !(shape[i] in ratio))
            continue
        cells++
        ns = insert(n_list, ns, part[3])
        ds = insert(d_list, ds, part[4])
        if (ratio[shape[i]] > high)
            high = ratio[shape[i]]
        if (cells == 1 || ratio[shape[i]] < low)
            low = ratio[shape[i]]
    }
    if (cells < 2)
        exit 0
    # Five shades from the lowest that is no loss to the highest.
    if (low < 1)
        low = 1
    if (high < 1.2 * low)
        high = 1.2 * low
    for (i = 1; i <= ds; i++) {
        d_name[i] = "D=" d_list[i]
        for (j = 1; j <= ns; j++) {
            s = 1 SUBSEP heads SUBSEP n_list[j] SUBSEP d_list[i]
            if (!(s in ratio))
                continue
            shade = ratio[s] < 0.8 ? 1 : ratio[s] < 0.995 ? 2 : \
                3 + int(4.999 * log(ratio[s] < low ? 1 : ratio[s] / low) / log(high / low))
            figure = (ratio_noisy[s] ? "~" : "") (over == "peer" ? closely(ratio[s]) : times(ratio[s]))
            any_noisy = any_noisy || ratio_noisy[s]
            if (narrow)
                print j, i, shade, figure > (out ".tsv")
            else
                print i, j, shade, figure > (out ".tsv")
            text = text (text == "" ? "" : ", ") "N=" n_list[j] " D=" d_list[i] " " figure
            if (over == "peer")
                text = text " over " title_of(rival_of[s], "peer")
        }
    }
    print text > (out ".text")
    write_facts()
    # A narrow chart has a row for each N, a wide one a column.
    for (j = 1; j <= ns; j++)
        n_name[j] = (narrow ? "N=" : "") n_list[j]
    if (narrow) {
        set_list("row_name", ns, n_name, 1)
        set_list("column_name", ds, d_name, 1)
    } else {
        set_list("row_name", ds, d_name, 1)
        set_list("column_name", ns, n_name, 1)
    }
    set("left", margin + int(narrow ? px(14) + text_width("N=" n_list[ns]) : px(68)))
    set("column_title", quoted(narrow ? "" : "N (queries = keys)"))
    set("noisy_note", quoted(any_noisy ? "~ " noisy_words() : ""))
}
