# Bars of the last lesson's speed-up over the fastest peer, a bar a shape:
#     awk -v what=attention -v over=peer -f csv.awk -f figures.awk -f rivals.awk -f bars.awk -f shapes.awk attention.csv
#
# Variables: out  writes out.tsv and out.gp, for bars.gp, out.text and out.facts; nothing where there is no peer
# and those of rivals.awk. Only shapes where PyTorch was timed; there the baseline is a rival too.

END {
    if (csv_failed)
        exit 2
    compare()
    # One rival at all shapes is named once, in the legend.
    for (i = 1; i <= shape_count; i++) {
        rival = shape[i] in beside_torch ? rival_of[shape[i]] : ""
        if (rival != "" && index(" " rivals_seen " ", " " rival " ") == 0)
            rivals_seen = rivals_seen (rivals_seen == "" ? "" : " ") rival
    }
    one_rival = rivals_seen !~ / /
    # A narrow chart has no room for names behind its bars.
    labels_above = narrow && !one_rival
    for (i = 1; i <= shape_count; i++) {
        s = shape[i]
        if (!(s in beside_torch))
            continue
        split(s, part, SUBSEP)
        if (part[1] SUBSEP part[2] != group)
            add_group("B=" part[1] " H=" part[2])
        group = part[1] SUBSEP part[2]
        figure = (ratio_noisy[s] ? "~" : "") closely(ratio[s])
        any_noisy = any_noisy || ratio_noisy[s]
        rival = title_of(rival_of[s], "peer")
        label = "N=" part[3] " D=" part[4]
        over_whom = one_rival ? "" : " over " rival
        add_bar(label (labels_above ? over_whom : ""), ratio[s], figure (labels_above ? "" : over_whom), ratio[s] < 1 ? 4 : 1, \
            ratio_noisy[s] ? "hollow" : "solid", "-")
        text = text (text == "" ? "" : "; ") "B=" part[1] " H=" part[2] " N=" part[3] " D=" part[4] ": " figure " over " rival
    }
    if (!bars)
        exit 0
    legend = one_rival ? "the fastest is " rival " at every shape" : ""
    if (any_noisy)
        legend = legend (one_rival ? "; " : "") "~ and hollow: noisy"
    finish_bars("log", "×", 1, legend)
    print text > (out ".text")
    write_facts()
}
