# Shared by the tests of Hopper's instructions: programs that nvcc compiles for sm_90a, and variants of the program $kernel with one
# mistake each. A test file defines variants(), whose lines are a name, the argument of the run, and the sed script of the mistake.

# prepare FOLDER KERNEL: the folder of the programs, and the source of the variants.
prepare() {
    read -r NVCC _ version _ <<<"$(scripts/find-cuda)"
    make -s "build/simulator/libcudart.so.${version%%.*}"
    export programs=$1 sources=tests/simulator/hopper kernel=$2 NVCC
    mkdir -p "$programs"
}

# compile NAME FILE
compile() {
    LD_LIBRARY_PATH= "$NVCC" -std=c++20 -lineinfo -cudart shared --no-compress -gencode arch=compute_90a,code=compute_90a \
        -I"$programs" -I"$sources" -o "$programs/$1" "$2"
}

# as_part NAME FILE SOURCE: prints FILE in a namespace; findings name it SOURCE.
as_part() {
    echo "namespace part_$1 {"
    echo "#line 1 \"$3\""
    sed -e 's/^#include.*//' -e 's/^int main(/int run(/' "$2"
    echo "}"
    echo "    if (argc > 1 && strcmp(argv[1], \"$1\") == 0) return part_$1::run(argc - 1, argv + 1);" >>"$programs/choices"
}

# compile_all NAME...: makes one program, $programs/all, of each NAME.cu, the original kernel and all variants, so that the compiler reads
# CUDA's headers once. The program's first argument selects one.
compile_all() {
    : >"$programs/choices"
    {
        for name in "$@" "${kernel%.cu}"; do grep -h '^#include' "$sources/$name.cu"; done | sort -u
        echo '#include <cstring>'
        for name in "$@" "${kernel%.cu}"; do as_part "$name" "$sources/$name.cu" "$sources/$name.cu"; done
        while read -r name _ script; do
            sed "$script" "$sources/$kernel" >"$programs/$name.cu"
            cmp -s "$programs/$name.cu" "$sources/$kernel" && echo "#error $name changes nothing"
            as_part "$name" "$programs/$name.cu" "$name.cu"
            rm "$programs/$name.cu"
        done < <(variants)
        echo 'int main(int argc, char **argv) {'
        cat "$programs/choices"
        echo '    return 2;'
        echo '}'
    } >"$programs/all.cu"
    compile all "$programs/all.cu"
}

# golden: the messages in $output are worded as in findings.golden
golden() {
    "${sources%/hopper}/golden" <<<"$output"
}

# broken NAME TEXT: this variant fails with a finding that contains TEXT, a [code] as a rule
broken() {
    run "$programs/all" "$1" "$(variants | awk -v name="$1" '$1 == name { print $2 }')"
    echo "$output"
    [ "$status" -eq 1 ]
    [[ $output == *"$2"* ]]
    golden
}

# warned NAME TEXT: this variant is correct, with a warning that contains TEXT
warned() {
    run "$programs/all" "$1" "$(variants | awk -v name="$1" '$1 == name { print $2 }')"
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output == *"simulator: warning: "*"$2"* ]]
    golden
}

# line COMMENT: the number of the source line with that comment
line() {
    grep -n "// $1\$" "$sources/$kernel" | cut -d : -f 1
}

# silent COMMAND...: succeeds and prints nothing
silent() {
    run "$@"
    echo "$*: $output"
    [ "$status" -eq 0 ]
    [ "$output" = "" ]
}
