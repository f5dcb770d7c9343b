# shellcheck shell=sh
# The charts of plots/draw, which reads this file: what is selected, how it is charted and what is said beside it.
# Variables of draw: gpu (a folder of results), slug, kind, own, expected, formats, readme, work, new.
# shellcheck disable=SC2154

# What README.md, the lessons' pages and peers/README.md show; kept small, since it is committed.
shown="speedup-over-01 tflops-d64 softmax roofline-d64 roofline-d128 bytes-d64 limits-d64 peers"
shown="$shown tflops-bf16-d64 tflops-bf16-d64-causal tflops-bf16-d128 tflops-bf16-d128-causal"

select_rows() { # file program variables...
    what=$1 program=$2
    shift 2
    [ -f "$gpu/$what.csv" ] || return 0
    awk -v what="$what" -v kind="$kind" "$@" -f "plots/csv.awk" -f "plots/$program.awk" "$gpu/$what.csv"
}

fact() { # file name
    awk -F '\t' -v name="$2" '$1 == "#" && $2 == name { print $3; exit }' "$1"
}

# A chart's two sizes: what its file's name ends in, and in pixels its width, the margin at its left, its smallest type.
sizes="wide phone"
measures() { # size
    case $1 in
    wide) ending='' width=700 margin=16 type=16 ;;
    phone) ending=-phone width=360 margin=8 type=13 ;;
    esac
}

# Each lesson's idea in a few words, as the bars of the ladder say it.
awk '{ split(FILENAME, part, "/"); print part[2] "\t" $0 }' lessons/[0-9][0-9]_*/idea /dev/null >"$work/ideas" 2>/dev/null || :

# Runs a chart's program in both sizes; $work/chart.* and $work/chart-phone.* are what gnuplot draws, where there is anything
# to draw.
lay_out() { # programs files... -- variables
    rm -f "$work"/chart.* "$work"/chart-phone.*
    programs=
    for program in $1; do
        programs="$programs -f plots/$program.awk"
    done
    shift
    for size in $sizes; do
        measures "$size"
        # shellcheck disable=SC2086 # programs are words
        awk -v kind="$kind" -v ideas="$work/ideas" -v results="$gpu" -v width="$width" -v margin="$margin" -v type="$type" \
            -v quiet="${ending:+1}" -v out="$work/chart$ending" $programs "$@"
    done
}

# The same for a program that reads a results file itself.
lay_out_rows() { # file programs variables...
    rm -f "$work"/chart.* "$work"/chart-phone.*
    what=$1 reader=$2
    shift 2
    [ -f "$gpu/$what.csv" ] || return 0
    lay_out "csv $reader" -v what="$what" "$@" "$gpu/$what.csv"
}

# Breaks a text into lines that a chart has room for: "line\nline" for gnuplot. A letter takes so many thousandths of the
# smallest type.
folded() { # text thousandths
    printf '%s\n' "$1" | sed 's/no mask/no_mask/' | fold -s -w $(((width - 2 * margin) * 1000 / ($2 * type))) |
        awk '{ sub(/ $/, ""); sub(/no_mask/, "no mask"); printf "%s%s", (NR > 1 ? "\\n" : ""), $0 }'
}

# Draws what was laid out, light and dark, and adds its line to charts.tsv. The subject and how it was measured may be
# longer than a line.
draw() { # name facts script heading subject caption how
    name=$1 script=$3 heading=$4 caption=$6 footnote=$7
    [ -f "$work/chart.tsv" ] || return 0
    case " $shown " in *" $name "*) ;; *) [ -z "$readme" ] || return 0 ;; esac
    said=$(fact "$2" device)
    said="${said:+$said, }${own}$5"
    text="$heading. $said. $(cat "$work/chart.text"). $footnote."
    ! grep -q '\*[:,]' "$work/chart.text" || footnote=$(printf '%s.\n* solution' "$footnote")
    for size in $sizes; do
        measures "$size"
        laid_out=$work/chart$ending
        cat >"$laid_out.settings" <<SETTINGS
style = "plots/style.gp"
data = "$laid_out.tsv"
heading = "$(folded "$heading" 850)"
subject = "$(folded "$said" 564)"
footnote = "$(folded "$footnote." 564)"
SETTINGS
        for file in "$name$ending" "$name$ending-dark"; do
            case $file in *-dark) theme=dark ;; *) theme=light ;; esac
            for format in $formats; do
                cat <<COMMANDS
