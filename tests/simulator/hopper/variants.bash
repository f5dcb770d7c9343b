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

# One program of all variants, each in a namespace: a compiler reads CUDA's headers once. A finding names the variant as its file.
compile_variants() {
    {
        grep -h '^#include' "$sources/$kernel"
        echo '#include <cstring>'
        while read -r name _ script; do
            sed "$script" "$sources/$kernel" >"$programs/$name.cu"
            cmp -s "$programs/$name.cu" "$sources/$kernel" && echo "#error $name changes nothing"
            echo "namespace variant_$name {"
            echo "#line 1 \"$name.cu\""
            sed -e 's/^#include.*//' -e 's/^int main(/int run(/' "$programs/$name.cu"
            echo "}"
            rm "$programs/$name.cu"
        done < <(variants)
        echo 'int main(int argc, char **argv) {'
        variants | sed 's/\([^ ]*\) .*/    if (argc > 2 \&\& strcmp(argv[1], "\1") == 0) return variant_\1::run(argc - 1, argv + 1);/'
        echo '    return 2;'
        echo '}'
    } >"$programs/variants.cu"
    compile variants "$programs/variants.cu"
}

# broken NAME TEXT: this variant fails with a finding that contains TEXT
broken() {
    run "$programs/variants" "$1" "$(variants | awk -v name="$1" '$1 == name { print $2 }')"
    echo "$output"
    [ "$status" -eq 1 ]
    [[ $output == *"$2"* ]]
}

# remarked NAME TEXT: this variant is right, and a remark on it contains TEXT
remarked() {
    run "$programs/variants" "$1" "$(variants | awk -v name="$1" '$1 == name { print $2 }')"
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
