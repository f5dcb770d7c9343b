# The fastest solution beside PyTorch's paths and the baseline, from the run of `make peers`:
#     awk -v what=attention -f csv.awk -f compared.awk attention.csv        (or softmax)
#
# Out, tab-separated: "#" name value for what is true of the whole run, then, "-" where there is none,
#     attention: shape  mask  folder  us  tflops  best_torch  us  efficient_us  baseline_us  noise          fp32, cold
#     softmax:   rows  columns  us  gb_per_s  copy_gb_per_s  torch_us  unfused_torch_us  noise
# Only what a run timed both ways is printed; the run is the newest of those with the most such shapes.

BEGIN {
    OFS = "\t"
}

FNR == 1 {
    next
}

get("lesson") !~ /^(solution-|peer-torch_|baseline-)/ || get("dtype") != "fp32" || !is_usual() || \
what == "attention" && get("cache") == "warm" {
    next
}

{
    name = get("lesson")
    way = name ~ /^solution-/ ? "solution" : name ~ /^peer-/ ? "torch" : "baseline"
    if (what == "softmax" && name == "peer-torch_unfused_softmax")
        way = "unfused"
    if (what == "attention")
        case_name = get("B") "," get("H") "," get("Nq") (get("Nk") == get("Nq") ? "" : ":" get("Nk")) "," get("D") OFS \
            (get("causal") == 1 ? "causal" : "full")
    else
        case_name = get("rows") OFS get("columns")
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
    note(run, way, case_name, name)
    if (name == "peer-torch_efficient")
        note(run, "efficient", case_name, name)
    note_facts(run)
}

# Of several of one way the fastest counts.
function note(run, way, case_name, name,    key) {
    key = run SUBSEP way SUBSEP case_name
    if (key in time_us && time_us[key] <= get("median_us") + 0)
        return
    time_us[key] = get("median_us") + 0
    who[key] = name
    rate[key] = get(what == "attention" ? "tflops" : "gb_per_s")
    noisy[key] = get("noise") == "noisy"
    if (what == "softmax")
        copy[key] = get("copy_gb_per_s")
}

function is_compared(run, i) {
    return (run, "solution", cases[i]) in time_us && (run, "torch", cases[i]) in time_us
}

function compared(run,    i, count) {
    count = 0
    for (i = 1; i <= case_count; i++)
        count += is_compared(run, i)
    return count
}

function us(run, way, i) {
    return (run, way, cases[i]) in time_us ? time_us[run, way, cases[i]] : "-"
}

function noise(run, i) {
    return noisy[run, "solution", cases[i]] || noisy[run, "torch", cases[i]] ? "noisy" : "steady"
}

END {
    if (csv_failed)
        exit 2
    best_score = 0
    for (i = 1; i <= run_count; i++) {
        this_score = compared(runs[i])
        if (this_score > best_score || this_score > 0 && this_score == best_score && newer(runs[i], best)) {
            best = runs[i]
            best_score = this_score
        }
    }
    if (best_score == 0)
        exit 0
    print_facts(best, "run date device driver cuda commit clock_low clock_high")
    for (i = 1; i <= case_count; i++) {
        if (!is_compared(best, i))
            continue
        own = best SUBSEP "solution" SUBSEP cases[i]
        if (what == "attention")
            print cases[i], substr(who[own], 10), time_us[own], rate[own], substr(who[best, "torch", cases[i]], 12), \
                us(best, "torch", i), us(best, "efficient", i), us(best, "baseline", i), noise(best, i)
        else
            print cases[i], time_us[own], rate[own], copy[own], us(best, "torch", i), us(best, "unfused", i), noise(best, i)
    }
}