reset session
theme = "$theme"
output = "$new/$file.$format"
load "$laid_out.settings"
load "$laid_out.gp"
load "plots/$script.gp"
set output
COMMANDS
            done
        done
    done >"$work/commands"
    gnuplot "$work/commands" 2>"$work/errors" || fail "gnuplot cannot draw $name: $(grep . "$work/errors" | tail -n 1)"
    for file in "$name" "$name-dark" "$name-phone" "$name-phone-dark"; do
        awk -v name="$file" -v title="$heading" -v text="$text" -f "plots/svg.awk" "$new/$file.svg" >"$work/chart.svg"
        mv "$work/chart.svg" "$new/$file.svg"
    done
    printf '%s\t%s\t%s\t%s\n' "$name" "$heading" "$caption" "$text" >>"$new/charts.tsv"
}

# How the rows of a selection were measured; with "peers" also how peers of another run come in.
measured_by() { # facts [peers]
    printf 'Median of interleaved CUDA-event timings, %s, commit %s' "$(fact "$1" date)" "$(fact "$1" commit)"
    if [ -n "${2-}" ] && [ -n "$(fact "$1" scaled)" ]; then
        printf '. Peers were timed in a run of their own beside the same lessons; their ratio to those is kept'
    fi
}

# How the ceilings were measured, for a chart that shows some.
ceilings_are() { # ceilings selection means
    [ -s "$1" ] || return 0
    if [ "$(fact "$1" run)" = "$(fact "$2" run)" ]; then
        printf '; ceilings by %s alone, in the same run' "$3"
    else
        printf '; ceilings by %s alone, in another run of %s' "$3" "$(fact "$1" date)"
    fi
}
ladder_ceilings_are() {
    ceilings_are "$work/ceilings" "$work/ladder" "a copy and by multiply-adds"
}

draw_ladder() {
    how=$(measured_by "$work/ladder" peers)
    subject="fp32, B=1 H=16 N=4096, no mask"
    lay_out "figures bars speedup" -v chart=over_first "$work/ladder"
    draw speedup-over-01 "$work/ladder" bars "Speed-up over lesson 01" "$subject" \
        "How many times faster than lesson 01 each lesson is, with the idea that it adds." "$how"
    lay_out "figures bars speedup" -v chart=over_previous "$work/ladder"
    draw speedup-over-previous "$work/ladder" bars "Speed-up over the lesson before" "$subject" \
        "What each idea is worth alone: the time of the lesson before over this one's." "$(measured_by "$work/ladder")"
    lay_out "figures bars triton_bars" "$work/ladder"
    draw triton "$work/ladder" bars "CUDA and Triton, TFLOP/s" "$subject" \
        "Each lesson beside a Triton kernel of the same idea." "$how"
}

draw_sizes() {
    select_rows attention ladder -v view=sizes -v others=1 -v expected="$expected" >"$work/sizes"
    how=$(measured_by "$work/sizes" peers)$(ladder_ceilings_are)
    awk -F '\t' '$1 != "#" { print $1 }' "$work/sizes" | sort -nu >"$work/dims"
    while read -r d; do
        subject="fp32, B=1 H=16 D=$d, no mask"
        lay_out "figures lines over_n" -v chart=time -v d="$d" -v heads=16 part=ceilings "$work/ceilings" part=sizes "$work/sizes"
        draw "time-d$d" "$work/sizes" lines "Time over N, milliseconds" "$subject" \
            "The time of one forward pass over the number of queries and keys, head dimension $d." "$how"
        lay_out "figures lines over_n" -v chart=tflops -v d="$d" -v heads=16 part=ceilings "$work/ceilings" part=sizes "$work/sizes"
        draw "tflops-d$d" "$work/sizes" lines "TFLOP/s over N" "$subject" \
            "Useful floating-point operations a second over the number of queries and keys, head dimension $d." "$how"
    done <"$work/dims"
}

