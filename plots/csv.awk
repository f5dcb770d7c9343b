# Reads a results CSV: checks its header and every row, gives fields by name, and keeps what is true of a whole run.
#
# Used before another awk program (awk -f csv.awk -f ladder.awk), whose rules then see sound rows only.
# Variable: what, "attention", "softmax", "profile", "versions" or "ceilings". get("median_us") is the current row's
# field. After the first bad row nothing more is read, csv_failed is 1, and the exit status is 2.

BEGIN {
    FS = ","
    csv_positive["attention"] = "B H Hkv Nq Nk D median_us repeats tflops"
    csv_positive["softmax"] = "rows columns median_us repeats gb_per_s"
    csv_positive["profile"] = "B H Nq Nk D"
    csv_present["attention"] = "run lesson device driver cuda dtype causal peak_tflops date commit cache noise"
    csv_present["softmax"] = "run lesson device driver cuda dtype copy_gb_per_s date commit noise"
    csv_positive["versions"] = "B H Nq Nk D median_us repeats tflops registers"
    csv_present["versions"] = "run version device driver cuda spill_stores spill_loads bank_conflicts date commit noise"
    csv_positive["ceilings"] = "median repeats"
    csv_present["ceilings"] = "run device what unit date commit"
    csv_present["profile"] = "lesson device causal metric unit value date commit"
    csv_positives = split(csv_positive[what], csv_column, " ")
    csv_columns = split(csv_positive[what] " " csv_present[what], csv_column, " ")
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

# A row of the grid that 16 bits are timed on: 16384 tokens of 2048 numbers each, however they are cut into heads.
function on_grid() {
    return get("dtype") ~ /^(fp16|bf16)$/ && is_usual() && get("Hkv") == get("H") && get("Nq") == get("Nk") && \
        get("B") * get("Nq") == 16384 && get("H") * get("D") == 2048
}

# Tensors in the usual order and nothing written but the output; so are all rows of a file that has no columns for it.
function is_usual() {
    return (!("layout" in csv_index) || get("layout") == "bhnd") && (!("lse" in csv_index) || get("lse") == 0)
}

function is_number(text) {
    return text ~ /^[0-9]+(\.[0-9]*)?([eE][-+]?[0-9]+)?$/
}

# What is true of a whole run, noted row by row: fact[run, name].
function note_facts(run,    clock, i, clock_column) {
    fact[run, "device"] = get("device")
    fact[run, "sm_count"] = get("sm_count")
    fact[run, "driver"] = get("driver")
    fact[run, "cuda"] = get("cuda")
    fact[run, "commit"] = get("commit")
    split("sm_clock_before_mhz sm_clock_after_mhz", clock_column, " ")
    for (i = 1; i <= 2; i++) {
        if (!(clock_column[i] in csv_index))
            continue
        clock = get(clock_column[i])
        if (!is_number(clock) || clock + 0 == 0)
            continue
        clock += 0
        if (!((run, "clock_low") in fact) || clock < fact[run, "clock_low"])
            fact[run, "clock_low"] = clock
        if (!((run, "clock_high") in fact) || clock > fact[run, "clock_high"])
            fact[run, "clock_high"] = clock
    }
}

# The "#" lines of a run, for the names given; run_date[run] is its newest row's.
function print_facts(run, names,    i, count, name) {
    fact[run, "run"] = run
    fact[run, "date"] = substr(run_date[run], 1, 10)
    count = split(names, name, " ")
    for (i = 1; i <= count; i++)
        print "#", name[i], fact[run, name[i]]
}

# Which of two runs to take where nothing else decides: one without peers, then the later, by run_date and run_row.
function newer(a, b) {
    if ((a in run_has_peers) != (b in run_has_peers))
        return b in run_has_peers
    return run_date[a] != run_date[b] ? run_date[a] > run_date[b] : run_row[a] > run_row[b]
}

# Where the column exists its field has to match.
function csv_match(name, pattern, kind) {
    if (name in csv_index && get(name) !~ pattern)
        csv_fail(name " is '" get(name) "', not " kind "; mend or delete this line")
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
            csv_fail("the header has no column '" csv_column[i] "'; move this file away and measure again")
    next
}

{
    if (NF != csv_fields)
        csv_fail(NF " fields where the header has " csv_fields "; mend or delete this line")
    csv_match("run", "^.", "the name of a run")
    csv_match("lesson", "^((solution|lesson)-[0-9][0-9]_[a-z0-9_]+|(baseline|peer)-[a-z0-9_]+|kernel-.+|unfused_softmax)$", \
        "the name of a lesson")
    csv_match("version", "^[a-z0-9][-a-z0-9]*$", "the name of a version")
    csv_match("bank_conflicts", "^(-|[0-9.]+)$", "a number, or -")
    csv_match("device", "^[A-Za-z0-9][-A-Za-z0-9 ._+()/]*$", "the name of a GPU")
    csv_match("commit", "^[-0-9A-Za-z._]+$", "the name of a commit")
    csv_match("cache", "^(cold|warm)$", "cold or warm")
    csv_match("noise", "^(steady|noisy)$", "steady or noisy")
    csv_match("causal", "^[01]$", "0 or 1")
    csv_match("layout", "^(bhnd|bnhd)$", "bhnd or bnhd")
    csv_match("lse", "^[01]$", "0 or 1")
    csv_match("date", "^[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]", "YYYY-MM-DD")
    if (what == "profile" && !is_number(get("value")))
        csv_fail("value is '" get("value") "', not a number; mend or delete this line")
    for (i = 1; i <= csv_positives; i++)
        if (!is_number(get(csv_column[i])) || get(csv_column[i]) + 0 <= 0)
            csv_fail(csv_column[i] " is '" get(csv_column[i]) "', not a number above zero; mend or delete this line")
}
