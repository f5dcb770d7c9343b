#!/usr/bin/env bats
# With the mask and head dimension 128, lessons 09 to 11 take a tile of half as many queries up to some number of them. The simulator's
# matrix has such heads with few queries only: here both tiles have several blocks under the diagonal.

blocks() { # NQ
    build/bin/teach work solution "${kernel[@]}" --dtype bf16 --causal --shape "1,1,$1,128" | sed -n 's/^solution,bf16,"[^"]*",1,\([0-9]*\),.*/\1/p'
}

# right LESSON: its outputs on both sides of 512 queries, of normal inputs and with a growing maximum.
right() {
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    make --no-print-directory build/bin/attention build/bin/runner build/bin/teach "build/kernels/solutions/$1/attention.so" >/dev/null
    kernel=(--name "solution-$1" --source "solutions/$1/attention.cu" --kernel "build/kernels/solutions/$1/attention.so")
    [ "$(blocks 512)" -eq 8 ]
    [ "$(blocks 513)" -eq 5 ]
    for nq in 512 513; do
        for inputs in normal rising; do
            run build/bin/attention check "${kernel[@]}" --device sim --seed 1 --dtype bf16 --causal --shape "1,1,$nq:520,128" --inputs $inputs
            echo "$output"
            [ "$status" -eq 0 ]
        done
    done
}

@test "lesson 09" { right 09_tensor_cores; }

@test "lesson 10" { right 10_pipelined_copies; }

@test "lesson 11" { right 11_swizzle; }
