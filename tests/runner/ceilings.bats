#!/usr/bin/env bats
# The microbenchmarks of the ceilings: the copy copies, the multiply-adds and the products are all there, and bench measures
# those that a GPU has.

bats_require_minimum_version 1.5.0
load ../long

setup_file() {
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    export library=build/kernels/common/runner/ceilings.so
    make "$library" >/dev/null
    gcc -std=c17 -Wall -Wextra -Werror -Icommon -isystem "${CUDA_HOME:-/usr/local/cuda}/include" tests/runner/ceilings_run.c \
        -o "$BATS_FILE_TMPDIR/run" build/simulator/libcudart.so.* -ldl
}

setup() {
    cd "$BATS_TEST_DIRNAME/../.." || return 1
}

@test "the copy kernel copies every byte of any size, without a finding of the simulator" {
    LD_LIBRARY_PATH=build/simulator run "$BATS_FILE_TMPDIR/run" "$library"
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$(grep -c ': same$' <<<"$output")" -eq 7 ]
}

@test "the loop of multiply-adds contains the counted ones and few other instructions" {
    "${NVCC:-nvcc}" -std=c++20 -O3 -Icommon -arch=compute_75 -ptx -o "$BATS_TEST_TMPDIR/ptx" common/runner/ceilings.cu
    awk '/[.]entry.*multiply_add/ { inside = 1 }
        inside && /^\$/ { adds = others = 0 }
        inside && /fma[.]rn[.]f32/ { adds++; next }
        inside && /^\t[a-z@]/ { others++ }
        inside && /setp/ { rounds = $NF + 0 }
        inside && /bra/ { print adds, others, rounds; exit }' "$BATS_TEST_TMPDIR/ptx" >"$BATS_TEST_TMPDIR/loop"
    cat "$BATS_TEST_TMPDIR/loop"
    read -r adds others rounds <"$BATS_TEST_TMPDIR/loop"
    [ "$others" -le 4 ]
    [ "$adds" -ge $((50 * others)) ]
    LD_LIBRARY_PATH=build/simulator run "$BATS_FILE_TMPDIR/run" "$library"
    [ "${lines[0]}" = "$((2 * adds * rounds)) operations a thread" ]
}

# counted FILE.cu ARCHITECTURE INSTRUCTION: how many of the instruction a warp starts, in one loop of the PTX and nowhere else.
counted() {
    "${NVCC:-nvcc}" -std=c++20 -O3 -Icommon -gencode "arch=compute_$2,code=compute_$2" -ptx -o "$BATS_TEST_TMPDIR/ptx" "$1"
    awk -v instruction="$3" '/^[$]/ { inside = 0 }
        index($1, instruction) == 1 { inside++; all++ }
        /setp/ { rounds = $NF + 0 }
        /bra/ && inside { print inside == all && !loops++ ? inside * rounds : "elsewhere too" }' "$BATS_TEST_TMPDIR/ptx"
}

@test "the loops of the tensor cores contain the counted MMA instructions" {
    long
    read -r mma <<<"$(counted common/runner/ceiling_mma.cu 80 mma.sync)"
    read -r wgmma <<<"$(counted common/runner/ceiling_wgmma.cu 90a wgmma.mma_async)"
    for kind in mma:80:32:$((mma * 2 * 16 * 8 * 16)) wgmma:90a:128:$((wgmma * 2 * 64 * 256 * 16)); do
        IFS=: read -r name architecture threads flops <<<"$kind"
        "${NVCC:-nvcc}" -std=c++20 -shared -cudart shared -Icommon -gencode "arch=compute_$architecture,code=sm_$architecture" \
            -Xcompiler -fPIC -o "$BATS_TEST_TMPDIR/$name.so" "common/runner/ceiling_$name.cu"
        said=$(LD_LIBRARY_PATH=build/simulator python3 -c '
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
library.ceiling_tensor_cores_flops.restype = ctypes.c_double
library.ceiling_tensor_cores_threads.restype = ctypes.c_size_t
print(int(library.ceiling_tensor_cores_flops() * int(sys.argv[2]) / library.ceiling_tensor_cores_threads()))' \
            "$BATS_TEST_TMPDIR/$name.so" "$threads")
        echo "$name: $flops operations in the PTX, $said counted"
        [ "$flops" -gt 1000000000 ]
        [ "$said" = "$flops" ]
    done
}

# A GPU of compute capability $1 that is not there, with the ceilings of $2..., timed.
measure() {
    cd "$BATS_TEST_TMPDIR"
    rm -rf gpu results ./*.so
    mkdir gpu
    library=$(ldd "$root/build/bin/runner" | awk '$1 ~ /^libcudart/ { print $1 }')
    echo "$library { global: *; };" >map
    compile="gcc -std=c17 -D_GNU_SOURCE=1 -O2 -shared -fPIC -I$root/common -isystem ${CUDA_HOME:-/usr/local/cuda}/include"
    $compile -Wl,--version-script=map -Wl,-soname="$library" "$root/tests/runner/fake_cudart.c" -o "gpu/$library"
    for name in libcuda.so.1 libnvidia-ml.so.1; do
        $compile -Wl,-soname=$name "$root/tests/runner/fake_driver.c" -o gpu/$name
    done
    $compile "$root/tests/runner/fake_timed.c" -o timed.so -lm
    $compile "$root/tests/runner/fake_ceilings.c" -o ceilings.so -lm
    for name in "${@:2}"; do
        $compile "$root/tests/runner/fake_tensor_cores.c" -o "$name.so" -lm
    done
    FAKE_CAPABILITY=$1 FAKE_CLOCK=1 NO_COLOR=1 LD_LIBRARY_PATH=gpu run "$root/build/bin/attention" bench --device gpu \
        --name solution-01_first --kernel ./timed.so --sizes 16 --ceilings ceilings.so --results results
    echo "$output"
    [ "$status" -eq 0 ]
    measured=$(tail -n +2 results/fake-gpu/ceilings.csv | cut -d , -f 6,7,8 | sort -u | xargs)
    echo "$measured"
}

@test "bench measures the tensor cores of the GPU and lists missing ones" {
    long
    root=$PWD
    basic="copy,GB/s,2.684 fma_fp32,TFLOP/s,0.100"
    measure 90 ceiling_mma ceiling_wgmma
    [ "$measured" = "$basic mma_bf16,TFLOP/s,0.300 wgmma_bf16,TFLOP/s,0.300" ]
    [ "$(grep -c '^reached in bf16: mma.sync 0 TFLOP/s, wgmma 0 TFLOP/s$' <<<"$output")" -eq 2 ]
    [[ $output != *"is not measured"* ]]
    measure 86 ceiling_mma ceiling_wgmma
    [ "$measured" = "$basic mma_bf16,TFLOP/s,0.300" ]
    [[ $output == *"wgmma_bf16 is not measured: bf16 wgmma is of compute capability 9.0 alone, and this GPU has 8.6"* ]]
    measure 100 ceiling_mma ceiling_wgmma
    [[ $output == *"wgmma_bf16 is not measured: bf16 wgmma is of compute capability 9.0 alone, and this GPU has 10.0"* ]]
    measure 75 ceiling_mma ceiling_wgmma
    [ "$measured" = "$basic" ]
    [[ $output == *"mma_bf16 is not measured: bf16 mma.sync is of compute capability 8.0 and newer, and this GPU has 7.5"* ]]
    measure 90 ceiling_mma
    [ "$measured" = "$basic mma_bf16,TFLOP/s,0.300" ]
    [[ $output == *"wgmma_bf16 is not measured: there is no ceiling_wgmma.so"* ]]
}