# The grid of 16 bits, lessons and peers of one run.
draw_grid() { # dtype causal mask ending
    select_rows attention grid -v dtype="$1" -v causal="$2" >"$work/grid"
    grep -q '^[0-9]' "$work/grid" || return 0
    select_rows ceilings ceilings -v run="$(fact "$work/grid" run)" -v having=mma_bf16 >"$work/grid_ceilings"
    how=$(measured_by "$work/grid")
    how="$how$(ceilings_are "$work/grid_ceilings" "$work/grid" "bf16 products on the tensor cores")"
    # Where nothing at all was measured, that is said once.
    [ -s "$work/grid_ceilings" ] || [ ! -s "$work/ceilings" ] || [ "$kind" != solution ] ||
        echo "$gpu: what the tensor cores reach alone is not measured: the charts of $1 have no ceilings; make bench measures it" >&2
    awk -F '\t' '$1 != "#" { print $1 }' "$work/grid" | sort -nu >"$work/dims"
    while read -r d; do
        lay_out "figures lines over_n" -v chart=tflops -v bits=16 -v d="$d" part=ceilings "$work/grid_ceilings" \
            part=sizes "$work/grid"
        draw "tflops-$1-d$d$4" "$work/grid" lines "TFLOP/s over N in $1" \
            "$1, 16384 tokens, H × D = 2048, D=$d, $3" \
            "Useful floating-point operations a second over the number of queries and keys, head dimension $d, $3." "$how"
    done <"$work/dims"
}

draw_grids() {
    for dtype in fp16 bf16; do
        draw_grid $dtype 0 "no mask" ''
        draw_grid $dtype 1 "causal mask" -causal
    done
}

# What the pages predict of bytes, at the shape that was counted.
predict() {
    : >"$work/predicted"
    for lesson in $expected; do
        [ -f "lessons/$lesson/predictions.csv" ] || continue
        scripts/teach predictions "lessons/$lesson/predictions.csv" 1,16,4096,64 1,16,4096,128 >"$work/formulas" || exit 2
        awk -F '[\t,]' -v OFS='\t' -v folder="$lesson" \
            '$5 ~ /^global_(load|async_copy)_bytes$/ { print folder, $4, $NF }' "$work/formulas" >>"$work/predicted"
    done
}

# The reference shape, with what Nsight Compute counted there.
draw_counted() {
    select_rows profile counters -v n=4096 >"$work/counters"
    how=$(measured_by "$work/ladder")
    counted="ounted by Nsight Compute, $(fact "$work/counters" date), commit $(fact "$work/counters" commit)"
    predict
    for d in 64 128; do
        grep -q "^$d	" "$work/ladder" || continue
        subject="fp32, B=1 H=16 N=4096 D=$d, no mask"
        lay_out "figures joined roofline" -v d="$d" part=ladder "$work/ladder" part=counters "$work/counters" \
            part=ceilings "$work/ceilings"
        draw "roofline-d$d" "$work/ladder" roofline "Roofline" "$subject" \
            "What a kernel reaches at its ratio of arithmetic to bytes, below what the GPU can do, head dimension $d." \
            "$how; bytes c$counted$(ladder_ceilings_are)"
        lay_out "figures joined bars bytes" -v d="$d" part=ladder "$work/ladder" part=counters "$work/counters" \
            part=predicted "$work/predicted"
        draw "bytes-d$d" "$work/ladder" bars "Bytes predicted and counted" "$subject" \
            "What the lessons' pages predict that loads ask for, and what is counted on the way, head dimension $d." \
            "C$counted; predictions by the formulas of the lessons' pages"
        lay_out "figures joined limits" -v d="$d" part=ladder "$work/ladder" part=counters "$work/counters" \
            part=ceilings "$work/ceilings"
        draw "limits-d$d" "$work/ladder" limits "Share of each limit" "$subject" \
            "How much of what each part of the GPU can do a lesson uses, the largest share in red, head dimension $d." \
            "$how; c$counted$(ladder_ceilings_are)"
    done
}

# The last lesson beside its rivals, over shapes.
draw_rivals() {
    interleaved="Each ratio of two timings of one interleaved run"
    for heads in 16 1; do
        suffix='' many="$heads heads"
        [ $heads = 16 ] || suffix=-h$heads many="one head"
        draw_map first "map-over-01$suffix" "lesson 01" \
            "How many times faster the last lesson is than the first, over N and D, with $many."
        draw_map peer "map-over-peer$suffix" "the fastest peer" \
            "How many times faster the last lesson is than the fastest peer or baseline, over N and D, with $many."
    done
    lay_out_rows attention "figures rivals bars shapes" -v over=peer
    draw_rival peers bars "the fastest peer" "fp32, no mask" \
        "How many times faster the last lesson is than the fastest of PyTorch's paths and the baseline, shape by shape."
}

