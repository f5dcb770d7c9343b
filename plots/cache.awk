# How much longer launches take whose inputs are not in the L2 cache, from an attention.csv:
#     awk -v what=attention -f csv.awk -f figures.awk -f lines.awk -f cache.awk attention.csv
#
# Variables: kind   "solution" or "lesson"
#            d      the head dimension; B=1 H=16
#            out    writes out.tsv and out.gp, for lines.gp, out.text, and out.facts ("#" name value, as ladder.awk)
# The run is the newest of those with the most pairs of a cold and a warm timing; nothing is written where none has any.

FNR == 1 {
    next
}

get("lesson") !~ ("^" kind "-") || get("dtype") != "fp32" || !is_usual() || get("B") != 1 || get("H") != 16 || get("Hkv") != 16 || \
get("Nq") != get("Nk") || get("causal") != 0 || get("D") != d {
    next
}

{
    folder = get("lesson")
    sub(/^[a-z]*-/, "", folder)
    run = get("run")
    pair = folder SUBSEP get("Nq")
    if (!(run in date_of))
        run_name[++runs] = run
    if (!(run in date_of) || get("date") > date_of[run])
        date_of[run] = get("date")
    device[run] = get("device")
    commit[run] = get("commit")
    us[run, pair, get("cache")] = get("median_us")
    if (get("noise") == "noisy")
        noisy[run, pair] = 1
    if (!((run, pair) in listed))
        pair_name[run, ++pairs[run]] = pair
    listed[run, pair] = 1
}

function both(run, pair) {
    return (run, pair, "cold") in us && (run, pair, "warm") in us
}

# Lessons in their order, each over rising N.
function before(a, b,    part_a, part_b) {
    split(a, part_a, SUBSEP)
    split(b, part_b, SUBSEP)
    return part_a[1] != part_b[1] ? part_a[1] < part_b[1] : part_a[2] + 0 < part_b[2] + 0
}

END {
    if (csv_failed)
        exit 2
    for (i = 1; i <= runs; i++) {
        count = 0
        for (j = 1; j <= pairs[run_name[i]]; j++)
            count += both(run_name[i], pair_name[run_name[i], j])
        if (count > most || count && count == most && date_of[run_name[i]] >= date_of[best]) {
            most = count
            best = run_name[i]
        }
    }
    if (!most)
        exit 0
    for (j = 1; j <= pairs[best]; j++) {
        if (!both(best, pair_name[best, j]))
            continue
        for (at = sorted++; at > 0 && before(pair_name[best, j], order[at]); at--)
            order[at + 1] = order[at]
        order[at + 1] = pair_name[best, j]
    }
    for (j = 1; j <= sorted; j++) {
        split(order[j], part, SUBSEP)
        if (part[1] != last)
            number++
        last = part[1]
        add_point(title_of(part[1], kind), "lesson", number, part[2], \
            us[best, order[j], "cold"] / us[best, order[j], "warm"], ((best, order[j]) in noisy ? "noisy" : "steady"))
    }
    finish_lines("linear")
    print "#", "device", device[best] > (out ".facts")
    print "#", "date", substr(date_of[best], 1, 10) > (out ".facts")
    print "#", "commit", commit[best] > (out ".facts")
}
