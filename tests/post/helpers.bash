# For the tests of the post: a copy of the project with nothing built but what makes posts and what it is linked of, whose lessons are the skeletons.

bats_require_minimum_version 1.5.0

copy_sources() {
    root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    project=$BATS_FILE_TMPDIR/project
    mkdir -p "$project/lessons" "$project/results"
    cd "$root" || return 1
    cp -a Makefile make scripts solutions plots post teach common "$project"
    make build/bin/post build/bin/teach build/sql_text.so
    mkdir -p "$project/build/objects"
    cp -a build/flags build/bin build/sql_text.so "$project/build"
    cp -a build/objects/plain "$project/build/objects"
    for folder in lessons/*/; do
        mkdir -p "$project/$folder"
        for file in "$folder"*.svg "$folder"*.csv "$folder"README.md "$folder"idea; do
            [ ! -e "$file" ] || cp "$file" "$project/$folder"
        done
    done
    cd "$project" || return 1
    for solution in solutions/*/*.cu; do
        mkdir -p "lessons/$(basename "$(dirname "$solution")")"
        ! grep -q '// TODO ' "$solution" || scripts/teach skeleton "$solution" >"lessons/${solution#solutions/}"
    done
    export root project
}

# Replaces plots/draw by a stub that writes placeholder charts.
stand_in_for_charts() {
    cat >"$project/plots/draw" <<'END'
#!/bin/sh
# plots/draw --out FOLDER --only NAMES RESULTS
cd "$(dirname "$0")/.."
for gpu in "$5"/*/; do
    for kind in solution lesson; do
        [ -f "$gpu/attention.csv" ] || continue
        rows=$(grep -c "^[^,]*,lesson-" "$gpu/attention.csv")
        out=$2/$(basename "$gpu")/${kind}s
        mkdir -p "$out"
        for name in $4; do
            echo "<svg role=\"img\" aria-labelledby=\"title text\" width=\"9\" height=\"9\" viewBox=\"0 0 9 9\">
<title id=\"title\">$name of ${kind}s, $rows rows of own ones</title><desc id=\"text\">Text.</desc><style>svg { color: red }</style>
<rect id='a' width=\"9\" height=\"9\" fill=\"#fff\"/><use href=\"#a\"/></svg>" >"$out/$name.svg"
            : >"$out/$name.png"
        done
    done
done
echo drawn >>build/drawn
END
}

# ladder RUN DATE LESSON=MICROSECONDS...: rows of one run, at both head dimensions.
ladder() {
    run=$1 date=$2
    shift 2
    for pair; do
        for d in 64 128; do
            echo "$run ${pair%=*} $d 4096 $((${pair#*=} * d / 64)) $date"
        done
    done
}

post_of() {
    make post "$@" 2>&1
}
