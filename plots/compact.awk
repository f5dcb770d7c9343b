# Shortens an SVG of gnuplot that svg.awk has read, without a change of what it shows: symbols that nothing draws go, the group of a text
# becomes the attributes of that text, and neighbouring groups with the same attributes become one.
{
    gsub(/\/><\/g>/, "/>\n</g>")
    gsub(/\/>\t</, "/>\n<")
    count = split($0, part, "\n")
    for (i = 1; i <= count; i++) line[++lines] = part[i]
}
END {
    # A symbol refers to earlier ones.
    for (i = lines; i; i--) {
        if (match(line[i], / id='[^']*gp(Dot|Pt[0-9]+)'/) && !(substr(line[i], RSTART + 5, RLENGTH - 6) in drawn)) line[i] = ""
        else if (match(line[i], /href='#[^']*'/)) drawn[substr(line[i], RSTART + 7, RLENGTH - 8)]
    }
    for (i = 1; i <= lines; i++) {
        if (line[i] ~ /^\t*<g transform=[^<]*>$/ && line[i + 1] ~ /^\t*<text>/ && line[i + 2] ~ /^\t*<\/g>$/) {
            sub(/^\t*<text>/, "", line[i + 1])
            sub(/<g /, "<text ", line[i])
            line[i + 2] = line[i] line[i + 1]
            i += 2
        }
        if (line[i] != "") kept[++n] = line[i]
    }
    for (i = 1; i <= n; i++) {
        if (kept[i] ~ /^\t*<\/g>$/ && kept[i + 1] == open[depth]) { i++; continue }
        if (kept[i] ~ /^\t*<g[ >]/) open[++depth] = kept[i]
        if (kept[i] ~ /<\/g>$/) depth--
        print kept[i]
    }
}
