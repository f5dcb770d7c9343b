# The tables of a post. Used by outline.awk; no rules of its own.

function show_table(inner, name, d,    before) {
    before = outs
    in_table_noisy = 0
    if (name ~ /^(ladder|peers)$/ && d ~ /^(64|128)$/) {
        if (name == "ladder")
            print_ladder(d)
        else
            print_peers(d)
    } else if (name == "softmax" && d == "")
        print_softmax()
    else if (name == "single-head" && d == "")
        print_single_head()
    else if (name == "triton" && d == "")
        print_triton()
    else {
        unknown(inner, "table ladder 64|ladder 128|peers 64|peers 128|softmax|single-head|triton")
        return
    }
    if (outs == before)
        left_out("the table " name (d == "" ? "" : " at D=" d) ": results hold nothing for it")
}

function rungs(    i, count, number) {
    count = 0
    for (i = 1; i <= lesson_count; i++) {
        number = substr(lesson_folder[i], 1, 2)
        count += timing(ladder, number, shape(1, 16, 4096, 64)) != "" || timing(ladder, number, shape(1, 16, 4096, 128)) != ""
    }
    return count
}

# Whether there is anything of a kind.
function has(what,    i) {
    if (what == "softmax")
        return softmax_best("unfused_softmax") != ""
    if (what == "peers")
        return peers_run(64) != "" || peers_run(128) != ""
    if (what == "triton") {
        for (i = 1; i <= lesson_count; i++)
            if (common_run(substr(lesson_folder[i], 1, 2), "peer-triton_" lesson_folder[i], shape(1, 16, 4096, 64)) != "")
                return 1
        return 0
    }
    if (what == "profile") {
        for (i in counter)
            return 1
        return 0
    }
    if (what == "ceilings")
        return (ladder, "copy") in ceiling || (ladder, "fma_fp32") in ceiling
    mistake("{{needs " what "}} is not known; it is written {{needs 05|softmax|peers|triton|profile|ceilings}}")
    return 0
}

# In a table of several kinds of kernels: which kind this one is.
function mark(run, number, at) {
    return own_count && name_in(run, number, at) ~ /^solution-/ ? " \\*" : ""
}

# Before a figure of a noisy timing stands a mark, as in the charts.
function about(noise_of_it, noise_of_other) {
    if (noise_of_it != "noisy" && noise_of_other != "noisy")
        return ""
    any_noisy = in_table_noisy = 1
    return "~"
}

function noisy_remark(    text) {
    text = in_table_noisy ? " ~ marks noisy timings." : ""
    in_table_noisy = 0
    return text
}

function remarks() {
    return (own_count ? " Own kernels; \\* the solution stands in for one." : "") noisy_remark()
}

function print_ladder(d,    at, i, number, before, first, key) {
    at = shape(1, 16, 4096, d)
    first = before = ""
    if (!rungs_at(at))
        return
    emit("| kernel, D=" d " | time | TFLOP/s | of peak | step | in all |")
    emit("|---|--:|--:|--:|--:|--:|")
    for (i = 1; i <= lesson_count; i++) {
        number = substr(lesson_folder[i], 1, 2)
        key = timing(ladder, number, at)
        if (key == "") {
            emit("| " title_of(number) " | not measured | - | - | - | - |")
            before = ""
            continue
        }
        if (i == 1)
            first = key
        emit("| " title_of(number) mark(ladder, number, at) " | " timed_as(key) " | " rated_as(key) \
            " | " (ladder in peak ? about(noise[key]) percent(rate[key] / peak[ladder]) : "-") \
            " | " (before == "" ? "-" : ratio_as(before, key)) \
            " | " (first == "" || first == key ? "-" : ratio_as(first, key)) " |")
        before = key
    }
    emit("")
    emit("*One batch of 16 heads, N=4096, fp32, no mask. Of peak: of what all fp32 units could do. Step: times as fast as the " \
        "kernel before it; in all: as the first. " measured_in(ladder) remarks() "*")
    emit("")
}

function timed_as(key) {
    return about(noise[key]) as_time(time_us[key])
}

function rated_as(key) {
    return about(noise[key]) short(rate[key])
}

# How many times as fast the second is as the first.
function ratio_as(from, to) {
    return about(noise[from], noise[to]) times(time_us[from] / time_us[to])
}

