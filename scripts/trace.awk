# The report of scripts/trace: reads the simulator's CSV. Variables: name, source, shape, causal, and ptxas, the log of
# ptxas -v.
# predict() calls prediction(quantity, unit, value) for each line of predictions.csv.

# The simulated GPU, an H200 (CUDA C++ Programming Guide, table of technical specifications, compute capability 9.0).
BEGIN {
    REGISTERS = 65536; REGISTER_UNIT = 256; WARPS = 64; BLOCKS = 32; SHARED = 233472; RESERVED = 1024
    QUANTITIES = split("requests lanes bytes sectors ideal_sectors wavefronts ideal_wavefronts", quantity, " ")
    dimensions = split(shape, part, ",")
    if (dimensions == 2) {
        ROWS = part[1]; COLUMNS = part[2]
    } else if (dimensions == 4) {
        B = part[1]; H = part[2]; D = part[4]
        NQ = NK = part[3]
        if (split(part[3], length_of, ":") == 2) {
            NQ = length_of[1]; NK = length_of[2]
        }
    }
    CAUSAL = causal
    read_ptxas()
}

# registers[], spilled[] of each mangled kernel name.
function read_ptxas(  line, kernel, word) {
    while ((getline line <ptxas) > 0) {
        if (line ~ /Compiling entry function/) {
            split(line, word, "'")
            kernel = word[2]
        } else if (line ~ /Function properties for/) {
            kernel = line
            sub(/.*properties for */, "", kernel)
        } else if (line ~ /bytes stack frame/) {
            split(line, word, /[ ,]+/)
            for (i = 1; i in word; i++) {
                if (word[i] == "spill" && word[i + 1] == "stores") spill_stores[kernel] = word[i - 2]
                if (word[i] == "spill" && word[i + 1] == "loads") spill_loads[kernel] = word[i - 2]
                if (word[i] == "stack") stack[kernel] = word[i - 2]
            }
        } else if (match(line, /Used [0-9]+ registers/)) {
            registers[kernel] = substr(line, RSTART + 5, RLENGTH - 15) + 0
        }
    }
    close(ptxas)
}

# Splits a line of CSV with quoted fields into field[1..].
function split_csv(line, field,  n, i, c, quoted) {
    split("", field)
    n = 1
    field[1] = ""
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
            field[++n] = ""
        } else {
            field[n] = field[n] c
        }
    }
    return n
}

NR == 1 {
    count = split_csv($0, header)
    next
}

# Copies of one access, from unrolling or inlining, are one row where each request costs the same.
{
    split_csv($0, field)
    for (i = 1; i <= count; i++)
        value[header[i]] = field[i]
    requests = value["requests"]
    key = value["group"] SUBSEP value["file"] SUBSEP value["line"] SUBSEP value["outer_file"] SUBSEP value["outer_line"] \
        SUBSEP value["space"] SUBSEP value["access"] SUBSEP value["bytes_a_lane"] SUBSEP value["note"] SUBSEP \
        sprintf("%.1f %.1f", value["sectors"] / requests, value["wavefronts"] / requests)
    group = value["group"]
    if (!(key in row_of)) {
        r = row_of[key] = ++rows
        for (i = 1; i <= count; i++)
            row[r, header[i]] = field[i]
        if (!(group in first_row)) {
            order[++groups] = group
            first_row[group] = r
        }
        last_row[group] = r
        copies[r] = 1
    } else {
        r = row_of[key]
        for (q = 1; q <= QUANTITIES; q++)
            row[r, quantity[q]] += value[quantity[q]]
        copies[r]++
    }
}

# The text of a source line, without what is around it.
function source_text(file, line,  n, text) {
    if (!(file in lines_of)) {
        lines_of[file] = 0
        while ((getline text <file) > 0)
            text_of[file, ++lines_of[file]] = text
        close(file)
    }
    text = text_of[file, line]
    gsub(/^[ \t]+|[ \t]+$/, "", text)
    return text
}

