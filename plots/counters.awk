# What Nsight Compute counted, as numbers, from a profile.csv: awk -v what=profile -f csv.awk -f counters.awk profile.csv
#
# Variables: kind  "solution" or "lesson"
#            n     queries and keys; B=1 H=16, no mask
# Out, tab-separated: "#" name value for date and commit, then the last row of each metric:
#     folder  D  metric  value

BEGIN {
    OFS = "\t"
}

FNR == 1 {
    next
}

get("lesson") !~ ("^" kind "-") || get("B") != 1 || get("H") != 16 || get("Nq") != n || get("Nk") != n || get("causal") != 0 {
    next
}

{
    folder = get("lesson")
    sub(/^[a-z]*-/, "", folder)
    key = folder OFS get("D") OFS get("metric")
    if (!(key in value))
        order[++keys] = key
    value[key] = get("value")
    date = substr(get("date"), 1, 10)
    commit = get("commit")
}

END {
    if (csv_failed)
        exit 2
    if (!keys)
        exit 0
    print "#", "date", date
    print "#", "commit", commit
    for (i = 1; i <= keys; i++)
        print order[i], value[order[i]]
}
