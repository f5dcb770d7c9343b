# Triton kernels beside the solutions of the same lessons, timed in one run:
#     awk -v what=attention -f csv.awk -f beside.awk attention.csv        (or softmax)
#
# Out, tab-separated: "#" name value for what is true of the whole run, then
#     attention: folder  D  solution_us  triton_us  noise                     at B=1 H=16 N=4096, fp32, no mask, cold
#     softmax:   folder  rows  columns  solution_us  solution_gb_per_s  triton_us  triton_gb_per_s  noise
# Only what a run timed both ways is printed; the run is the newest of those with the most such pairs.

BEGIN {
    OFS = "\t"
}

FNR == 1 {
    next
}

get("lesson") !~ /^(solution-|peer-triton_)[0-9][0-9]_/ || get("dtype") != "fp32" || !is_usual() {
    next
}

what == "attention" && (get("B") != 1 || get("H") != 16 || get("Hkv") != 16 || get("Nq") != 4096 || \
get("Nk") != 4096 || (get("D") != 64 && get("D") != 128) || get("causal") != 0 || get("cache") == "warm") {
    next
}

{
    way = get("lesson") ~ /^peer-/ ? "triton" : "solution"
    folder = get("lesson")
    sub(/^(solution-|peer-triton_)/, "", folder)
    case_name = folder OFS (what == "attention" ? get("D") : get("rows") OFS get("columns"))
    if (!(case_name in known_case)) {
        known_case[case_name] = 1
        cases[++case_count] = case_name
    }
    run = get("run")
    if (!(run in run_date))
        runs[++run_count] = run
    if (get("date") > run_date[run])
        run_date[run] = get("date")
    run_row[run] = FNR
    time_us[run, way, case_name] = get("median_us")
    if (what == "softmax")
        rate[run, way, case_name] = get("gb_per_s")
    if (get("noise") == "noisy")
        noisy[run, case_name] = 1
    note_facts(run)
}

function is_pair(run, i) {
    return (run, "solution", cases[i]) in time_us && (run, "triton", cases[i]) in time_us
}

function pairs(run,    i, count) {
    count = 0
    for (i = 1; i <= case_count; i++)
        count += is_pair(run, i)
    return count
}

# A median with, for the softmax, its GB/s.
function timing(run, way, i) {
    return time_us[run, way, cases[i]] (what == "softmax" ? OFS rate[run, way, cases[i]] : "")
}

END {
    if (csv_failed)
        exit 2
    best_score = 0
    for (i = 1; i <= run_count; i++) {
        this_score = pairs(runs[i])
        if (this_score > best_score || this_score > 0 && this_score == best_score && newer(runs[i], best)) {
            best = runs[i]
            best_score = this_score
        }
    }
    if (best_score == 0)
        exit 0
    print_facts(best, "run date device driver cuda commit clock_low clock_high")
    for (i = 1; i <= case_count; i++)
        if (is_pair(best, i))
            print cases[i], timing(best, "solution", i), timing(best, "triton", i), \
                ((best, cases[i]) in noisy ? "noisy" : "steady")
}
