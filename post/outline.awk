# Turns an outline into the Markdown of a post: every placeholder is replaced by what results say.
#
#     awk -v ladder=RUN -f numbers.awk -f results.awk -f code.awk -f tables.awk -f reproduce.awk -f outline.awk
#         part=lessons FILE part=attention CSV ... part=charts TSV part=outline OUTLINE.md
# Variable: figures  a file for the paths of the drawings that are shown
#
# What the placeholders are says README.md. A line of the outline is a sentence: one with a figure that was not measured is
# left out, and a heading with nothing left below it, too; each time a line on stderr says so. Exit status 2, with file and
# line of each mistake: an unknown placeholder, a figure written by hand, a mark-up that the page could not hold.

# charts.tsv: name, heading, caption, text alternative; a fifth field is a remark for the caption.
part == "charts" {
    fields = split($0, word, "\t")
    chart[++charts] = word[1]
    chart_caption[word[1]] = word[3] (fields > 4 ? " " word[5] : "")
    chart_text[word[1]] = word[4]
    next
}

part != "outline" {
    next
}

FNR == 1 {
    outline = FILENAME
}

# ---- The lines of the outline ------------------------------------------------------------------------------------------

# Comments of HTML are for the writer.
!fenced && (in_comment || /^<!--/) {
    in_comment = $0 !~ /-->/
    next
}

/^```/ {
    fenced = !fenced
}

fenced || /^```/ {
    check_figure($0)
    if (!skipping)
        emit($0)
    next
}

/^#+ / {
    match($0, /^#+/)
    if (!skipping || RLENGTH <= skip_level) {
        skipping = 0
        level = RLENGTH
        heading_at = outs + 1
    }
}

skipping {
    check($0)
    next
}

