# The 16-bit grid of one run, from an attention.csv: awk -v what=attention -f csv.awk -f grid.awk attention.csv
#
# Variables: kind    "solution", or "lesson" for a learner's own files (a lesson that the run lacks is then stood in for by
#                    the solution that was timed in the same run)
#            dtype   fp16 or bf16
#            causal  0 or 1
# Out, tab-separated: "#" name value for what is true of the whole run, then, as ladder.awk has it for view=sizes,
#     D  number  folder  kind  N  median_us  tflops  peak_tflops  noise
# for each that was timed at two sizes or more. Nothing where no run has any.
#
# Lessons and peers are timed in one run here, so nothing is scaled: that run is the newest of those with the most lessons,
# and of these with the most timings.

BEGIN {
    OFS = "\t"
}

FNR == 1 {
    next
}

!on_grid() || get("dtype") != dtype || get("cache") == "warm" || get("lesson") ~ /^kernel-/ || get("causal") != causal {
    next
}

{
    dash = index(get("lesson"), "-")
    row_kind = substr(get("lesson"), 1, dash - 1)
    folder = substr(get("lesson"), dash + 1)
    if (row_kind == "lesson" && kind != "lesson")
        next
    run = get("run")
    if (!(run in run_date))
        run_name[++runs] = run
    if (get("date") >= run_date[run])
        run_date[run] = get("date")
    run_row[run] = FNR
    run_rows[run]++
    if (row_kind == kind && !((run, folder) in counted_lesson)) {
        counted_lesson[run, folder] = 1
        run_lessons[run]++
    }
    # Lessons in their order, peers behind them in the order of the file.
    name = (row_kind == "lesson" || row_kind == "solution" ? "0 " folder : "1 " sprintf("%06d", FNR) " " folder) " " row_kind
    if (!((row_kind, folder) in name_of)) {
        name_of[row_kind, folder] = name
        add_sorted(name)
        series_kind[name] = row_kind
        series_folder[name] = folder
    }
    name = name_of[row_kind, folder]
    d = get("D") + 0
    n = get("Nq") + 0
    is_d[d] = is_n[n] = 1
    median[run, d, name, n] = get("median_us")
    rate[run, d, name, n] = get("tflops")
    noise[run, d, name, n] = get("noise")
    peak[run, d, name, n] = is_number(get("peak_tflops")) ? get("peak_tflops") : 0
    note_facts(run)
}

function add_sorted(name,    at) {
    for (at = names++; at > 0 && name_list[at] > name; at--)
        name_list[at + 1] = name_list[at]
    name_list[at + 1] = name
}

function better(a, b) {
    if (run_lessons[a] + 0 != run_lessons[b] + 0)
        return run_lessons[a] + 0 > run_lessons[b] + 0
    if (run_rows[a] != run_rows[b])
        return run_rows[a] > run_rows[b]
    return run_date[a] != run_date[b] ? run_date[a] > run_date[b] : run_row[a] > run_row[b]
}

function print_series(run, d, number, name,    n, count) {
    # A learner's own stands in the place of the solution.
    if (series_kind[name] == "solution" && (("lesson", series_folder[name]) in name_of) && \
        (run, series_folder[name]) in counted_lesson && kind == "lesson")
        return
    for (n in is_n)
        count += (run, d, name, n) in rate
    if (count < 2)
        return
    for (n = 1; n <= 2 ^ 20; n *= 2)
        if ((run, d, name, n) in rate)
            print d, number, series_folder[name], series_kind[name], n, median[run, d, name, n], rate[run, d, name, n], \
                peak[run, d, name, n], noise[run, d, name, n]
}

END {
    if (csv_failed)
        exit 2
    if (!runs)
        exit 0
    best = run_name[1]
    for (i = 2; i <= runs; i++)
        if (better(run_name[i], best))
            best = run_name[i]
    if (kind == "lesson" && !run_lessons[best])
        exit 0
    print_facts(best, "run date device sm_count driver cuda commit clock_low clock_high")
    for (i = 1; i <= names; i++)
        for (d = 1; d <= 512; d++)
            if (d in is_d)
                print_series(best, d, i, name_list[i])
}
