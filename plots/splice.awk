# Inserts blocks into a page: awk -v page=NAME -v lesson=FOLDER -v up=PATH -f splice.awk BLOCKS RS='\n' FS='\n' PAGE
# BLOCKS has records "name US lesson US text RS" (0x1F, 0x1E) in the order of the page; @up@ in a text is replaced by up.
BEGIN { RS = "\036"; FS = "\037" }
function fail(message) {
    printf "%s:%d: %s\n", page, FNR, message > "/dev/stderr"
    exit failed = 2
}
NR == FNR {
    gsub(/@up@/, up, $3)
    known[$1] = 1
    if ($2 == "" || $2 == lesson)
        block[$1] = block[$1] $3 "\n"
    next
}
/^<!-- results:begin / {
    if (open != "")
        fail("results:begin inside '" open "', which has no results:end [bad-marker]")
    open = $0
    gsub(/^<!-- results:begin | -->.*/, "", open)
    if (!(open in known))
        fail("there is no table '" open "'; plots/tables.sql lists the tables [unknown-table]")
    printf "%s\n\n%s", $0, block[open]
}
/^<!-- results:end / {
    if ($0 != "<!-- results:end " open " -->")
        fail("results:end does not belong to " (open == "" ? "a results:begin" : "results:begin " open) " [bad-marker]")
    open = ""
}
open == ""
END { if (!failed && open != "") fail("results:begin " open " has no results:end [bad-marker]"); exit failed }
