# What the tests of Hopper's instructions share: programs that nvcc compiles for sm_90a, and variants of the one named $kernel, each with
# a mistake. They define variants(), whose lines are a name, the argument that it is run with, and what sed does.

# prepare FOLDER KERNEL: where programs go, and the source that variants are made of.
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

# as_part NAME FILE SOURCE: FILE in a namespace; a finding names it as SOURCE.
as_part() {
    echo "namespace part_$1 {"
    echo "#line 1 \"$3\""
    sed -e 's/^#include.*//' -e 's/^int main(/int run(/' "$2"
    echo "}"
    echo "    if (argc > 1 && strcmp(argv[1], \"$1\") == 0) return part_$1::run(argc - 1, argv + 1);" >>"$programs/choices"
}

# compile_all NAME...: one program, $programs/all, of NAME.cu, of the kernel that variants are made of, under its own name, and of all
# variants: a compiler reads CUDA's headers once. Its first argument is which.
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

# broken NAME TEXT: this variant fails with a finding that contains TEXT
broken() {
    run "$programs/all" "$1" "$(variants | awk -v name="$1" '$1 == name { print $2 }')"
    echo "$output"
    [ "$status" -eq 1 ]
    [[ $output == *"$2"* ]]
}

# remarked NAME TEXT: this variant is right, and a remark on it contains TEXT
remarked() {
    run "$programs/all" "$1" "$(variants | awk -v name="$1" '$1 == name { print $2 }')"
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output == *"simulator: remark: "*"$2"* ]]
}

# line COMMENT: of the source that carries it, as findings name it
line() {
    grep -n "// $1\$" "$sources/$kernel" | cut -d : -f 1
}

# silent COMMAND...: ends with 0 and prints nothing
silent() {
    run "$@"
    echo "$*: $output"
    [ "$status" -eq 0 ]
    [ "$output" = "" ]
}
