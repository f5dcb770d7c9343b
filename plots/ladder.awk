# The lessons of one run, from an attention.csv: awk -v what=attention -f csv.awk -f ladder.awk attention.csv
#
# Variables: kind      "solution", or "lesson" for a learner's own files (a lesson that the run lacks is then stood in
#                      for by the solution that was timed in the same run)
#            view      "ladder": the reference shape, N=4096 at D=64 and D=128; "sizes": every N
#            expected  folders of the lessons that a complete run holds, separated by blanks
#            quiet     1: say nothing of what is missing
#            others    1: peers and baselines as well, in lines of kind "peer" or "baseline"
# Out, tab-separated: "#" name value for what is true of the whole run, then
#     ladder: D  number  folder  kind  median_us  tflops  peak_tflops  over_first  over_previous  noise
#     sizes:  D  number  folder  kind  N  median_us  tflops  peak_tflops  noise
# with "-" where there is none. number counts the lessons of the run from 1, and goes on over the others, for which folder
# is their name. Nothing is printed where the file holds nothing of that view. Launches with warm caches are left out.
#
# Clocks move from run to run, so every figure comes from one run: the newest of those with the most lessons, one
# without peers where there is one. Peers are timed in runs of their own, lessons among them. Their times are scaled so
# that the ratio to the last lesson timed with them is what was measured; the "#" line "scaled" then names those runs.

BEGIN {
    OFS = "\t"
    reference_n = 4096
    expected_count = split(expected, expected_folder, " ")
    for (i = 1; i <= expected_count; i++)
        add_folder(expected_folder[i])
}

FNR == 1 {
    next
}

get("cache") == "warm" {
    next
}

on_grid() && get("lesson") !~ /^kernel-/ {
    next
}

get("lesson") ~ /^kernel-/ || get("dtype") != "fp32" || !is_usual() || get("Hkv") != get("H") || get("Nq") != get("Nk") || get("causal") != 0 {
    other_rows++
    next
}

# Other shapes are charted where peers were timed there.
get("B") != 1 || get("H") != 16 {
    shape = get("B") SUBSEP get("H") SUBSEP get("Nq") SUBSEP get("D")
    rows_of_shape[shape]++
    if (get("lesson") ~ /^peer-/)
        has_peers[shape] = 1
    next
}

{
    dash = index(get("lesson"), "-")
    row_kind = substr(get("lesson"), 1, dash - 1)
    folder = substr(get("lesson"), dash + 1)
    if (row_kind == "lesson" && kind != "lesson")
        next
    run = get("run")
    is_other = row_kind == "peer" || row_kind == "baseline"
    d = get("D") + 0
    n = get("Nq") + 0
    if (!(run in run_date)) {
        run_name[++runs] = run
        run_date[run] = ""
    }
    if (get("date") > run_date[run])
        run_date[run] = get("date")
    run_row[run] = FNR
    if (row_kind == kind)
        run_has_kind[run] = 1
    if (row_kind == "peer")
        run_has_peers[run] = 1
    if (is_other)
        add_other(row_kind, folder)
    else
        add_folder(folder)
    add_d(d)
    add_n(n)
    key = run SUBSEP row_kind SUBSEP d SUBSEP folder SUBSEP n
    time_us[key] = get("median_us")
    rate[key] = get("tflops")
    peak[key] = is_number(get("peak_tflops")) ? get("peak_tflops") : 0
    noise[key] = get("noise")
    note_facts(run)
}

function add_other(row_kind, name) {
    if ((row_kind, name) in known_other)
        return
    known_other[row_kind, name] = 1
    other_kind[++other_count] = row_kind
    other_name[other_count] = name
}

function add_folder(name,    at) {
    if (name in known_folder)
        return
    known_folder[name] = 1
    for (at = folders++; at > 0 && folder_name[at] > name; at--)
        folder_name[at + 1] = folder_name[at]
    folder_name[at + 1] = name
}

function add_d(value,    at) {
    if (value in known_d)
        return
    known_d[value] = 1
    for (at = ds++; at > 0 && d_value[at] > value; at--)
        d_value[at + 1] = d_value[at]
    d_value[at + 1] = value
}

function add_n(value,    at) {
    if (value in known_n)
        return
    known_n[value] = 1
    for (at = ns++; at > 0 && n_value[at] > value; at--)
        n_value[at + 1] = n_value[at]
    n_value[at + 1] = value
}

# The key of a timing, or "" where the run has none.
function timing(run, d, folder, n,    key) {
    key = run SUBSEP kind SUBSEP d SUBSEP folder SUBSEP n
    if (key in time_us)
        return key
    key = run SUBSEP "solution" SUBSEP d SUBSEP folder SUBSEP n
    return key in time_us ? key : ""
}

function key_kind(key,    part) {
    split(key, part, SUBSEP)
    return part[2]
}

function sizes_of(run, d, folder,    i, count) {
    count = 0
    for (i = 1; i <= ns; i++)
        if (timing(run, d, folder, n_value[i]) != "")
            count++
    return count
}

function in_view(run, d, folder) {
    if (view == "ladder")
        return (d == 64 || d == 128) && timing(run, d, folder, reference_n) != ""
    return sizes_of(run, d, folder) >= 2
}

function score(run,    i, j, count) {
    count = 0
    if (run in run_has_kind)
        for (i = 1; i <= ds; i++)
            for (j = 1; j <= folders; j++)
                count += in_view(run, d_value[i], folder_name[j])
    return count
}

function say(message) {
    if (!quiet)
        print FILENAME ": " message > "/dev/stderr"
}

function ratio(from, to) {
    return from == "" || to == "" ? "-" : sprintf("%.6g", time_us[from] / time_us[to])
}

