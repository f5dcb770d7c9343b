# How figures are written, and how one written by hand is told. Used by outline.awk; no rules of its own.

function nbsp() {
    return "\302\240"
}

function with_unit(text, unit) {
    return text nbsp() unit
}

# Three significant digits, never as a power of ten.
function short(value,    digits, size) {
    digits = 2
    for (size = 10; size <= value && digits > 0; size *= 10)
        digits--
    if (value < 1)
        digits = 3
    return sprintf("%." digits "f", value)
}

function as_time(us) {
    return us < 999.5 ? with_unit(short(us), "µs") : with_unit(short(us / 1000), "ms")
}

function times(ratio) {
    return sprintf(ratio >= 99.95 ? "%.0f×" : "%.1f×", ratio)
}

function percent(share) {
    return with_unit(sprintf("%.0f", 100 * share), "%")
}

# 1351467008 and byte -> 1.35 GB; 71.08 and % -> 71 %.
function counted(value, unit,    power, letters) {
    if (unit == "%")
        return percent(value / 100)
    letters = " kMGT"
    for (power = 1; value >= 999.5 && power < 5; power++)
        value /= 1000
    unit = (power > 1 ? substr(letters, power, 1) : "") (unit == "byte" ? "B" : "")
    value = power == 1 && value == int(value) ? value : sprintf("%.3g", value)
    return unit == "" ? value : with_unit(value, unit)
}

function in_words(count,    word) {
    split("one two three four five six seven eight nine ten eleven twelve", word, " ")
    return count in word ? word[count] : count
}

# A figure that only a measurement can give: digits and a unit of time, rate or ratio. N=4096, 8x8, 32 queries, 16-byte
# and 48 KB are none.
function literal_figure(text,    blank, unit) {
    gsub(/\302\240/, " ", text)
    gsub(/\303\227/, "x", text)
    gsub(/\302\265|\316\274/, "u", text)
    blank = "[0-9][ -]?"
    unit = "([num]?s|(nano|micro|milli)?sec(ond)?s?|min(ute)?s?|[MGTP]FLOP(/s|S|s)?|(giga|tera)flops?|[MGT]i?B(/s)?|" \
        "(mega|giga|tera)bytes?|[MG]Hz|W|watts?|x|times|fold|percent|per cent)"
    if (match(text, "[0-9][0-9.,]* ?%"))
        return substr(text, RSTART, RLENGTH)
    # A shape, 4096 x 64, goes on with a number.
    gsub(/ x [0-9(]/, " ", text)
    if (match(text, blank unit "([^A-Za-z0-9_/]|$)")) {
        text = substr(text, 1, RSTART + RLENGTH - 1)
        match(text, "[0-9.,]*" blank unit "[^A-Za-z0-9_/]?$")
        text = substr(text, RSTART, RLENGTH)
        sub(/[^A-Za-z0-9]$/, "", text)
        return text
    }
    return ""
}
