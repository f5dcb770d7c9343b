# Adds a title, a text alternative, colours for a dark background and unique ids to an SVG of gnuplot:
#     awk -v name=NAME -v title=TEXT -v text=TEXT -f svg.awk palette CHART.svg
function escaped(s) {
    gsub(/&/, "\\&amp;", s); gsub(/</, "\\&lt;", s); gsub(/>/, "\\&gt;", s)
    return s
}
NR == FNR {
    dark = dark sprintf("[fill=\"%s\"]{fill:%s}[stroke=\"%s\"]{stroke:%s}[color='%s']{color:%s}", $2, $3, $2, $3, $2, $3)
    next
}
/<filter /, /<\/filter>/ { next }
/<text><\/text>/ { next }
{
    # gnuplot writes rgb( 26,  26,  26); the rules for the dark background match #rrggbb.
    while (match($0, /rgb\( *[0-9]+, *[0-9]+, *[0-9]+\)/)) {
        split(substr($0, RSTART + 4, RLENGTH - 5), part, ",")
        $0 = substr($0, 1, RSTART - 1) sprintf("#%02x%02x%02x", part[1], part[2], part[3]) substr($0, RSTART + RLENGTH)
    }
    sub(/ *><title>.*<\/title>$/, ">")
    gsub(/ font-family="DejaVu Sans:Bold"/, " font-weight=\"bold\"")
    gsub(/ font-family="DejaVu Sans"| stroke-linecap="butt" stroke-linejoin="miter"/, "")
    gsub(/ id='| id="|href='#|url\(#/, "&" name "-")
}
/^<svg/ { sub(/<svg */, "<svg role=\"img\" aria-labelledby=\"" name "-title " name "-text\" font-family=\"DejaVu Sans, Verdana, sans-serif\" ") }
/^<title>/ { $0 = "<title id=\"" name "-title\">" escaped(title) "</title>" }
/^<desc>/ { $0 = "<desc id=\"" name "-text\">" escaped(text) "</desc><style>@media (prefers-color-scheme: dark) {" dark "}</style>" }
{ sub(/[ \t]+$/, "") }
$0 != "" && !($0 ~ /^[ \t]*<\/g>$/ && line[lines] ~ /^[ \t]*<g[ >]/ && lines--) { line[++lines] = $0 }
END { for (i = 1; i <= lines; i++) print line[i] }
