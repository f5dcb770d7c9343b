# Reads plots/style.gp and says where its colours cannot be told apart: awk -f tests/plots/check-palette.awk plots/style.gp
# Each colour of a theme has to differ from the paper by a contrast of 3 to 1 (WCAG 2, graphics), and from each other
# colour by 0.08 in OKLab, as people see it with normal vision and without red, green or blue cones (Machado, Oliveira and
# Fernandes, 2009). Exit status 1 where one does not.

BEGIN {
    split("1 0 0 0 1 0 0 0 1", vision1, " ")
    split("0.152286 1.052583 -0.204868 0.114503 0.786281 0.099216 -0.003882 -0.048116 1.051998", vision2, " ")
    split("0.367322 0.860646 -0.227968 0.280085 0.672501 0.047413 -0.011820 0.042940 0.968881", vision3, " ")
    split("1.255528 -0.076749 -0.178779 -0.078411 0.930809 0.147602 0.004733 0.691367 0.303900", vision4, " ")
    for (i = 1; i <= 9; i++) {
        vision[1, i] = vision1[i]
        vision[2, i] = vision2[i]
        vision[3, i] = vision3[i]
        vision[4, i] = vision4[i]
    }
    split("normal protan deutan tritan", vision_name, " ")
}

function hex(text) {
    return 16 * (index("0123456789abcdef", substr(text, 1, 1)) - 1) + index("0123456789abcdef", substr(text, 2, 1)) - 1
}

function linear(value) {
    value /= 255
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ^ 2.4
}

function root(value) {
    return value > 0 ? value ^ (1 / 3) : 0
}

# The colour's linear light in light[1..3], and its place in OKLab, as one kind of vision has it, in lab[1..3].
function see(colour, kind,    i, seen, l, m, s) {
    for (i = 1; i <= 3; i++)
        light[i] = linear(hex(substr(colour, 2 * i, 2)))
    for (i = 0; i < 3; i++)
        seen[i + 1] = vision[kind, 3 * i + 1] * light[1] + vision[kind, 3 * i + 2] * light[2] + vision[kind, 3 * i + 3] * light[3]
    l = root(0.4122214708 * seen[1] + 0.5363325363 * seen[2] + 0.0514459929 * seen[3])
    m = root(0.2119034982 * seen[1] + 0.6806995451 * seen[2] + 0.1073969566 * seen[3])
    s = root(0.0883024619 * seen[1] + 0.2817188376 * seen[2] + 0.6299787005 * seen[3])
    lab[1] = 0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s
    lab[2] = 1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s
    lab[3] = 0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s
}

function luminance(colour) {
    see(colour, 1)
    return 0.2126 * light[1] + 0.7152 * light[2] + 0.0722 * light[3]
}

function contrast(a, b) {
    a = luminance(a) + 0.05
    b = luminance(b) + 0.05
    return a > b ? a / b : b / a
}

function complain(message) {
    print FILENAME ": " message
    wrong = 1
}

/^ *paper = "#/ {
    split($0, part, "\"")
    paper = part[2]
}

/^ *array colour\[/ {
    palettes++
    count = split($0, part, "\"")
    colours = 0
    for (i = 2; i <= count; i += 2)
        colour[++colours] = part[i]
    if (colours < 8)
        complain("a palette of " colours " colours only")
    for (i = 1; i <= colours; i++) {
        if (contrast(colour[i], paper) < 3)
            complain(colour[i] " on " paper " has a contrast of " contrast(colour[i], paper))
        for (kind = 1; kind <= 4; kind++)
            for (j = 1; j < i; j++) {
                see(colour[i], kind)
                x = lab[1]; y = lab[2]; z = lab[3]
                see(colour[j], kind)
                distance = sqrt((x - lab[1]) ^ 2 + (y - lab[2]) ^ 2 + (z - lab[3]) ^ 2)
                if (distance < 0.08)
                    complain(colour[i] " and " colour[j] " are " distance " apart in " vision_name[kind] " vision")
            }
    }
}

END {
    if (palettes != 2)
        complain(palettes + 0 " palettes, not one light and one dark")
    exit wrong
}
