# The row softmax of one run beside the five passes: awk -v what=softmax -f csv.awk -f softmax.awk softmax.csv
#
# Variables: kind   "solution", or "lesson" for a learner's own file
#            quiet  1: say nothing of what is missing
#            view   "": one line a matrix; "bars": one line a timing, peers as well
# Out, tab-separated: "#" name value for what is true of the whole run, then, "-" where there is none,
#     rows  columns  five_us  five_gb_per_s  one_us  one_gb_per_s  copy_gb_per_s
#     bars: rows  columns  way ("five", "one" or the peer's name)  us  gb_per_s  copy_gb_per_s  noise
# The run is the newest of those with the most matrices timed both ways, one without peers where there is one. Peers of
# another run are scaled so that their ratio to the lesson's softmax there is kept; the "#" line "scaled" names the run.

BEGIN {
    OFS = "\t"
}

FNR == 1 {
    next
}

{
    way = get("lesson") == "unfused_softmax" ? "five" : get("lesson") ~ ("^" kind "-") ? "one" : \
        get("lesson") ~ /^peer-/ ? substr(get("lesson"), 6) : ""
    if (way == "" || get("dtype") != "fp32")
        next
    run = get("run")
    if (!(run in run_date))
        run_name[++runs] = run
    if (!(run in run_date) || get("date") > run_date[run])
        run_date[run] = get("date")
    run_row[run] = FNR
    note_facts(run)
    size = get("rows") SUBSEP get("columns")
    if (!(size in known_size)) {
        known_size[size] = 1
        for (at = sizes++; at > 0 && larger(size_name[at], size); at--)
            size_name[at + 1] = size_name[at]
        size_name[at + 1] = size
    }
    if (get("lesson") ~ /^peer-/) {
        run_has_peers[run] = 1
        if (!(way in known_peer))
            peer[++peers] = way
        known_peer[way] = 1
    }
    noise[run, way, size] = get("noise")
    time_us[run, way, size] = get("median_us")
    rate[run, way, size] = get("gb_per_s")
    if (is_number(get("copy_gb_per_s")) && get("copy_gb_per_s") > 0)
        copy[run, size] = get("copy_gb_per_s")
}

function larger(a, b,    part_a, part_b) {
    split(a, part_a, SUBSEP)
    split(b, part_b, SUBSEP)
    if (part_a[1] * part_a[2] != part_b[1] * part_b[2])
        return part_a[1] * part_a[2] > part_b[1] * part_b[2]
    return part_a[1] + 0 > part_b[1] + 0
}

# One size timed both ways outweighs any number of sizes timed one way; the five passes alone are nobody's result.
function score(run,    i, both, one) {
    both = one = 0
    for (i = 1; i <= sizes; i++)
        if ((run, "one", size_name[i]) in time_us) {
            one++
            both += (run, "five", size_name[i]) in time_us
        }
    return both * (sizes + 1) + one
}

function say(message) {
    if (!quiet)
        print FILENAME ": " message > "/dev/stderr"
}

function field(array, run, way, size) {
    return (run, way, size) in array ? array[run, way, size] : "-"
}

function print_bar(way, run, size, scale,    part) {
    split(size, part, SUBSEP)
    print part[1], part[2], way, time_us[run, way, size] * scale, rate[run, way, size] / scale, \
        ((best, size) in copy ? copy[best, size] : "-"), noise[run, way, size]
}

function print_bars(size,    i, j, from) {
    if ((best, "five", size) in time_us)
        print_bar("five", best, size, 1)
    print_bar("one", best, size, 1)
    for (i = 1; i <= peers; i++) {
        from = (best, peer[i], size) in time_us ? best : ""
        for (j = 1; j <= runs && from != best; j++)
            if ((run_name[j], peer[i], size) in time_us && (run_name[j], "one", size) in time_us &&
                (from == "" || newer(run_name[j], from)))
                from = run_name[j]
        if (from == "")
            continue
        if (from != best)
            scaled = from
        print_bar(peer[i], from, size, time_us[best, "one", size] / time_us[from, "one", size])
    }
}

END {
    if (csv_failed)
        exit 2
    best = ""
    best_score = 0
    for (i = 1; i <= runs; i++) {
        run = run_name[i]
        this_score = score(run)
        if (this_score > best_score || this_score > 0 && this_score == best_score && newer(run, best)) {
            best = run
            best_score = this_score
        }
    }
    if (best == "") {
        say("no " kind "'s row softmax is timed: no softmax chart")
        exit 0
    }
    print_facts(best, "run date device driver cuda commit")
    missing = ""
    for (i = 1; i <= sizes; i++) {
        size = size_name[i]
        split(size, part, SUBSEP)
        if (!((best, "one", size) in time_us)) {
            missing = missing (missing == "" ? "" : ", ") part[1] "x" part[2]
            continue
        }
        if (!((best, "five", size) in time_us))
            missing = missing (missing == "" ? "" : ", ") part[1] "x" part[2] " (five passes)"
        if (view == "bars") {
            print_bars(size)
            continue
        }
        print part[1], part[2], field(time_us, best, "five", size), field(rate, best, "five", size), \
            time_us[best, "one", size], rate[best, "one", size], ((best, size) in copy ? copy[best, size] : "-")
    }
    if (missing != "")
        say("run " best " lacks: " missing)
    if (scaled != "")
        print "#", "scaled", scaled
}
