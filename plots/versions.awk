# The versions of lesson 07's kernel beside the solution: awk -v what=versions -f csv.awk -f versions.awk versions.csv
#
# Out, tab-separated: "#" name value for what is true of all that is printed, then, fastest first at each shape,
#     B,H,N,D  version  us  tflops  over_solution  registers  spilled_bytes  bank_conflicts  noise
# over_solution is the time over that of the solution in the same run. For each shape the run is the newest of those with
# the most versions, the solution among them.

BEGIN {
    OFS = "\t"
}

FNR == 1 {
    next
}

{
    shape = get("B") "," get("H") "," get("Nq") (get("Nk") == get("Nq") ? "" : ":" get("Nk")) "," get("D")
    run = get("run")
    key = shape SUBSEP run
    if (!(shape in known_shape)) {
        known_shape[shape] = 1
        shapes[++shape_count] = shape
    }
    if (!(key in rows))
        runs_of[shape] = runs_of[shape] " " run
    if (get("version") == "solution")
        solution_us[key] = get("median_us")
    rows[key]++
    row = key SUBSEP rows[key]
    us[row] = get("median_us") + 0
    text[row] = get("tflops") OFS "%s" OFS get("registers") OFS (get("spill_stores") + get("spill_loads")) OFS \
        get("bank_conflicts") OFS get("noise")
    version[row] = get("version")
    if (get("date") > date[key])
        date[key] = get("date")
    facts[key] = get("device") OFS get("driver") OFS get("cuda") OFS get("commit")
    note_clock(key, get("sm_clock_before_mhz") + 0)
    note_clock(key, get("sm_clock_after_mhz") + 0)
}

function note_clock(key, clock) {
    if (!clock)
        return
    if (!(key in low) || clock < low[key])
        low[key] = clock
    if (clock > high[key])
        high[key] = clock
}

# The run whose rows of a shape are shown, or "".
function best_run(shape,    list, count, i, key, best) {
    count = split(runs_of[shape], list, " ")
    best = ""
    for (i = 1; i <= count; i++) {
        key = shape SUBSEP list[i]
        if (key in solution_us && (best == "" || rows[key] > rows[best] || rows[key] == rows[best] && date[key] >= date[best]))
            best = key
    }
    return best
}

function print_shape(shape, key,    i, j, order, row) {
    for (i = 1; i <= rows[key]; i++) {
        for (j = i - 1; j > 0 && us[order[j]] > us[key SUBSEP i]; j--)
            order[j + 1] = order[j]
        order[j + 1] = key SUBSEP i
    }
    for (i = 1; i <= rows[key]; i++) {
        row = order[i]
        printf "%s\t%s\t%s\t" text[row] "\n", shape, version[row], us[row], us[row] / solution_us[key]
    }
}

END {
    if (csv_failed)
        exit 2
    newest = ""
    for (i = 1; i <= shape_count; i++) {
        key = best_run(shapes[i])
        if (key == "")
            continue
        if (newest == "" || date[key] > date[newest])
            newest = key
        note_clock("all", low[key])
        note_clock("all", high[key])
    }
    if (newest == "")
        exit 0
    split(facts[newest], fact, OFS)
    print "#", "run", substr(newest, index(newest, SUBSEP) + 1)
    print "#", "date", substr(date[newest], 1, 10)
    print "#", "device", fact[1]
    print "#", "driver", fact[2]
    print "#", "cuda", fact[3]
    print "#", "commit", fact[4]
    print "#", "clock_low", low["all"]
    print "#", "clock_high", high["all"]
    for (i = 1; i <= shape_count; i++) {
        key = best_run(shapes[i])
        if (key != "")
            print_shape(shapes[i], key)
    }
}
