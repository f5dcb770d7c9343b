# The rows of results/<gpu>/versions.csv:
#     awk -f version_rows.awk [-v header=1] FACTS attention.csv
#
# FACTS has lines of name, D, registers, bytes of spill stores and of spill loads, bank conflicts a multiply-add, for each
# version; attention.csv has what bench measured of the lessons version-NAME, and of others, which are left out. header: that
# line first.

BEGIN {
    OFS = ","
    taken = "device sm_count driver cuda B H Nq Nk D median_us min_us p95_us repeats sm_clock_before_mhz " \
        "sm_clock_after_mhz tflops rel_rms_error noise"
    columns = split(taken, column, " ")
    if (header) {
        gsub(/ /, ",", taken)
        print "run,version," taken ",registers,spill_stores,spill_loads,bank_conflicts,date,commit"
    }
}

FILENAME ~ /facts$/ {
    fact[$1, $2] = $3 OFS $4 OFS $5 OFS $6
    next
}

FNR == 1 {
    FS = ","
    $0 = $0
    for (i = 1; i <= NF; i++)
        at[$i] = i
    next
}

$at["cache"] == "cold" && $at["lesson"] ~ /^version-/ {
    name = $at["lesson"]
    sub(/^version-/, "", name)
    if (!((name, $at["D"]) in fact)) {
        print FILENAME ":" FNR ": nothing is known of the code of " name " at D=" $at["D"] > "/dev/stderr"
        exit 1
    }
    line = $at["run"] OFS name
    for (i = 1; i <= columns; i++)
        line = line OFS $at[column[i]]
    print line, fact[name, $at["D"]], $at["date"], $at["commit"]
}
