# Reads the results of one GPU and finds figures in them. Used by outline.awk; its rules go before those of the outline.
#
#     part=lessons FILE     folder  files..., one lesson a line
#     part=attention CSV, part=softmax CSV, part=profile CSV, part=ceilings CSV
# Variable: ladder  the run that the ladder is taken from
#
# A figure that is compared with another comes from the same run as the other: from the ladder's where that has both, else
# from the newest run that has both.

part == "lessons" {
    lesson_count++
    split($0, word, " ")
    lesson_folder[lesson_count] = word[1]
    lesson_number[substr(word[1], 1, 2)] = word[1]
    next
}

part ~ /^(attention|softmax|profile|ceilings)$/ && FNR == 1 {
    split("", column)
    fields = split($0, name, ",")
    for (i = 1; i <= fields; i++)
        column[name[i]] = i
    next
}

part ~ /^(attention|softmax|profile|ceilings)$/ {
    split($0, cell, ",")
}

# Rows of warm runs are left to the charts.
part == "attention" && (value("dtype") != "fp32" || value("causal") != 0 || value("Nq") != value("Nk") || \
value("Hkv") != value("H") || value("cache") == "warm") {
    next
}

part == "attention" {
    run = value("run")
    note_run(run)
    who = value("lesson")
    key = run SUBSEP who SUBSEP shape(value("B"), value("H"), value("Nq"), value("D"))
    if (!(who in is_timed)) {
        is_timed[who] = 1
        timed[++timed_count] = who
    }
    time_us[key] = value("median_us")
    rate[key] = value("tflops")
    noise[key] = value("noise")
    if (value("peak_tflops") > 0)
        peak[run] = value("peak_tflops")
    if (who ~ /^lesson-/)
        own_count++
    if (!((value("H"), value("Nq"), value("D")) in is_shape) && value("B") == 1) {
        is_shape[value("H"), value("Nq"), value("D")] = 1
        shape_h[++shapes] = value("H")
        shape_n[shapes] = value("Nq")
        shape_d[shapes] = value("D")
    }
    next
}

part == "softmax" {
    run = value("run")
    note_run(run)
    key = value("rows") "x" value("columns")
    softmax_us[run, value("lesson"), key] = value("median_us")
    softmax_rate[run, value("lesson"), key] = value("gb_per_s")
    softmax_timed[run, value("lesson")] = 1
    if (value("lesson") ~ /^peer-/)
        softmax_peers[run] = 1
    copy_rate[run, key] = value("copy_gb_per_s")
    softmax_noise[run, value("lesson"), key] = value("noise")
    if (!(key in is_matrix)) {
        is_matrix[key] = 1
        matrix[++matrices] = key
    }
    next
}

part == "profile" {
    if (value("B") == 1 && value("H") == 16 && value("Nq") == 4096 && value("Nk") == 4096 && value("causal") == 0)
        counter[value("lesson"), value("D"), value("metric")] = counted(value("value"), value("unit"))
    next
}

part == "ceilings" {
    ceiling[value("run"), value("what")] = with_unit(short(value("median")), value("unit"))
    next
}

function value(name) {
    return name in column ? cell[column[name]] : ""
}

function shape(b, h, n, d) {
    return b + 0 SUBSEP h + 0 SUBSEP n + 0 SUBSEP d + 0
}

function note_run(run,    clock, i) {
    if (!(run in run_date))
        run_name[++runs] = run
    if (value("date") > run_date[run])
        run_date[run] = value("date")
    device = value("device")
    fact[run, "sms"] = value("sm_count")
    fact[run, "driver"] = value("driver")
    fact[run, "cuda"] = value("cuda")
    fact[run, "commit"] = value("commit")
    for (i = 1; i <= 2; i++) {
        clock = value(i == 1 ? "sm_clock_before_mhz" : "sm_clock_after_mhz") + 0
        if (clock > 0 && (!((run, "low") in fact) || clock < fact[run, "low"]))
            fact[run, "low"] = clock
        if (clock > 0 && clock > fact[run, "high"])
            fact[run, "high"] = clock
    }
}

function clock_of(run) {
    return !((run, "low") in fact) ? "" : fact[run, "low"] == fact[run, "high"] ? \
        with_unit(fact[run, "low"], "MHz") : fact[run, "low"] " to " with_unit(fact[run, "high"], "MHz")
}

# The name in results of a lesson of this run, a learner's own file before the solution; peers have their own names.
function name_in(run, who, at) {
    if (who !~ /^[0-9][0-9]$/)
        return who
    if ((run SUBSEP "lesson-" lesson_number[who] SUBSEP at) in time_us)
        return "lesson-" lesson_number[who]
    return "solution-" lesson_number[who]
}

function timing(run, who, at,    key) {
    key = run SUBSEP name_in(run, who, at) SUBSEP at
    return key in time_us ? key : ""
}

# The run that has a timing of both at this shape, or "".
function common_run(a, b, at,    i, best) {
    if (timing(ladder, a, at) != "" && timing(ladder, b, at) != "")
        return ladder
    best = ""
    for (i = 1; i <= runs; i++)
        if (timing(run_name[i], a, at) != "" && timing(run_name[i], b, at) != "" && \
            (best == "" || run_date[run_name[i]] >= run_date[best]))
            best = run_name[i]
    return best
}

# The first or the last lesson that the ladder's run has at the reference size.
function rung_at(end,    i, number, found) {
    found = ""
    for (i = 1; i <= lesson_count; i++) {
        number = substr(lesson_folder[i], 1, 2)
        if (timing(ladder, number, shape(1, 16, 4096, 64)) != "" || timing(ladder, number, shape(1, 16, 4096, 128)) != "") {
            if (end == "first" && found != "")
                break
            found = number
        }
    }
    return found
}

# Whether the figures of a lesson in the ladder are those of a learner's own file.
function is_own(number) {
    return name_in(ladder, number, shape(1, 16, 4096, 64)) ~ /^lesson-/ || \
        name_in(ladder, number, shape(1, 16, 4096, 128)) ~ /^lesson-/
}

function title_of(number,    text) {
    text = lesson_number[number]
    gsub(/_/, " ", text)
    return text
}
