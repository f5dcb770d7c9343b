# For bats files whose cases are the arguments of one program: tests/simulator/NAME/PROGRAM.cu becomes build/tests/NAME/PROGRAM.

# compile_program NAME PROGRAM ARCHITECTURE [OPTION...]: compiles it, and lets programs run on the simulator.
compile_program() {
    cd "$BATS_TEST_DIRNAME/../.."
    read -r nvcc _ version _ <<<"$(scripts/find-cuda)"
    make "build/simulator/libcudart.so.${version%%.*}"
    mkdir -p "build/tests/$1"
    "$nvcc" -std=c++17 -cudart shared -lineinfo -gencode "arch=compute_$3,code=compute_$3" -o "build/tests/$1/$2" "tests/simulator/$1/$2.cu" "${@:4}"
    export LD_LIBRARY_PATH=build/simulator SIMULATOR_STATUS=1
}

setup() {
    cd "$BATS_TEST_DIRNAME/../.."
}