{
    check($0)
    if ($0 ~ /^{{[^{}]*}}$/ && is_block(substr($0, 3, length($0) - 4)))
        next
    line = resolved($0)
    if (no_data != "" && !wrong_line) {
        if ($0 ~ /^#/)
            skip_section("there is no {{" no_data "}}")
        else
            left_out("the sentence: " device " has no {{" no_data "}}")
    } else
        emit(line)
}

function complain(text) {
    printf "%s:%d: %s\n", FILENAME, FNR, text > "/dev/stderr"
}

function mistake(text) {
    complain(text)
    mistakes++
    wrong_line = FNR
}

function left_out(text) {
    complain("left out " text)
}

# The section that the last heading began is not shown.
function skip_section(why) {
    left_out("this section: " why)
    outs = heading_at - 1
    skipping = 1
    skip_level = level
}

function emit(text) {
    out[++outs] = text
}

function check_figure(text,    figure) {
    figure = literal_figure(text)
    if (figure != "")
        mistake("'" figure "' is a figure written by hand; a figure comes from results/ by a placeholder (post/README.md)")
}

function check(text,    bare) {
    wrong_line = 0
    bare = text
    gsub(/{{[^{}]*}}/, "", bare)
    if (bare ~ /{{|}}/)
        mistake("a placeholder is written {{name ...}}, on one line")
    check_figure(bare)
    gsub(/`[^`]*`/, "", bare)
    if (bare ~ /<[A-Za-z\/!]/)
        mistake("HTML cannot be used here; write Markdown")
    if (bare ~ /!\[/)
        mistake("a picture is written {{chart NAME}} or {{figure FILE.svg}}")
}

# The line with its placeholders replaced; no_data is then the first of them that has none.
function resolved(text,    before, inner, answer, result) {
    no_data = ""
    result = ""
    while (match(text, /{{[^{}]*}}/)) {
        before = substr(text, 1, RSTART - 1)
        inner = substr(text, RSTART + 2, RLENGTH - 4)
        text = substr(text, RSTART + RLENGTH)
        answer = figure_of(inner)
        if (answer == "" && no_data == "")
            no_data = inner
        result = result before answer
    }
    return result text
}

# ---- Placeholders within a sentence --------------------------------------------------------------------------------------

# A lesson's number, `first`, `last`, or the name of a peer; "" where it is none of them.
function who_of(text) {
    if (text == "first" || text == "last")
        return rung_at(text)
    return text ~ /^([0-9][0-9]|(peer|baseline)-[a-z0-9_]+)$/ ? text : ""
}

# "D [N]" at word i: the shape; "" where they are no numbers.
function shape_of(word, i, words) {
    if (words < i || words > i + 1 || word[i] !~ /^[0-9]+$/ || words > i && word[i + 1] !~ /^[0-9]+$/)
        return ""
    return shape(1, 16, words > i ? word[i + 1] : 4096, word[i])
}

function unknown(inner, form) {
    mistake("{{" inner "}} is not known" (form == "" ? "; post/README.md lists what there is" : "; it is written {{" form "}}"))
    return ""
}

function figure_of(inner,    word, words, kind) {
    words = split(inner, word, " ")
    kind = word[1]
    if (kind ~ /^(device|sms|driver|cuda|clock|date|commit|count|peak)$/)
        return words == 1 ? of_the_run(kind) : unknown(inner, kind)
    if (kind == "title" || kind == "counter")
        return words != (kind == "title" ? 2 : 4) || word[2] !~ /^([0-9][0-9]|first|last)$/ ? \
            unknown(inner, kind == "title" ? "title 04" : "counter 04 64 METRIC") : \
            kind == "title" ? title_of(who_of(word[2])) : counter_of(who_of(word[2]), word[3], word[4])
    if (kind == "time" || kind == "tflops" || kind == "share")
        return figure_of_one(inner, kind, word, words)
    if (kind == "speedup")
        return speedup_of(inner, word, words)
    if (kind == "ceiling")
        return words != 2 || word[2] !~ /^(copy|fma_fp32)$/ ? unknown(inner, "ceiling copy|fma_fp32") : \
            (ladder, word[2]) in ceiling ? ceiling[ladder, word[2]] : ""
    if (kind == "softmax")
        return words < 3 || words > 4 || word[2] !~ /^(time|rate|share|speedup)$/ || word[3] !~ /^[0-9]+x[0-9]+$/ ? \
            unknown(inner, "softmax time|rate|share|speedup ROWSxCOLUMNS") : softmax_figure(word[2], word[3], word[4])
    return unknown(inner, "")
}

function of_the_run(kind) {
    if (kind == "device")
        return device
    if (kind == "clock")
        return clock_of(ladder)
    if (kind == "date")
        return substr(run_date[ladder], 1, 10)
    if (kind == "count")
        return rungs() ? in_words(rungs()) : ""
    if (kind == "peak")
        return ladder in peak ? with_unit(short(peak[ladder]), "TFLOP/s") : ""
    return fact[ladder, kind]
}

function figure_of_one(inner, kind, word, words,    who, at, key, run) {
    who = who_of(word[2])
    at = shape_of(word, 3, words)
    if (at == "" || who == "" && word[2] !~ /^(first|last)$/)
        return unknown(inner, kind " 04 64 [N]")
    run = common_run(who, who, at)
    key = timing(run, who, at)
    if (key == "")
        return ""
    if (kind == "time")
        return timed_as(key)
    if (kind == "tflops")
        return with_unit(rated_as(key), "TFLOP/s")
    return run in peak ? about(noise[key]) percent(rate[key] / peak[run]) : ""
}

function speedup_of(inner, word, words,    who, over, at, run) {
    who = who_of(word[2])
    over = who_of(word[3])
    at = shape_of(word, 4, words)
    if (at == "" || who == "" && word[2] !~ /^(first|last)$/ || over == "" && word[3] !~ /^(first|last)$/)
        return unknown(inner, "speedup 04 03 64 [N]")
    run = common_run(who, over, at)
    return run == "" ? "" : ratio_as(timing(run, over, at), timing(run, who, at))
}

function counter_of(number, d, metric,    name) {
    name = (is_own(number) ? "lesson-" : "solution-") lesson_number[number]
    return (name, d, metric) in counter ? counter[name, d, metric] : ""
}

# ---- Placeholders that stand alone on a line -------------------------------------------------------------------------------

function is_block(inner,    word, words) {
    words = split(inner, word, " ")
    if (word[1] == "chart" && words == 2)
        show_chart(word[2])
    else if (word[1] == "charts" && words == 1)
        rest_at = outs + 1
    else if (word[1] == "figure" && words == 2)
        show_figure(word[2])
    else if (word[1] == "code" && words >= 2 && words <= 4 && word[2] ~ /^[0-9][0-9]$/)
        show_code(inner, word, words)
    else if (word[1] == "table" && words >= 2)
        show_table(inner, word[2], word[3])
    else if (word[1] == "needs" && words == 2)
        needs(word[2])
    else if (word[1] == "reproduce" && words == 1)
        print_reproduce()
    else if (word[1] ~ /^(chart|charts|figure|code|table|needs|reproduce)$/)
        unknown(inner, "chart NAME|charts|figure FILE.svg|code 04 [FILE.cu] [BLANK]|table NAME|needs NAME|reproduce")
    else
        return 0
    return 1
}

# A text in which nothing is mark-up.
function plain(text) {
    gsub(/[][*_`<\\]/, "\\\\&", text)
    return text
}