function rungs_at(at,    i, count) {
    count = 0
    for (i = 1; i <= lesson_count; i++)
        count += timing(ladder, substr(lesson_folder[i], 1, 2), at) != ""
    return count
}

# ---- Beside the libraries --------------------------------------------------------------------------------------------------

# What a reader would use instead; Triton kernels have a table of their own.
function is_library(who) {
    return who ~ /^(peer|baseline)-/ && who !~ /^peer-triton_/
}

function last_in(run, at,    i) {
    for (i = lesson_count; i >= 1; i--)
        if (timing(run, substr(lesson_folder[i], 1, 2), at) != "")
            return substr(lesson_folder[i], 1, 2)
    return ""
}

# The newest run that has a library and a lesson at this shape, or "".
function library_run(at,    i, j, best) {
    best = ""
    for (i = 1; i <= runs; i++)
        for (j = 1; j <= timed_count; j++)
            if (is_library(timed[j]) && (run_name[i], timed[j], at) in time_us && last_in(run_name[i], at) != "" && \
                (best == "" || run_date[run_name[i]] >= run_date[best]))
                best = run_name[i]
    return best
}

function peers_run(d) {
    return library_run(shape(1, 16, 4096, d))
}

function library_name(who) {
    if (who == "baseline-cublas_unfused")
        return "cuBLAS and a softmax, three kernels"
    if (who == "peer-torch_unfused")
        return "PyTorch, unfused"
    if (who == "peer-torch_efficient")
        return "PyTorch, memory-efficient"
    if (who == "peer-torch_cudnn")
        return "PyTorch, cuDNN"
    sub(/^peer-torch_/, "PyTorch, ", who)
    sub(/^(peer|baseline)-/, "", who)
    gsub(/_/, " ", who)
    return who
}

function print_peers(d,    at, run, last, i, j, count, list, swap, key, own) {
    at = shape(1, 16, 4096, d)
    run = library_run(at)
    if (run == "")
        return
    last = last_in(run, at)
    own = timing(run, last, at)
    count = 0
    for (i = 1; i <= timed_count; i++)
        if (is_library(timed[i]) && (run, timed[i], at) in time_us)
            list[++count] = timed[i]
    for (i = 2; i <= count; i++)
        for (j = i; j > 1 && time_us[run, list[j], at] < time_us[run, list[j - 1], at]; j--) {
            swap = list[j]
            list[j] = list[j - 1]
            list[j - 1] = swap
        }
    emit("| D=" d " | time | TFLOP/s | " last " against it |")
    emit("|---|--:|--:|--:|")
    emit("| " title_of(last) mark(run, last, at) " | " timed_as(own) " | " rated_as(own) " | - |")
    for (i = 1; i <= count; i++) {
        key = run SUBSEP list[i] SUBSEP at
        emit("| " library_name(list[i]) " | " timed_as(key) " | " rated_as(key) " | " ratio_as(key, own) " |")
    }
    emit("")
    emit("*One batch of 16 heads, N=4096, fp32, no mask. " measured_in(run) remarks() "*")
    emit("")
}

function print_single_head(    i, j, at, run, last, own, best, key, shown_run, shown) {
    shown_run = ""
    for (i = 1; i <= shapes; i++) {
        if (shape_h[i] != 1)
            continue
        at = shape(1, 1, shape_n[i], shape_d[i])
        run = library_run(at)
        if (run == "")
            continue
        last = last_in(run, at)
        if (shown_run == "") {
            shown = last
            emit("| N × D | " shown " | fastest library | its time | " shown " against it |")
            emit("|---|--:|---|--:|--:|")
        }
        shown_run = run
        best = ""
        for (j = 1; j <= timed_count; j++) {
            key = run SUBSEP timed[j] SUBSEP at
            if (is_library(timed[j]) && key in time_us && (best == "" || time_us[key] < time_us[run, best, at]))
                best = timed[j]
        }
        own = timing(run, last, at)
        key = run SUBSEP best SUBSEP at
        # Where another lesson was the last one timed, its number stands before its time.
        emit("| " shape_n[i] nbsp() "×" nbsp() shape_d[i] " | " (last == shown ? "" : last ": ") timed_as(own) \
            " | " library_name(best) " | " timed_as(key) " | " ratio_as(key, own) " |")
    }
    if (shown_run == "")
        return
    emit("")
    emit("*One batch of one head, fp32, no mask. " measured_in(shown_run) remarks() "*")
    emit("")
}