function base_name(path) {
    sub(/.*\//, "", path)
    return path
}

function grouped(number,  text, sign) {
    text = sprintf("%.0f", number)
    while (text ~ /[0-9][0-9][0-9][0-9]($|,)/ && match(text, /[0-9][0-9][0-9]($|,)/)) {
        text = substr(text, 1, RSTART - 1) "," substr(text, RSTART)
    }
    return text
}

function size(bytes) {
    bytes += 0
    if (bytes < 10240) return sprintf("%.0f B", bytes)
    if (bytes < 10 * 1048576) return sprintf("%.1f KiB", bytes / 1024)
    if (bytes < 10 * 1073741824) return sprintf("%.1f MiB", bytes / 1048576)
    return sprintf("%.1f GiB", bytes / 1073741824)
}

function get(r, what) {
    return row[r, what] / row[r, "launches"]
}

# Registers, spills, and how many warps an SM holds at once: the least that registers, shared memory and the block's size
# allow.
function describe_resources(r,  kernel, dims, threads, warps, by, why, blocks, used) {
    kernel = row[r, "mangled"]
    split(row[r, "block"], dims, "x")
    threads = dims[1] * dims[2] * dims[3]
    warps = int((threads + 31) / 32)
    if (!(kernel in registers)) {
        print "  registers: ptxas's log does not name this kernel"
        return
    }
    # Registers are given out to a warp in units of 256, so a thread's share is rounded up to a multiple of 8.
    used = int((registers[kernel] * 32 + REGISTER_UNIT - 1) / REGISTER_UNIT) * REGISTER_UNIT * warps
    blocks = int(WARPS / warps)
    why = "the size of the block"
    if (BLOCKS < blocks) { blocks = BLOCKS; why = "the number of blocks an SM holds" }
    by = int(REGISTERS / used)
    if (by < blocks) { blocks = by; why = "registers" }
    by = int(SHARED / (row[r, "shared_bytes"] + RESERVED))
    if (by < blocks) { blocks = by; why = "shared memory" }
    printf "  ptxas: %d registers a thread, ", registers[kernel]
    if (spill_stores[kernel] + spill_loads[kernel] > 0)
        printf "spills: %d bytes stored and %d loaded a thread", spill_stores[kernel], spill_loads[kernel]
    else
        printf "no spills"
    if (stack[kernel] > 0)
        printf ", %d bytes of stack", stack[kernel]
    printf "; %d blocks of %d warps an SM hold %d of %d warps (%.0f %%), limited by %s\n", blocks, warps, blocks * warps,
        WARPS, 100 * blocks * warps / WARPS, why
}

# A source line, and below it what it loads and stores.
function print_row(r, sectors, wavefronts,  where, requests, text, what, times, cost, share) {
    where = base_name(row[r, "file"]) ":" row[r, "line"]
    text = source_text(row[r, "file"], row[r, "line"])
    # A line of a function that was inlined is shown with the line that called it.
    if (row[r, "outer_line"] != row[r, "line"] || row[r, "outer_file"] != row[r, "file"])
        where = where ", from " base_name(row[r, "outer_file"]) ":" row[r, "outer_line"]
    if (where != last_where)
        printf "  %s  %s\n", where, substr(text, 1, 100 - length(where))
    last_where = where
    requests = get(r, "requests")
    if (row[r, "space"] == "shared") {
        cost = sprintf("%-12s %7.1f", "", row[r, "wavefronts"] / row[r, "ideal_wavefronts"])
        share = wavefronts ? get(r, "wavefronts") / wavefronts : 0
    } else {
        cost = sprintf("%.1f (%.1f)", get(r, "sectors") / requests, get(r, "ideal_sectors") / requests)
        cost = sprintf("%-12s %7s", cost, "")
        share = sectors ? get(r, "sectors") / sectors : 0
    }
    what = row[r, "space"] " " row[r, "access"] ", " row[r, "bytes_a_lane"] " B a lane"
    times = copies[r] == 1 ? "" : "x" copies[r]
    printf "    %-32s %4s %13s %11s  %s  %6.1f %%%s\n", what, times, grouped(requests), size(get(r, "bytes")), cost,
        100 * share, footnote(row[r, "note"])
}

function footnote(text,  n) {
    if (text == "")
        return ""
    for (n = 1; n <= notes; n++)
        if (note[n] == text)
            return " [" n "]"
    note[++notes] = text
    return " [" notes "]"
}

function add_totals(r,  key, q) {
    key = row[r, "space"] "_" row[r, "access"]
    gsub(/ /, "_", key)
    for (q = 1; q <= QUANTITIES; q++)
        total[key "_" quantity[q]] += get(r, quantity[q])
}

function print_kernel(group,  r, launches, sectors, wavefronts, kind, kinds, k, n) {
    r = first_row[group]
    launches = row[r, "launches"]
    printf "%s  grid %s, block %s, %s of shared memory a block", row[r, "kernel"], row[r, "grid"], row[r, "block"],
        size(row[r, "shared_bytes"])
    if (launches != 1)
        printf "; figures of one of %d launches", launches
    print ""
    describe_resources(r)
    for (r = first_row[group]; r <= last_row[group]; r++) {
        sectors += get(r, "sectors")
        wavefronts += get(r, "wavefronts")
    }
    printf "\n  %-39s %13s %11s  %-12s %7s  %8s\n", "line, and what it loads and stores", "requests", "bytes",
        "sectors", "ways", "share"
    last_where = ""
    for (r = first_row[group]; r <= last_row[group]; r++) {
        add_totals(r)
        print_row(r, sectors, wavefronts)
        kind = row[r, "space"] " " row[r, "access"]
        if (!((group, kind) in seen_kind)) {
            seen_kind[group, kind] = 1
            kinds[++n] = kind
        }
        kind_requests[group, kind] += get(r, "requests")
        kind_bytes[group, kind] += get(r, "bytes")
        kind_sectors[group, kind] += get(r, "sectors")
        kind_wavefronts[group, kind] += get(r, "wavefronts")
    }
    print ""
    for (k = 1; k <= n; k++) {
        kind = kinds[k]
        printf "  %-45s %12s %11s   ", "all: " kind, grouped(kind_requests[group, kind]), size(kind_bytes[group, kind])
        if (kind ~ /^shared/)
            printf "%s wavefronts\n", grouped(kind_wavefronts[group, kind])
        else
            printf "%s sectors, %s\n", grouped(kind_sectors[group, kind]), size(32 * kind_sectors[group, kind])
    }
    print ""
}

function counted(quantity,  at, pattern, r, key, sum, g, what) {
    at = index(quantity, "@")
    if (at == 0)
        return total[quantity] + 0
    pattern = substr(quantity, at + 1)
    quantity = substr(quantity, 1, at - 1)
    for (g = 1; g <= groups; g++)
        for (r = first_row[order[g]]; r <= last_row[order[g]]; r++) {
            key = row[r, "space"] "_" row[r, "access"] "_"
            gsub(/ /, "_", key)
            what = substr(quantity, length(key) + 1)
            if (index(quantity, key) == 1 && (r, what) in row &&
                index(source_text(row[r, "file"], row[r, "line"]), pattern))
                sum += get(r, what)
        }
    return sum + 0
}

function prediction(quantity, unit, value,  found) {
    if (predictions++ == 0)
        printf "What the lesson predicts\n  %-56s %15s %15s %18s\n", "", "predicted", "counted", "counted/predicted"
    found = counted(quantity)
    printf "  %-56s %15s %15s %18s\n", quantity " (" unit ")", grouped(value), grouped(found),
        value ? sprintf("%.3f", found / value) : "-"
}

END {
    if (rows == 0) {
        print "No memory access was counted: the kernel was not launched, or reads and writes nothing."
        exit
    }
    printf "%s  %s  %s%s, counted by the simulator\n\n", name, source, shape == "" ? "" : "shape " shape,
        causal ? ", causal" : ""
    for (g = 1; g <= groups; g++)
        print_kernel(order[g])
    for (n = 1; n <= notes; n++)
        printf "  [%d] %s\n", n, note[n]
    print "  x4: four copies of the access, from unrolling or inlining, added up. requests: executions by a warp. sectors:"
    print "  32-byte pieces of memory that a request touches (and the fewest that could hold what it asks for). ways: of bank"
    print "  conflicts, passes through shared memory for each that would do without them. share: of all sectors of global and"
    print "  local memory, or of all passes of shared memory."
    print "  Counted on PTX: what ptxas spills, unrolls or keeps in registers may add or save accesses.\n"
    if (shape != "")
        predict()
    if (predictions > 0)
        print ""
}
