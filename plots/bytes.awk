# Bytes predicted against bytes counted: awk -f figures.awk -f joined.awk -f bars.awk -f bytes.awk part=... (see
# joined.awk) part=predicted FILE
#
# FILE has a line "folder  D  bytes" for each prediction of a lesson's page: what its loads from global memory ask for.
# Variables: d    the head dimension
#            out  writes out.tsv and out.gp, for bars.gp, and out.text; nothing where no lesson was counted
# Loads, and asynchronous copies with them, are counted in sectors of 32 bytes, each once for a warp that asks for it;
# where sectors were not counted, what came through L2 stands beside the prediction.

BEGIN {
    SECTORS = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
}

part == "predicted" && $2 == d {
    predicted[$1] += $3
}

# A counted bar; its figure is its share of the prediction too, where asked for.
function add_counted(i, label, bytes, hue, compared,    figure, share) {
    if (bytes <= 0)
        return
    figure = bytes_text(bytes)
    share = compared && predicted[lesson_folder[i]] > 0 ? ", " sprintf("%.2f×", bytes / predicted[lesson_folder[i]]) : ""
    # In a narrow chart there is more room before a bar than behind it.
    add_bar(label (narrow ? share : ""), bytes, figure (narrow ? "" : share), hue, "solid", "-")
    text = text ", " label " " figure share
}

END {
    if (!profiled)
        exit 0
    for (i = 1; i <= lessons; i++) {
        if (!(lesson_folder[i] in seen_counters))
            continue
        add_group(lesson_title[i])
        text = text (rows++ ? "; " : "") lesson_title[i] ": "
        if (predicted[lesson_folder[i]] > 0) {
            figure = bytes_text(predicted[lesson_folder[i]])
            add_bar("predicted", predicted[lesson_folder[i]], figure, 0, "hollow", "-")
            text = text "predicted " figure
        } else {
            missing = missing (missing == "" ? "" : ", ") lesson_folder[i]
            text = text "not predicted"
        }
        sectors = counted(i, SECTORS) * 32
        add_counted(i, "loaded", sectors, 1, 1)
        add_counted(i, "through L2", counted(i, L2_BYTES), 2, sectors <= 0)
        add_counted(i, "device memory", dram_bytes(i), 3, 0)
    }
    if (missing != "" && d == 64)
        say("lessons/ predict no global_load_bytes for " missing ": no prediction beside what is counted")
    if (!bars)
        exit 0
    finish_bars("log", "B", least / 2.5, "×: what was counted, as a share of what was predicted")
    print text > (out ".text")
}