function print_triton(    i, number, who, at, run, own, key, shown_run) {
    shown_run = ""
    at = shape(1, 16, 4096, 64)
    for (i = 1; i <= lesson_count; i++) {
        number = substr(lesson_folder[i], 1, 2)
        who = "peer-triton_" lesson_folder[i]
        run = common_run(number, who, at)
        if (run == "")
            continue
        if (shown_run == "") {
            emit("| the same idea | CUDA | Triton | CUDA against Triton |")
            emit("|---|--:|--:|--:|")
        }
        shown_run = run
        own = timing(run, number, at)
        key = run SUBSEP who SUBSEP at
        emit("| " title_of(number) mark(run, number, at) " | " timed_as(own) " | " timed_as(key) " | " ratio_as(key, own) " |")
    }
    if (shown_run == "")
        return
    emit("")
    emit("*One batch of 16 heads, N=4096, D=64, fp32, no mask. " measured_in(shown_run) remarks() "*")
    emit("")
}

# ---- The row softmax ---------------------------------------------------------------------------------------------------------

# A learner's own file, or the solution that stands in for it.
function softmax_name(run,    i, found) {
    found = ""
    for (i = 1; i <= lesson_count; i++) {
        if ((run, "lesson-" lesson_folder[i]) in softmax_timed)
            return "lesson-" lesson_folder[i]
        if ((run, "solution-" lesson_folder[i]) in softmax_timed)
            found = "solution-" lesson_folder[i]
    }
    return found
}

# The run that has the row softmax and `rival`: one with a learner's own before others, one of make bench, which the chart
# shows, before one with peers, then the newest.
function softmax_best(rival,    i, run, name, best, own, best_own) {
    best = ""
    best_own = 0
    for (i = 1; i <= runs; i++) {
        run = run_name[i]
        name = softmax_name(run)
        own = 2 * (name ~ /^lesson-/) + !(run in softmax_peers)
        if (name != "" && (rival == "" || (run, rival) in softmax_timed) && \
            (best == "" || own > best_own || own == best_own && run_date[run] >= run_date[best])) {
            best = run
            best_own = own
        }
    }
    return best
}

function softmax_figure(kind, key, rival,    run, name, noisy) {
    if (kind == "speedup" && rival == "")
        rival = "unfused_softmax"
    run = softmax_best(rival)
    name = softmax_name(run)
    if (!((run, name, key) in softmax_us))
        return ""
    noisy = about(softmax_noise[run, name, key])
    if (kind == "time")
        return noisy as_time(softmax_us[run, name, key])
    if (kind == "rate")
        return noisy with_unit(sprintf("%.0f", softmax_rate[run, name, key]), "GB/s")
    if (kind == "share")
        return copy_rate[run, key] > 0 ? noisy percent(softmax_rate[run, name, key] / copy_rate[run, key]) : ""
    if (!((run, rival, key) in softmax_us))
        return ""
    return about(softmax_noise[run, name, key], softmax_noise[run, rival, key]) \
        times(softmax_us[run, rival, key] / softmax_us[run, name, key])
}

function print_softmax(    i, run, name, key, head, rival) {
    rival = "unfused_softmax"
    run = softmax_best(rival)
    if (run == "")
        return
    name = softmax_name(run)
    emit("| rows × columns | five passes | fused | speed-up | GB/s | of a copy |")
    emit("|---|--:|--:|--:|--:|--:|")
    for (i = 1; i <= matrices; i++) {
        key = matrix[i]
        if (!((run, name, key) in softmax_us))
            continue
        head = key
        sub(/x/, nbsp() "×" nbsp(), head)
        emit("| " head " | " ((run, rival, key) in softmax_us ? \
            about(softmax_noise[run, rival, key]) as_time(softmax_us[run, rival, key]) " | " softmax_figure("time", key, rival) \
            " | " softmax_figure("speedup", key, rival) : "- | " softmax_figure("time", key, rival) " | -") \
            " | " about(softmax_noise[run, name, key]) sprintf("%.0f", softmax_rate[run, name, key]) \
            " | " (copy_rate[run, key] > 0 ? softmax_figure("share", key, rival) : "-") " |")
    }
    emit("")
    emit("*fp32; one read and one write counted. " measured_in(run) (own_count && name ~ /^solution-/ ? " The solution." : "") \
        noisy_remark() "*")
    emit("")
}
