# The ceilings measured in one run, from a ceilings.csv: awk -v what=ceilings -f csv.awk -f ceilings.awk ceilings.csv
#
# Variables: run     the run that is wanted; where it has none, the newest run's are taken
#            having  only runs that have one of this name count
# Out, tab-separated: "#" name value for run, date and commit, then
#     what  value  unit

BEGIN {
    OFS = "\t"
}

FNR == 1 {
    next
}

{
    from = get("run")
    if (!(from in date_of))
        run_name[++runs] = from
    date_of[from] = get("date")
    commit_of[from] = get("commit")
    row_of[from] = FNR
    if (!((from, get("what")) in value))
        list[from, ++count[from]] = get("what")
    value[from, get("what")] = get("median")
    unit[from, get("what")] = get("unit")
}

function has(name) {
    return name in date_of && (having == "" || (name, having) in value)
}

END {
    if (csv_failed)
        exit 2
    if (!runs)
        exit 0
    for (i = 1; i <= runs; i++)
        if (has(run_name[i]) && (best == "" || date_of[run_name[i]] >= date_of[best]))
            best = run_name[i]
    if (has(run))
        best = run
    if (best == "")
        exit 0
    print "#", "run", best
    print "#", "date", substr(date_of[best], 1, 10)
    print "#", "commit", commit_of[best]
    for (i = 1; i <= count[best]; i++)
        print list[best, i], value[best, list[best, i]], unit[best, list[best, i]]
}
