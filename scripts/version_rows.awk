# results/<gpu>/versions.csv with more rows:  awk -v lesson=NN_name -f version_rows.awk FACTS KEPT attention.csv
# FACTS has lines of name, type, D and what is known of the version's code and trace (scripts/versions); KEPT the rows so far;
# attention.csv what bench measured of version-NAME, and of others, which are left out. Rows of a KEPT from before there were
# several lessons are lesson 07's.
BEGIN {
    OFS = ","
    taken = "device sm_count driver cuda B H Nq Nk D median_us min_us p95_us repeats sm_clock_before_mhz sm_clock_after_mhz tflops rel_rms_error noise"
    columns = split(taken, column, " ")
    gsub(/ /, ",", taken)
    print "run,version," taken ",registers,spill_stores,spill_loads,bank_conflicts,date,commit,lesson,dtype,causal,counter,counted,counted_solution"
}
FILENAME ~ /facts$/ {
    fact[$1, $2, $3] = $4 OFS $5 OFS $6 OFS $7
    counted[$1] = $8 OFS $9 OFS $10
    next
}
FILENAME ~ /versions.csv$/ {
    if (FNR == 1)
        older = $0 !~ /,lesson,/
    else
        print $0 (older ? ",solution-07_even_shares,fp32,0,-,-,-" : "")
    next
}
FNR == 1 {
    FS = ","
    $0 = $0
    for (i = 1; i <= NF; i++)
        at[$i] = i
}
$at["cache"] == "cold" && sub(/^version-/, "", $at["lesson"]) {
    name = $at["lesson"]
    line = $at["run"] OFS name
    if (!((name, $at["dtype"], $at["D"]) in fact)) {
        print FILENAME ":" FNR ": nothing is known of the code of " name " in " $at["dtype"] " at D=" $at["D"] > "/dev/stderr"
        exit 1
    }
    for (i = 1; i <= columns; i++)
        line = line OFS $at[column[i]]
    print line, fact[name, $at["dtype"], $at["D"]], $at["date"], $at["commit"], "solution-" lesson, $at["dtype"], $at["causal"], counted[name]
}
