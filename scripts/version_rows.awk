# The rows of results/<gpu>/versions.csv:  awk -f version_rows.awk [-v header=1] FACTS attention.csv
# FACTS has lines of name, D, registers, bytes of spill stores and of spill loads, bank conflicts a multiply-add, for each version;
# attention.csv what bench measured of version-NAME, and of others, which are left out. header: that line first.
BEGIN {
    OFS = ","
    taken = "device sm_count driver cuda B H Nq Nk D median_us min_us p95_us repeats sm_clock_before_mhz sm_clock_after_mhz tflops rel_rms_error noise"
    columns = split(taken, column, " ")
    gsub(/ /, ",", taken)
    if (header)
        print "run,version," taken ",registers,spill_stores,spill_loads,bank_conflicts,date,commit"
}
FILENAME ~ /facts$/ { fact[$1, $2] = $3 OFS $4 OFS $5 OFS $6; next }
FNR == 1 {
    FS = ","
    $0 = $0
    for (i = 1; i <= NF; i++)
        at[$i] = i
}
$at["cache"] == "cold" && sub(/^version-/, "", $at["lesson"]) {
    line = $at["run"] OFS $at["lesson"]
    if (!(($at["lesson"], $at["D"]) in fact)) {
        print FILENAME ":" FNR ": nothing is known of the code of " $at["lesson"] " at D=" $at["D"] > "/dev/stderr"
        exit 1
    }
    for (i = 1; i <= columns; i++)
        line = line OFS $at[column[i]]
    print line, fact[$at["lesson"], $at["D"]], $at["date"], $at["commit"]
}
