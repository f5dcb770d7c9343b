# What the simulator counted, and what results/ hold, for the expressions of a lesson's questions. A run is known by the label
# under which its CSV was loaded. What is not there ends the program with status 2: a question must not be graded by a 0
# that nobody counted.

function fail(text) {
    print "quiz: " text >"/dev/stderr"
    failed = 1
    exit 2
}

# Splits a line of CSV with quoted fields into field[1..].
function split_csv(line, field,  n, i, c, quoted) {
    split("", field)
    n = 1
    for (i = 1; i <= length(line); i++) {
        c = substr(line, i, 1)
        if (c == "\"") {
            if (quoted && substr(line, i + 1, 1) == "\"") {
                field[n] = field[n] c
                i++
            } else {
                quoted = !quoted
            }
        } else if (c == "," && !quoted) {
            n++
        } else {
            field[n] = field[n] c
        }
    }
    return n
}

function load(label, path,  line, field, header, columns, i, r) {
    while ((getline line <path) > 0) {
        if (!columns) {
            columns = split_csv(line, header)
            continue
        }
        split_csv(line, field)
        r = ++rows[label]
        for (i = 1; i <= columns; i++)
            row[label, r, header[i]] = field[i]
    }
    close(path)
    if (!rows[label])
        fail(path " holds no counts; make clean, and ask again")
}

function source_text(file, line,  text) {
    if (!(file in lines_of)) {
        lines_of[file] = 0
        while ((getline text <file) > 0)
            text_of[file, ++lines_of[file]] = text
        close(file)
    }
    return text_of[file, line]
}

# The sum of a quantity, "global load sectors", over all accesses, or over those of source lines that contain `text`; a
# line of an inlined function counts as the line that calls it, too.
function count(label, quantity, text,  words, word, access, r, sum, found) {
    words = split(quantity, word, " ")
    access = quantity
    sub(/ [^ ]*$/, "", access)
    for (r = 1; r <= rows[label]; r++) {
        if (row[label, r, "space"] " " row[label, r, "access"] != access)
            continue
        if (text != "" && !index(source_text(row[label, r, "file"], row[label, r, "line"]), text) &&
            !index(source_text(row[label, r, "outer_file"], row[label, r, "outer_line"]), text))
            continue
        found = 1
        if (!((label, r, word[words]) in row))
            fail("there is no quantity '" quantity "'")
        sum += row[label, r, word[words]]
    }
    if (!found)
        fail("run '" label "' has no " access " at a line with '" text "'")
    return sum
}

# Passes through the banks of shared memory for each that would do without conflicts, of one source line.
function conflicts(label, access, text) {
    return count(label, "shared " access " wavefronts", text) / count(label, "shared " access " ideal_wavefronts", text)
}

# The bytes of accesses to global memory whose lanes ask for whole sectors and each byte once, as those to a matrix do; a
# value that all lanes read is left out.
function streamed(label,  r, sum) {
    for (r = 1; r <= rows[label]; r++)
        if (row[label, r, "space"] == "global" && row[label, r, "bytes"] == 32 * row[label, r, "ideal_sectors"])
            sum += row[label, r, "bytes"]
    return sum + 0
}

function shared_bytes(label) {
    return row[label, 1, "shared_bytes"]
}

function launches(label,  r, sum, seen) {
    for (r = 1; r <= rows[label]; r++)
        if (!(row[label, r, "group"] in seen)) {
            seen[row[label, r, "group"]] = 1
            sum += row[label, r, "launches"]
        }
    return sum
}

# "attention.cu:60", the first line of a run's source that contains `text`.
function line(label, text,  r, file, n, name) {
    for (r = 1; r <= rows[label]; r++) {
        file = row[label, r, "outer_file"]
        source_text(file, 1)
        for (n = 1; n <= lines_of[file]; n++)
            if (index(text_of[file, n], text)) {
                name = file
                sub(/.*\//, "", name)
                return name ":" n
            }
    }
    fail("no line of run '" label "' contains '" text "'")
}

# The newest row of a CSV in the folder of a GPU's results (variable `results`) whose columns are as `wanted` says,
# "lesson=x D=64 metric~y" (= is equal, ~ matches): its value in `column`, "" where there is none.
function newest(file, wanted, column,  path, text, field, header, columns, i, value, terms, term, n, part, fits, date, found) {
    path = results "/" file
    terms = split(wanted, term, " ")
    while ((getline text <path) > 0) {
        if (!columns) {
            columns = split_csv(text, header)
            continue
        }
        split_csv(text, field)
        for (i = 1; i <= columns; i++)
            value[header[i]] = field[i]
        fits = 1
        for (n = 1; n <= terms && fits; n++) {
            split(term[n], part, /[=~]/)
            fits = index(term[n], "~") ? value[part[1]] ~ part[2] : value[part[1]] == part[2]
        }
        if (fits && value["date"] >= date) {
            date = value["date"]
            found = value[column]
        }
    }
    close(path)
    return found
}

# The same where there has to be one.
function measured(file, wanted, column,  value) {
    value = newest(file, wanted, column)
    if (value == "")
        fail(results "/" file " has no row with " wanted)
    return value
}

# In percent, how busy a part of the GPU was while a solution ran with B=1 H=16 N=4096 and this D.
function busy(lesson, d, part,  metric, wanted, us) {
    metric["L2"] = "^lts__throughput[.]avg[.]pct"
    metric["shared memory"] = "^l1tex__data_pipe_lsu_wavefronts_mem_shared[.]avg[.]pct"
    metric["issue slots"] = "^smsp__issue_active[.]avg[.]pct"
    metric["FMA"] = "^sm__inst_executed_pipe_fma[.]avg[.]pct"
    wanted = "lesson=" lesson " B=1 H=16 Nq=4096 Nk=4096 D=" d " causal=0"
    if (part in metric)
        return measured("profile.csv", wanted " metric~" metric[part], "value") + 0
    if (part != "device memory")
        fail("there is no part '" part "'")
    us = measured("attention.csv", wanted " cache~^(cold)?$", "median_us")
    return 100 * (measured("profile.csv", wanted " metric=dram__bytes_read.sum", "value") + \
        measured("profile.csv", wanted " metric=dram__bytes_write.sum", "value")) / us / 1000 / \
        measured("attention.csv", wanted, "peak_gb_per_s")
}

function percent(x) {
    return sprintf("%.1f %%", x)
}

function gpu() {
    return measured("attention.csv", "dtype=fp32", "device")
}

# Choices of a question, of which the one with the largest value is right, and then its letter.
function offer(value, text) {
    print "choice\t" text
    choices++
    if (choices > 1 && value == most)
        fail("the choices " right " and " choices " come out equal")
    if (choices == 1 || value > most) {
        most = value
        right = choices
    }
}

function settle() {
    if (choices)
        print "answer\t" substr("abcdefgh", right, 1)
}

# How near x is to y: for choices that stand for a value.
function near(x, y) {
    return x > y ? y - x : x - y
}

# For people: text as it is, whole numbers in groups of three digits, others with four digits.
function number(value,  text) {
    if (value !~ /^-?[0-9.]+(e[-+]?[0-9]+)?$/)
        return value
    value += 0
    if (value != int(value) && value < 1000)
        return sprintf("%.4g", value)
    text = sprintf("%.0f", value)
    while (text ~ /[0-9][0-9][0-9][0-9]($|,)/ && match(text, /[0-9][0-9][0-9]($|,)/))
        text = substr(text, 1, RSTART - 1) "," substr(text, RSTART)
    return text
}
