# The last lesson beside its rivals at every shape, from an attention.csv; used between csv.awk and a chart's program, which
# calls compare() in its END.
#
# Variables: kind  "solution" or "lesson"
#            over  "first": the rival is lesson 01; "peer": the fastest of peers and baselines
# fp32 without a mask, cold, as many queries as keys; Triton's kernels are not among the rivals. A ratio is always of two
# timings of one run, the newest that has both; another shape's may be of another run. Gives
#     shapes, shape[i] ("B SUBSEP H SUBSEP N SUBSEP D", sorted), ratio[shape], rival_of[shape], ratio_noisy[shape],
#     beside_torch[shape] (one of PyTorch's paths was timed there), and last_lesson

BEGIN {
    OFS = "\t"
}

FNR == 1 {
    next
}

get("cache") == "warm" || get("dtype") != "fp32" || !is_usual() || get("Hkv") != get("H") || get("Nq") != get("Nk") || get("causal") != 0 {
    next
}

{
    dash = index(get("lesson"), "-")
    row_kind = substr(get("lesson"), 1, dash - 1)
    name = substr(get("lesson"), dash + 1)
    is_rival = over == "peer" ? is_other(row_kind) && name !~ /^triton_/ : name ~ /^01_/ && !is_other(row_kind)
    if (!is_rival && row_kind != kind)
        next
    run = get("run")
    this_shape = get("B") SUBSEP get("H") SUBSEP get("Nq") SUBSEP get("D")
    if (!(run in date_of))
        run_name[++runs] = run
    if (!(run in date_of) || get("date") > date_of[run])
        date_of[run] = get("date")
    device = get("device")
    commit_of[run] = get("commit")
    us[run, name, this_shape] = get("median_us")
    noisy[run, name, this_shape] = get("noise") == "noisy"
    if (row_kind == kind && name > last_lesson)
        last_lesson = name
    if (is_rival && !(name in known_rival)) {
        known_rival[name] = 1
        rivals[++rival_count] = name
    }
    if (!(this_shape in known_shape)) {
        known_shape[this_shape] = 1
        for (at = shape_count++; at > 0 && follows(shape[at], this_shape); at--)
            shape[at + 1] = shape[at]
        shape[at + 1] = this_shape
    }
}

function follows(a, b,    part_a, part_b, i) {
    split(a, part_a, SUBSEP)
    split(b, part_b, SUBSEP)
    for (i = 1; i <= 4; i++)
        if (part_a[i] != part_b[i])
            return part_a[i] + 0 > part_b[i] + 0
    return 0
}

function compare(    i, j, k, run, from, value, s) {
    for (i = 1; i <= shape_count; i++) {
        s = shape[i]
        for (j = 1; j <= rival_count; j++) {
            if (rivals[j] == last_lesson)
                continue
            from = ""
            for (k = 1; k <= runs; k++) {
                run = run_name[k]
                if ((run, last_lesson, s) in us && (run, rivals[j], s) in us && (from == "" || date_of[run] >= date_of[from]))
                    from = run
            }
            if (from == "")
                continue
            value = us[from, rivals[j], s] / us[from, last_lesson, s]
            if (rivals[j] ~ /^torch_/)
                beside_torch[s] = 1
            if (!(s in ratio) || value < ratio[s]) {
                ratio[s] = value
                rival_of[s] = rivals[j]
                ratio_noisy[s] = noisy[from, rivals[j], s] || noisy[from, last_lesson, s]
            }
            if (date_of[from] > newest_date) {
                newest_date = date_of[from]
                newest_commit = commit_of[from]
            }
        }
    }
}

# What the chart says of where its figures come from, as "#" lines of out.facts.
function write_facts() {
    print "#", "device", device > (out ".facts")
    print "#", "date", substr(newest_date, 1, 10) > (out ".facts")
    print "#", "commit", newest_commit > (out ".facts")
    print "#", "last", title_of(last_lesson, kind) > (out ".facts")
}
