# Gives a gnuplot SVG what a reader needs: a title and a text alternative in place of the program's name, fonts that are
# there on any system, and names that are its own, so that several charts can stand in one page.
# Variables: name, title, text.

function escaped(s) {
    gsub(/&/, "\\&amp;", s)
    gsub(/</, "\\&lt;", s)
    gsub(/>/, "\\&gt;", s)
    return s
}

/^<svg/ {
    sub(/<svg */, "<svg role=\"img\" aria-labelledby=\"" name "-title " name "-text\" ")
}
/^<title>/ {
    print "<title id=\"" name "-title\">" escaped(title) "</title>"
    next
}
/^<desc>/ {
    print "<desc id=\"" name "-text\">" escaped(text) "</desc>"
    next
}
# An empty label is only there for its point.
/<text><\/text>/ {
    next
}
{
    gsub(/font-family="DejaVu Sans:Bold"/, "font-family=\"DejaVu Sans, Verdana, sans-serif\" font-weight=\"bold\"")
    gsub(/font-family="DejaVu Sans"/, "font-family=\"DejaVu Sans, Verdana, sans-serif\"")
    gsub(/ id='/, "&" name "-")
    gsub(/ id="/, "&" name "-")
    gsub(/xlink:href='#/, "&" name "-")
    gsub(/url\(#/, "&" name "-")
    sub(/[ \t]+$/, "")
    print
}