function show_chart(name) {
    if (!(name in chart_text)) {
        left_out("the chart " name ": plots/draw made none from these results")
        return
    }
    shown[name] = 1
    emit("![" plain(chart_text[name]) "](" name ".png)")
    emit("")
    if (chart_caption[name] != "")
        emit("*" plain(chart_caption[name]) "*")
    emit("")
}

# The title of a drawing is its text alternative.
function show_figure(path,    line, title) {
    title = ""
    while ((getline line < path) > 0)
        if (title == "" && line ~ /<title/) {
            title = line
            gsub(/.*<title[^>]*>|<\/title>.*/, "", title)
        }
    close(path)
    if (path !~ /\.svg$/ || title == "") {
        mistake("{{figure " path "}}: there is no such SVG with a title")
        return
    }
    print path > figures
    sub(/.*\//, "", path)
    emit("![" title "](" path ")")
    emit("")
}

function show_code(inner, word, words,    number, file, blank, path, own, i, before, from) {
    number = word[2]
    if (!(number in lesson_number)) {
        left_out("the lines of lesson " number ": there is no such lesson")
        return
    }
    file = "attention.cu"
    blank = ""
    for (i = 3; i <= words; i++)
        if (word[i] ~ /^[0-9]+$/)
            blank = word[i] + 0
        else
            file = word[i]
    own = is_own(number)
    path = (own ? "lessons/" : "solutions/") lesson_number[number] "/" file
    if (own && !snippet(path, blank)) {
        complain("TODO " blank " is not marked in " path "; the solution's lines are shown")
        path = "solutions/" lesson_number[number] "/" file
        own = 0
    }
    before = ""
    for (i = 2; i <= lesson_count; i++)
        if (lesson_folder[i] == lesson_number[number])
            before = "solutions/" lesson_folder[i - 1] "/" file
    if (!own && !snippet(path, blank) && (blank != "" || before == "" || !difference(before, path))) {
        mistake("{{" inner "}}: " path " has no such lines")
        return
    }
    emit("```cuda")
    emit(substr(snippet_text, 1, length(snippet_text) - 1))
    emit("```")
    emit("")
    from = snippet_first == snippet_last ? "line " snippet_first : "lines " snippet_first " to " snippet_last
    emit("*From `" path "`, " from (own ? "; an own kernel" : "") ".*")
    emit("")
}

function needs(what) {
    if (what ~ /^[0-9][0-9]$/ ? !(what in lesson_number) : !has(what))
        skip_section(what ~ /^[0-9][0-9]$/ ? "there is no lesson " what : "results hold no " what)
}

# ---- The end -----------------------------------------------------------------------------------------------------------------

function heading_level(i) {
    return match(out[i], /^#+ /) ? RLENGTH - 1 : 0
}

END {
    if (rest_at) {
        kept = outs
        for (i = 1; i <= charts; i++)
            if (!(chart[i] in shown))
                show_chart(chart[i])
        for (i = kept + 1; i <= outs; i++)
            rest[i - kept] = out[i]
        count = outs - kept
        for (i = kept; i >= rest_at; i--)
            out[i + count] = out[i]
        for (i = 1; i <= count; i++)
            out[rest_at + i - 1] = rest[i]
    }
    if (mistakes)
        exit 2
    fence = 0
    for (i = 1; i <= outs; i++) {
        in_code[i] = fence || out[i] ~ /^```/
        if (out[i] ~ /^```/)
            fence = !fence
    }
    # From the last one: whether anything stands below a heading.
    for (i = outs; i >= 1; i--) {
        own_level = in_code[i] ? 0 : heading_level(i)
        if (!own_level)
            continue
        filled = 0
        for (j = i + 1; j <= outs && !filled; j++) {
            if (!in_code[j] && heading_level(j) && heading_level(j) <= own_level)
                break
            filled = out[j] ~ /[^ \t]/
        }
        if (!filled) {
            print outline ": left out the heading '" out[i] "': nothing is left below it" > "/dev/stderr"
            out[i] = ""
        }
    }
    for (i = 1; i <= outs; i++)
        if (out[i] != "" || last_line != "" && i < outs) {
            print out[i]
            last_line = out[i]
        }
}
