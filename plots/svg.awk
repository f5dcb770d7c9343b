# Gives a gnuplot SVG what a reader needs: a title and a text alternative in place of the program's name, and fonts
# that are there on any system. Variables: title, text.

function escaped(s) {
    gsub(/&/, "\\&amp;", s)
    gsub(/</, "\\&lt;", s)
    gsub(/>/, "\\&gt;", s)
    return s
}

/^<svg/ {
    sub(/<svg */, "<svg role=\"img\" aria-labelledby=\"title text\" ")
}
/^<title>/ {
    print "<title id=\"title\">" escaped(title) "</title>"
    next
}
/^<desc>/ {
    print "<desc id=\"text\">" escaped(text) "</desc>"
    next
}
{
    gsub(/font-family="DejaVu Sans:Bold"/, "font-family=\"DejaVu Sans, Verdana, sans-serif\" font-weight=\"bold\"")
    gsub(/font-family="DejaVu Sans"/, "font-family=\"DejaVu Sans, Verdana, sans-serif\"")
    sub(/[ \t]+$/, "")
    print
}
