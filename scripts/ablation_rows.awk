# Prints results/<gpu>/ablations.csv with additional rows:  awk -v lesson=solution-NN_name -f ablation_rows.awk FACTS KEPT TIMINGS
# FACTS: lines of name, type, D and the properties of an ablation's code and trace (scripts/ablations). KEPT: the existing rows; older
# files without the column lesson are about lesson 08. TIMINGS: a file of bench, of which ablation-NAME with a cold cache, or on GPUs, is used.
BEGIN {
    FS = OFS = ","
    names = "device sm_count driver cuda B H Nq Nk D median_us min_us p95_us repeats sm_clock_before_mhz sm_clock_after_mhz tflops rel_rms_error noise"
    columns = split(names, column, " ")
    gsub(/ /, ",", names)
    print "run,ablation," names ",registers,spill_stores,spill_loads,bank_conflicts,date,commit,lesson,dtype,causal,counter,counted,counted_solution"
}
FILENAME ~ /facts$/ && split($0, f, " ") {
    code[f[1], f[2], f[3]] = f[4] OFS f[5] OFS f[6] OFS f[7]
    counted[f[1]] = f[8] OFS f[9] OFS f[10]
}
FILENAME ~ /ablations.csv$/ && FNR == 1 { older = $0 !~ /,lesson,/ ? ",solution-08_even_shares,fp32,0,-,-,-" : "" }
FILENAME ~ /ablations.csv$/ && FNR > 1 { print $0 older }
FILENAME ~ /(facts|ablations.csv)$/ { next }
FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
("cache" in at && $at["cache"] != "cold") || ("gpus" in at && $at["gpus"] == 1) { next }
sub(/^ablation-/, "", $at["lesson"]) {
    name = $at["lesson"]
    line = $at["run"] OFS name
    if (!((name, $at["dtype"], $at["D"]) in code)) {
        print FILENAME ":" FNR ": FACTS has no line for " name " in " $at["dtype"] " at D=" $at["D"] " [no-facts]" > "/dev/stderr"
        exit 1
    }
    for (i = 1; i <= columns; i++)
        line = line OFS $at[column[i]]
    print line, code[name, $at["dtype"], $at["D"]], $at["date"], $at["commit"], lesson, $at["dtype"], $at["causal"], counted[name]
}
