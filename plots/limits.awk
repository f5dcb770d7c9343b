# How much of each limit a lesson uses: awk -f figures.awk -f joined.awk -f limits.awk part=... (see joined.awk)
#
# Variables: d    the head dimension
#            out  writes out.tsv, out.gp (for limits.gp) and out.text; nothing where no lesson was counted
# Columns that nothing is known of are left out.

function add_column(name, words) {
    columns++
    column_name[columns] = name
    column_words[columns] = words
}

# What one lesson uses of a column's limit, in percent; -1 where it is not known.
function share(i, column,    bytes) {
    if (column_name[column] == "useful|FLOP/s")
        return fma_tflops ? 100 * lesson_tflops[i] / fma_tflops : -1
    if (column_name[column] == "device|memory") {
        bytes = dram_bytes(i)
        return copy_gbs && bytes >= 0 ? 100 * bytes / lesson_us[i] / 1000 / copy_gbs : -1
    }
    return column_name[column] == "FMA|units" ? counted(i, "sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active") : \
        column_name[column] == "issue|slots" ? counted(i, "smsp__issue_active.avg.pct_of_peak_sustained_active") : \
        column_name[column] == "shared|memory" ? \
        counted(i, "l1tex__data_pipe_lsu_wavefronts_mem_shared.avg.pct_of_peak_sustained_elapsed") : \
        counted(i, "lts__throughput.avg.pct_of_peak_sustained_elapsed")
}

END {
    if (!profiled)
        exit 0
    add_column("useful|FLOP/s", "FLOP/s, of multiply-adds alone")
    add_column("FMA|units", "FMA units busy")
    add_column("issue|slots", "issue slots busy")
    add_column("shared|memory", "shared memory busy")
    add_column("L2|cache", "L2 busy")
    add_column("device|memory", "device memory, of a copy")
    for (j = 1; j <= columns; j++) {
        known = 0
        for (i = 1; i <= lessons; i++)
            known = known || share(i, j) >= 0
        if (known) {
            shown[++shown_count] = j
            head[shown_count] = column_name[j]
            if (narrow)
                sub(/\|memory/, "|mem.", head[shown_count])
        }
    }
    for (i = 1; i <= lessons; i++) {
        if (!(lesson_folder[i] in seen_counters))
            continue
        rows++
        row_name[rows] = lesson_title[i]
        most = 0
        for (j = 1; j <= shown_count; j++)
            if (share(i, shown[j]) > most)
                most = share(i, shown[j])
        text = text (rows > 1 ? "; " : "") lesson_title[i] ":"
        comma = ""
        for (j = 1; j <= shown_count; j++) {
            value = share(i, shown[j])
            if (value < 0)
                continue
            print rows, j, value, sprintf("%.0f %%", value), (value == most) > (out ".tsv")
            text = text comma " " column_words[shown[j]] sprintf(" %.0f %%", value)
            comma = ","
        }
    }
    if (!rows)
        exit 0
    print text > (out ".text")
    set_list("row_name", rows, row_name, 1)
    set_list("head", shown_count, head, 1)
}