function say_missing(run,    i, j, list, where) {
    list = ""
    for (i = 1; i <= expected_count; i++) {
        where = ""
        for (j = 1; j <= ds; j++)
            if ((d_value[j] == 64 || d_value[j] == 128) && !in_view(run, d_value[j], expected_folder[i]))
                where = where (where == "" ? "" : ", ") "D=" d_value[j]
        if (where != "")
            list = list (list == "" ? "" : "; ") expected_folder[i] " (" where ")"
    }
    if (view == "ladder")
        for (j = 64; j <= 128; j += 64)
            if (!(j in known_d))
                list = list (list == "" ? "" : "; ") "everything at D=" j
    if (list != "")
        say("run " run " lacks at " (view == "ladder" ? "N=" reference_n : "two sizes or more") ": " list)
}

function print_ladder(run, d, number, j,    key, first, previous) {
    key = timing(run, d, folder_name[j], reference_n)
    first = folder_name[1] ~ /^01_/ ? timing(run, d, folder_name[1], reference_n) : ""
    previous = ""
    if (j > 1 && substr(folder_name[j], 1, 2) - substr(folder_name[j - 1], 1, 2) == 1)
        previous = timing(run, d, folder_name[j - 1], reference_n)
    print d, number, folder_name[j], key_kind(key), time_us[key], rate[key], peak[key], ratio(first, key), \
        ratio(previous, key), noise[key]
}

function print_sizes(run, d, number, j,    i, key) {
    for (i = 1; i <= ns; i++) {
        key = timing(run, d, folder_name[j], n_value[i])
        if (key != "")
            print d, number, folder_name[j], key_kind(key), n_value[i], time_us[key], rate[key], peak[key], noise[key]
    }
}

# How much longer the last lesson that both runs timed took in this run than in the other; 0 where there is none.
function scale_between(run, from, d, n,    j, ours, theirs) {
    for (j = folders; j > 0; j--) {
        ours = timing(run, d, folder_name[j], n)
        theirs = timing(from, d, folder_name[j], n)
        if (ours != "" && theirs != "" && key_kind(ours) == key_kind(theirs))
            return time_us[ours] / time_us[theirs]
    }
    return 0
}

# The time of a peer or baseline in terms of the run: its own there, else that of the newest run that can be scaled.
# Sets scale and found_key; 0 where there is none.
function other_time(run, i, d, n,    r, from, key, best) {
    found_key = run SUBSEP other_kind[i] SUBSEP d SUBSEP other_name[i] SUBSEP n
    scale = 1
    if (found_key in time_us)
        return time_us[found_key]
    best = ""
    for (r = 1; r <= runs; r++) {
        from = run_name[r]
        key = from SUBSEP other_kind[i] SUBSEP d SUBSEP other_name[i] SUBSEP n
        if (key in time_us && (best == "" || newer(from, best)) && scale_between(run, from, d, n)) {
            best = from
            found_key = key
        }
    }
    if (best == "")
        return 0
    scale = scale_between(run, best, d, n)
    if (!(best in is_scaled)) {
        is_scaled[best] = 1
        scaled_runs = scaled_runs (scaled_runs == "" ? "" : ", ") best
    }
    return time_us[found_key] * scale
}

function print_other(run, number, i, d,    j, n, us, first) {
    for (j = 1; j <= ns; j++) {
        n = n_value[j]
        if (view == "ladder" && (n != reference_n || d != 64 && d != 128))
            continue
        us = other_time(run, i, d, n)
        if (!us)
            continue
        if (view == "sizes") {
            print d, number, other_name[i], other_kind[i], n, us, rate[found_key] / scale, peak[found_key], noise[found_key]
            continue
        }
        first = folder_name[1] ~ /^01_/ ? timing(run, d, folder_name[1], n) : ""
        print d, number, other_name[i], other_kind[i], us, rate[found_key] / scale, peak[found_key], \
            (first == "" ? "-" : sprintf("%.6g", time_us[first] / us)), "-", noise[found_key]
    }
}

END {
    if (csv_failed)
        exit 2
    best = ""
    best_score = 0
    for (i = 1; i <= runs; i++) {
        this_score = score(run_name[i])
        if (this_score > best_score || this_score > 0 && this_score == best_score && newer(run_name[i], best)) {
            best = run_name[i]
            best_score = this_score
        }
    }
    for (shape in rows_of_shape)
        if (!(shape in has_peers))
            other_rows += rows_of_shape[shape]
    if (other_rows && view == "ladder" && kind == "solution")
        say(other_rows " rows are in no chart: not a lesson, in fp32 with a mask, in 16 bits and not of the grid, of another layout or with " \
            "lse, or of a shape that no peer was timed at")
    if (best == "") {
        say(view == "ladder" ? \
            "no " kind " is timed at B=1 H=16 N=" reference_n ", D=64 or D=128, fp32: no speed-up chart" : \
            "no " kind " is timed at two sizes or more at B=1 H=16, fp32: no chart over N")
        exit 0
    }
    say_missing(best)
    print_facts(best, "run date device sm_count driver cuda commit clock_low clock_high")
    number = 0
    for (j = 1; j <= folders; j++) {
        present = 0
        for (i = 1; i <= ds; i++)
            present += in_view(best, d_value[i], folder_name[j])
        if (!present)
            continue
        number++
        for (i = 1; i <= ds; i++)
            if (in_view(best, d_value[i], folder_name[j])) {
                if (view == "ladder")
                    print_ladder(best, d_value[i], number, j)
                else
                    print_sizes(best, d_value[i], number, j)
            }
    }
    for (j = 1; j <= other_count && others; j++)
        for (i = 1; i <= ds; i++)
            print_other(best, number + j, j, d_value[i])
    if (scaled_runs != "")
        print "#", "scaled", scaled_runs
}
