# What Nsight Compute counted, from a profile.csv: awk -v what=profile -v names=counters.tsv -f csv.awk -f profile.awk
#
# Variable: names  a file of lines "metric<TAB>words", in the order in which a table shows them
# Out, tab-separated: "#" name value for device, date and commit, then, for the reference heads (B=1 H=16, D=64 or 128, no
# mask), the last row of each metric:
#     folder  D  N  words  value with its unit

BEGIN {
    OFS = "\t"
    while ((getline line < names) > 0)
        if (split(line, part, "\t") == 2) {
            metric[++metrics] = part[1]
            words[part[1]] = part[2]
        }
}

FNR == 1 {
    next
}

get("lesson") !~ /^solution-/ || get("B") != 1 || get("H") != 16 || get("Nq") != get("Nk") || get("causal") != 0 || \
(get("D") != 64 && get("D") != 128) {
    next
}

{
    folder = get("lesson")
    sub(/^solution-/, "", folder)
    if (!(get("metric") in words)) {
        words[get("metric")] = "`" get("metric") "`"
        metric[++metrics] = get("metric")
    }
    value[folder, get("D"), get("metric")] = with_unit(get("value"), get("unit"))
    size[folder, get("D")] = get("Nq")
    if (!(folder in seen))
        folder_name[++folders] = folder
    seen[folder] = 1
    device = get("device")
    date = substr(get("date"), 1, 10)
    commit = get("commit")
}

# 2160000000 -> "2.16 G", 71.3 and % -> "71 %".
function with_unit(number, unit,    scaled, letters, power) {
    if (unit == "%")
        return sprintf("%.0f %%", number)
    letters = " kMGT"
    power = 1
    for (scaled = number; scaled >= 999.5 && power < 5; scaled /= 1000)
        power++
    scaled = power == 1 && scaled == int(scaled) ? sprintf("%d", scaled) : sprintf("%.3g", scaled)
    unit = (power > 1 ? substr(letters, power, 1) : "") (unit == "byte" ? "B" : "")
    return scaled (unit == "" ? "" : " " unit)
}

END {
    if (csv_failed)
        exit 2
    if (!folders)
        exit 0
    print "#", "run", "profile"
    print "#", "device", device
    print "#", "date", date
    print "#", "commit", commit
    for (i = 1; i <= folders; i++)
        for (d = 64; d <= 128; d += 64)
            for (j = 1; j <= metrics; j++)
                if ((folder_name[i], d, metric[j]) in value)
                    print folder_name[i], d, size[folder_name[i], d], words[metric[j]], \
                        value[folder_name[i], d, metric[j]]
}
