# What all charts share: measures, names, figures in words, and settings for gnuplot. Used before a chart's own program.
#
# Variables: kind   "solution", or "lesson" where a learner's own files are charted
#            ideas  a file of lines "folder<TAB>the lesson's idea"
#            width, margin, type  in pixels: of the picture, at its left edge, and of its smallest type
#            quiet  1: what is missing is not said
#            out    out.gp gets the measures

BEGIN {
    OFS = "\t"
    narrow = width < 500
    set("width", width)
    set("margin", margin)
    set("type", type)
    # px() of below, for gnuplot.
    set("px(pixels)", "int(pixels * type / 16.0 + 0.5)")
    set("line_height", px(24))
    while (ideas != "" && (getline ideas_line < ideas) > 0)
        if (split(ideas_line, ideas_part, "\t") == 2)
            idea[ideas_part[1]] = ideas_part[2]
    split("torch_flash PyTorch_flash torch_cudnn PyTorch_cuDNN torch_efficient PyTorch_memory-efficient " \
        "torch_math PyTorch_math torch_unfused PyTorch_unfused cublas_unfused cuBLAS_unfused torch_softmax torch.softmax " \
        "torch_unfused_softmax PyTorch_unfused fa3 FlashAttention-3", figures_word, " ")
    for (figures_i = 1; figures_i in figures_word; figures_i += 2)
        known_title[figures_word[figures_i]] = figures_word[figures_i + 1]
}

# What goes with the type is so many pixels where that has 16, and in proportion elsewhere.
function px(pixels) {
    return int(pixels * type / 16 + 0.5)
}

# "04_tiled_online_softmax" -> "04 tiled online softmax"; a star marks a solution among a learner's own lessons.
function title_of(name, row_kind,    text) {
    text = name in known_title ? known_title[name] : name
    gsub(/_/, " ", text)
    sub(/^triton /, "Triton ", text)
    if (narrow)
        sub(/^Triton [0-9]+ .*/, "Triton", text)
    return text (kind == "lesson" && row_kind == "solution" ? "*" : "")
}

function is_other(row_kind) {
    return row_kind == "peer" || row_kind == "baseline"
}

# Three significant digits, never as a power of ten.
function short(value,    digits, size) {
    digits = 2
    for (size = 10; size <= value * 1.0005 && digits > 0; size *= 10)
        digits--
    if (value < 0.9995)
        digits = value < 0.09995 ? 4 : 3
    return sprintf("%." digits "f", value)
}

# As on an axis: no zeros at the end.
function trimmed(text) {
    if (text ~ /\./)
        sub(/\.?0+$/, "", text)
    return text
}

function times(value) {
    return sprintf(value < 0.95 ? "%.2f×" : value < 99.95 ? "%.1f×" : "%.0f×", value)
}

# A ratio to a rival, where a tenth matters.
function closely(value) {
    return sprintf(value < 9.995 ? "%.2f×" : value < 99.95 ? "%.1f×" : "%.0f×", value)
}

# 225485783040 -> "225 GB", as storage and bandwidths count: in powers of 1000.
function bytes_text(value,    power) {
    for (power = 0; value >= 999.5 && power < 5; power++)
        value /= 1000
    return trimmed(short(value)) " " (power ? substr("kMGTP", power, 1) : "") "B"
}

# About how many pixels a text takes in DejaVu Sans, which is wide. A narrow chart cannot leave room for thin letters as if
# they were others.
function text_width(text,    thin) {
    gsub(/[\200-\277]/, "", text)
    if (!narrow)
        return 0.62 * type * length(text)
    thin = gsub(/[ ,.:;ijlrtfI()|\/-]/, "&", text)
    return type * (0.36 * thin + 0.68 * (length(text) - thin))
}

# A text in lines of at most so many pixels, "line\nline"; what stands behind a semicolon begins one.
function folded(text, room,    words, word, i, line, lines) {
    if (text_width(text) <= room)
        return text
    i = index(text, "; ")
    if (i)
        return folded(substr(text, 1, i), room) "\n" folded(substr(text, i + 2), room)
    words = split(text, word, " ")
    for (i = 1; i <= words; i++)
        if (line != "" && text_width(line " " word[i]) > room) {
            lines = lines line "\n"
            line = word[i]
        } else
            line = line (line == "" ? "" : " ") word[i]
    return lines line
}

function rows_of(text) {
    return gsub(/\n/, "", text) + 1
}

# The places of a legend's texts, from row + 1 on: legend_row[i], legend_column[i]. Two stand in a row, but in a narrow chart
# one that is too long for that stands alone. The last row that is used.
function place_legend(count, text, row, legend_row, legend_column,    i, room, column) {
    room = (width - margin) / 2 - px(44)
    column = 1
    for (i = 1; i <= count; i++) {
        column = column == 1 || narrow && text_width(text[i]) > room ? 0 : 1
        if (column == 0)
            row++
        legend_row[i] = row
        legend_column[i] = column
        if (narrow && text_width(text[i]) > room)
            column = 1
    }
    return row
}

# What a mark for noisy timings means.
function noisy_words() {
    return narrow ? "noisy, over 5 % or at a lower clock" : "noisy, spread over 5 % or at a lower clock"
}

function quoted(text) {
    gsub(/'/, "''", text)
    gsub(/\n/, "'.\"\\n\".'", text)
    return "'" text "'"
}

function set(name, value) {
    print name " = " value > (out ".gp")
}

# name and name_count: as many of the list, as texts or as numbers; gnuplot has no empty arrays.
function set_list(name, count, list, is_text,    i, text) {
    for (i = 1; i <= count; i++)
        text = text (i > 1 ? ", " : "") (is_text ? quoted(list[i]) : list[i])
    set(name "_count", count + 0)
    print "array " name "[" (count ? count : 1) "] = [" (count ? text : 0) "]" > (out ".gp")
}

function say(message) {
    if (!quiet)
        print results ": " message > "/dev/stderr"
}

function log10(value) {
    return log(value) / log(10)
}
