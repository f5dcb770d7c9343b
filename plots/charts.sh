# shellcheck shell=sh
# The charts of plots/draw, which reads this file: what is selected, how it is charted and what is said beside it.
# Variables of draw: gpu (a folder of results), slug, kind, own, expected, formats, readme, work, new.
# shellcheck disable=SC2154

# What README.md and the lessons' pages show; kept small, since it is committed.
shown="speedup-over-01 time-d64 tflops-d64 softmax"

select_rows() { # file program variables...
    what=$1 program=$2
    shift 2
    [ -f "$gpu/$what.csv" ] || return 0
    awk -v what="$what" -v kind="$kind" "$@" -f "plots/csv.awk" -f "plots/$program.awk" "$gpu/$what.csv"
}

fact() { # file name
    awk -F '\t' -v name="$2" '$1 == "#" && $2 == name { print $3; exit }' "$1"
}

# Runs a chart's program; $work/chart.* is what gnuplot draws, where there is anything to draw.
lay_out() { # programs files... -- variables
    rm -f "$work"/chart.*
    programs=
    for program in $1; do
        programs="$programs -f plots/$program.awk"
    done
    shift
    # shellcheck disable=SC2086 # programs are words
    awk -v kind="$kind" -v ideas=plots/ideas.tsv -v results="$gpu" -v out="$work/chart" $programs "$@"
}

# Breaks a text into lines that a chart has room for: "line\nline" for gnuplot.
folded() {
    printf '%s\n' "$1" | fold -s -w 70 | awk '{ sub(/ $/, ""); printf "%s%s", (NR > 1 ? "\\n" : ""), $0 }'
}

# Draws what was laid out, light and dark, and adds its line to charts.tsv. The subject and how it was measured may be
# longer than a line.
draw() { # name selected script heading subject caption how
    name=$1 selected=$2 script=$3 heading=$4 caption=$6 how=$7
    [ -f "$work/chart.tsv" ] || return 0
    case " $shown " in *" $name "*) ;; *) [ -z "$readme" ] || return 0 ;; esac
    subject="$(fact "$selected" device), ${own}$5"
    text="$heading. $subject. $(cat "$work/chart.text"). $how."
    ! grep -q '\*[:,]' "$work/chart.text" || how="$how; * solution"
    cat >"$work/chart.settings" <<SETTINGS
style = "plots/style.gp"
data = "$work/chart.tsv"
heading = "$heading"
subject = "$(folded "$subject")"
footnote = "$(folded "$how.")"
SETTINGS
    for theme in light dark; do
        file=$name
        [ $theme = light ] || file=$name-dark
        for format in $formats; do
            gnuplot -e "theme = '$theme'; output = '$work/chart.$format'" "$work/chart.settings" "$work/chart.gp" \
                "plots/$script.gp" 2>"$work/errors" ||
                fail "gnuplot cannot draw $file.$format: $(grep . "$work/errors" | tail -n 1)"
        done
        awk -v name="$file" -v title="$heading" -v text="$text" -f "plots/svg.awk" "$work/chart.svg" >"$new/$file.svg"
        [ ! -f "$work/chart.png" ] || mv "$work/chart.png" "$new/$file.png"
    done
    printf '%s\t%s\t%s\t%s\n' "$name" "$heading" "$caption" "$text" >>"$new/charts.tsv"
}

timings="Median of interleaved CUDA-event timings"
measured_by() { # selected
    printf '%s, %s, commit %s' "$timings" "$(fact "$1" date)" "$(fact "$1" commit)"
    if [ -n "$(fact "$1" scaled)" ]; then
        printf '. Peers were timed in a run of their own beside the same lessons; their ratio to those is kept'
    fi
}

draw_ladder() {
    select_rows attention ladder -v view=ladder -v others=1 -v expected="$expected" >"$work/ladder"
    how=$(measured_by "$work/ladder")
    lay_out "figures bars speedup" -v chart=over_first "$work/ladder"
    draw speedup-over-01 "$work/ladder" bars "Speed-up over lesson 01" "fp32, B=1 H=16 N=4096, no mask" \
        "How many times faster than lesson 01 each lesson is, with the idea that it adds." "$how"
    lay_out "figures bars speedup" -v chart=over_previous "$work/ladder"
    draw speedup-over-previous "$work/ladder" bars "Speed-up over the lesson before" "fp32, B=1 H=16 N=4096, no mask" \
        "What each idea is worth alone: the time of the lesson before over this one's." "$how"
}

draw_sizes() {
    select_rows attention ladder -v view=sizes -v others=1 -v expected="$expected" >"$work/sizes"
    how=$(measured_by "$work/sizes")
    awk -F '\t' '$1 != "#" { print $1 }' "$work/sizes" | sort -nu >"$work/dims"
    while read -r d; do
        lay_out "figures lines over_n" -v chart=time -v d="$d" -v heads=16 "$work/ceilings" "$work/sizes"
        draw "time-d$d" "$work/sizes" lines "Time over N, milliseconds" "fp32, B=1 H=16 D=$d, no mask" \
            "The time of one forward pass over the number of queries and keys, head dimension $d." "$how"
        lay_out "figures lines over_n" -v chart=tflops -v d="$d" -v heads=16 "$work/ceilings" "$work/sizes"
        draw "tflops-d$d" "$work/sizes" lines "TFLOP/s over N" "fp32, B=1 H=16 D=$d, no mask" \
            "Useful floating-point operations a second over the number of queries and keys, head dimension $d." "$how"
    done <"$work/dims"
}

draw_softmax() {
    select_rows softmax softmax -v view=bars >"$work/softmax"
    lay_out "figures bars softmax_bars" "$work/softmax"
    draw softmax "$work/softmax" bars "Row softmax, GB/s" "fp32, rows × columns, one read and one write counted" \
        "Lesson 03's row softmax beside its five passes and a copy of the same bytes." "$(measured_by "$work/softmax")"
}

draw_gpu() {
    : >"$work/ceilings"
    draw_ladder
    draw_sizes
    draw_softmax
}