draw_map() { # over name whom caption
    lay_out_rows attention "figures rivals map" -v over="$1" -v heads="$heads"
    draw_rival "$2" map "$3" "fp32, B=1 H=$heads, no mask" "$4"
}

draw_rival() { # name script whom subject caption
    [ -f "$work/chart.facts" ] || return 0
    draw "$1" "$work/chart.facts" "$2" "$(fact "$work/chart.facts" last), over $3" "$4" "$5" \
        "$(measured_by "$work/chart.facts"); e${interleaved#E}"
}

draw_cache() {
    for d in 64 128; do
        lay_out_rows attention "figures lines cache" -v d=$d
        [ -f "$work/chart.facts" ] || continue
        draw "cache-d$d" "$work/chart.facts" lines "Time of cold launches over warm ones" "fp32, B=1 H=16 D=$d, no mask" \
            "How much longer a launch takes whose inputs are not in the L2 cache, head dimension $d." \
            "$(measured_by "$work/chart.facts"). Cold: each launch takes another copy of the inputs; warm: the same again"
    done
}

draw_softmax() {
    select_rows softmax softmax -v view=bars >"$work/softmax"
    lay_out "figures bars softmax_bars" "$work/softmax"
    draw softmax "$work/softmax" bars "Row softmax, GB/s" "fp32, rows × columns, one read and one write counted" \
        "Lesson 03's row softmax beside its five passes and a copy of the same bytes." \
        "$(measured_by "$work/softmax" peers)"
}

# What a GPU's results lack for a chart, a line each; a learner's own lessons need not have it all.
say_missing() {
    [ "$kind" = solution ] || return 0
    if ! grep -q '^fma_fp32' "$work/ceilings" || ! grep -q '^copy' "$work/ceilings"; then
        echo "$gpu: no ceilings are measured: the charts have none; make bench measures them" >&2
    fi
    [ -s "$work/counters" ] ||
        echo "$gpu: nothing is counted at B=1 H=16 N=4096: no charts of roofline, bytes and limits; scripts/measure does it" >&2
    grep -q '^[^,]*,peer-' "$gpu"/*.csv || echo "$gpu: no peers are timed: the charts have none; peers/ says how" >&2
    grep -q ',warm,' "$gpu"/attention.csv 2>/dev/null ||
        echo "$gpu: nothing is timed with warm caches: no chart of cold against warm" >&2
}

draw_gpu() {
    select_rows attention ladder -v view=ladder -v others=1 -v expected="$expected" >"$work/ladder"
    select_rows ceilings ceilings -v run="$(fact "$work/ladder" run)" >"$work/ceilings"
    draw_ladder
    draw_sizes
    draw_grids
    draw_counted
    draw_rivals
    draw_cache
    draw_softmax
    say_missing
}

# Charts of all GPUs that have a ladder, side by side; $work/gpus.* are what draw_gpu selected of each.
draw_gpus() {
    own='' kind=solution gpu=$results
    how="Median of CUDA-event timings, interleaved on each GPU"
    for selected in "$work"/gpus.*; do
        how="$how; $(fact "$selected" device): $(fact "$selected" date), commit $(fact "$selected" commit)"
    done
    for d in 64 128; do
        subject="fp32, B=1 H=16 N=4096 D=$d, no mask"
        lay_out "figures bars gpus" -v chart=tflops -v d=$d "$work"/gpus.*
        draw "gpus-tflops-d$d" /dev/null bars "TFLOP/s of several GPUs" "$subject" \
            "Useful floating-point operations a second of each lesson, GPU beside GPU, head dimension $d." "$how"
        lay_out "figures bars gpus" -v chart=speedup -v d=$d "$work"/gpus.*
        draw "gpus-speedup-d$d" /dev/null bars "Speed-up over lesson 01 of several GPUs" "$subject" \
            "How many times faster than lesson 01 each lesson is, each GPU compared with itself, head dimension $d." "$how"
    done
}
