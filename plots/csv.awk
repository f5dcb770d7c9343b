# Reads a results CSV: checks its header and every row, and gives fields by name.
#
# Used before another awk program (awk -f csv.awk -f ladder.awk), whose main rules then see sound rows only.
# Variable: what, "attention" or "softmax". get("median_us") is the current row's field. After the first bad row
# nothing more is read, csv_failed is 1, and the exit status is 2.

BEGIN {
    FS = ","
    common = "run lesson device sm_count driver cuda dtype median_us min_us p95_us repeats date commit"
    if (what == "softmax")
        csv_columns = split(common " rows columns gb_per_s copy_gb_per_s", csv_column, " ")
    else
        csv_columns = split(common " B H Hkv Nq Nk D causal tflops peak_tflops", csv_column, " ")
    csv_failed = 0
}

function csv_fail(message) {
    printf "%s:%d: %s\n", FILENAME, FNR, message > "/dev/stderr"
    csv_failed = 1
    exit 2
}

function get(name) {
    return $csv_index[name]
}

function is_number(text) {
    return text ~ /^[0-9]+(\.[0-9]*)?([eE][-+]?[0-9]+)?$/
}

function need_positive(name) {
    if (!is_number(get(name)) || get(name) + 0 <= 0)
        csv_fail(name " is '" get(name) "', not a number above zero; mend or delete this line")
}

{
    sub(/\r$/, "")
}

FNR == 1 {
    csv_fields = NF
    for (i = 1; i <= NF; i++)
        csv_index[$i] = i
    for (i = 1; i <= csv_columns; i++)
        if (!(csv_column[i] in csv_index))
            csv_fail("the header has no column '" csv_column[i] "'; move this file away and run make bench again")
    next
}

{
    if (NF != csv_fields)
        csv_fail(NF " fields where the header has " csv_fields "; mend or delete this line")
    if (get("lesson") !~ /^(solution|lesson)-[0-9][0-9]_[a-z0-9_]+$/ && get("lesson") !~ /^kernel-./ &&
        get("lesson") !~ /^unfused_softmax$/)
        csv_fail("lesson is '" get("lesson") "', which names no lesson; mend or delete this line")
    if (get("run") == "")
        csv_fail("run is empty; mend or delete this line")
    if (get("device") !~ /^[A-Za-z0-9][-A-Za-z0-9 ._+()\/]*$/)
        csv_fail("device is '" get("device") "', not the name of a GPU; mend or delete this line")
    if (get("date") !~ /^[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]/)
        csv_fail("date is '" get("date") "', not YYYY-MM-DD; mend or delete this line")
    need_positive("median_us")
    need_positive("repeats")
    if (what == "softmax") {
        need_positive("rows")
        need_positive("columns")
        need_positive("gb_per_s")
    } else {
        need_positive("B")
        need_positive("H")
        need_positive("Hkv")
        need_positive("Nq")
        need_positive("Nk")
        need_positive("D")
        need_positive("tflops")
        if (get("causal") !~ /^[01]$/)
            csv_fail("causal is '" get("causal") "', not 0 or 1; mend or delete this line")
    }
}
