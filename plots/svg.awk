# Gives a gnuplot SVG what a reader needs: a title and a text alternative in place of the program's name, fonts that are
# there on any system, and names that are its own, so that several charts can stand in one page. What is not seen is left out:
# groups with nothing in them, marks that are not used, and titles of gnuplot's, which would be shown beside the pointer.
# Variables: name, title, text.

function escaped(s) {
    gsub(/&/, "\\&amp;", s)
    gsub(/</, "\\&lt;", s)
    gsub(/>/, "\\&gt;", s)
    return s
}

# No text stands in a box, which these would be for; an empty label is only there for its point.
/<filter /, /<\/filter>/ {
    next
}
/<text><\/text>/ {
    next
}
{
    this_mark = used = ""
    if (match($0, / id='gpPt[0-9]+'/))
        this_mark = substr($0, RSTART + 5, RLENGTH - 6)
    if (match($0, /href='#gpPt[0-9]+/))
        used = substr($0, RSTART + 7, RLENGTH - 7)
    sub(/ *><title>.*<\/title>$/, ">")
    # The family is said once, above; how lines end is what SVG assumes.
    gsub(/ font-family="DejaVu Sans:Bold"/, " font-weight=\"bold\"")
    gsub(/ font-family="DejaVu Sans"/, "")
    gsub(/ stroke-linecap="butt" stroke-linejoin="miter"/, "")
    gsub(/ id='/, "&" name "-")
    gsub(/ id="/, "&" name "-")
    gsub(/xlink:href='#/, "&" name "-")
    gsub(/url\(#/, "&" name "-")
}
/^<svg/ {
    sub(/<svg */, "<svg role=\"img\" aria-labelledby=\"" name "-title " name "-text\" " \
        "font-family=\"DejaVu Sans, Verdana, sans-serif\"")
}
/^<title>/ {
    $0 = "<title id=\"" name "-title\">" escaped(title) "</title>"
}
/^<desc>/ {
    $0 = "<desc id=\"" name "-text\">" escaped(text) "</desc>"
}
{
    sub(/[ \t]+$/, "")
}
/^$/ {
    next
}
/^[ \t]*<\/g>$/ && line[lines] ~ /^[ \t]*<g[ >]/ {
    lines--
    next
}
{
    line[++lines] = $0
    mark[lines] = this_mark
    mark_used[lines] = used
    if (this_mark != "")
        line_of[this_mark] = lines
}

# A mark may be made of another one.
function keep(name) {
    if (name == "" || name in kept)
        return
    kept[name] = 1
    keep(mark_used[line_of[name]])
}

END {
    for (i = 1; i <= lines; i++)
        if (mark[i] == "")
            keep(mark_used[i])
    for (i = 1; i <= lines; i++)
        if (mark[i] == "" || mark[i] in kept)
            print line[i]
}
