#!/usr/bin/env bats
# The tables of peers that plots/tables makes from results/.

setup() {
    project=$BATS_TEST_TMPDIR/project
    mkdir -p "$project/results/some-gpu"
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    cp -R plots solutions "$project"
    mkdir "$project/build" "$project/scripts"
    cp scripts/shared.sh "$project/scripts/"
    cp build/sql_text.so "$project/build/"
    cd "$project" || return 1
    printf '<!-- results:begin peers -->\nold\n<!-- results:end peers -->\n' >README.md
    attention='run,lesson,device,sm_count,driver,cuda,dtype,B,H,Hkv,Nq,Nk,D,causal,median_us,min_us,p95_us,repeats,'
    attention+='sm_clock_before_mhz,sm_clock_after_mhz,tflops,bytes,gb_per_s,rel_rms_error,peak_tflops,peak_gb_per_s,'
    attention+='date,commit,cache,noise'
}

# row RUN LESSON SHAPE MEDIAN [DTYPE [CACHE [NOISE]]]: SHAPE is B,H,Hkv,Nq,Nk,D,causal.
row() {
    echo "$1,$2,Some GPU,10,1.0,13.0,${5:-fp32},$3,$4,1,1,30,1900,1900,5.5,1,1,1e-7,60,4000,2026-01-0${1#run}T00:00:00Z,abc,${6:-cold},${7:-steady}"
}

@test "the fastest solution and the best library of one run" {
    {
        echo "$attention"
        row run1 solution-04_d 1,16,16,4096,4096,64,0 50
        row run2 solution-04_d 1,16,16,4096,4096,64,0 3000
        row run2 solution-05_e 1,16,16,4096,4096,64,0 1500
        row run2 solution-05_e 1,16,16,4096,4096,64,0 1 fp32 warm
        row run2 peer-torch_math 1,16,16,4096,4096,64,0 6000
        row run2 peer-torch_efficient 1,16,16,4096,4096,64,0 2100
        row run2 peer-torch_unfused 1,16,16,4096,4096,64,0 2 fp32-inexact
        row run2 baseline-cublas_unfused 1,16,16,4096,4096,64,0 3300
        row run2 solution-04_d 1,1,1,20,33,8,1 10 fp32 cold noisy
        row run2 peer-torch_unfused 1,1,1,20,33,8,1 5
        row run2 solution-04_d 1,1,1,7,7,8,0 10
    } >results/some-gpu/attention.csv
    run plots/tables
    echo "$output"
    cat README.md
    [ "$status" -eq 0 ]
    grep -qxF '| 1,16,4096,64 | 05 e | 1500 | 5.50 | PyTorch, efficient | 2100 | 1.40× | 1.40× | 2.20× |' README.md
    grep -qxF '| 1,1,20:33,8 causal | 04 d | 10.0 | 5.50 | PyTorch, unfused | 5.00 | 0.50×, noisy | - | - |' README.md
    [ "$(grep -c '^| 1,' README.md)" -eq 2 ]
    grep -q '2026-01-02, commit abc' README.md
}

@test "the units that a library uses, as multiples of the multiply-adds of both GEMMs" {
    {
        echo lesson,device,dtype,B,H,Nq,Nk,D,causal,kernels,tensor_instructions,ffma,tf32_operations,fp16_operations,bf16_operations,date,commit
        # Both GEMMs are 2 * 1 * 2 * 8 * 8 * 4 = 1024 multiply-adds.
        echo peer-torch_efficient,Some GPU,fp32,1,2,8,8,4,0,fmha,3,10,6144,,0,2026-01-02,abc
        echo peer-torch_math,Some GPU,fp32,1,2,8,8,4,0,gemm + softmax,1,1100,0,,0,2026-01-02,abc
        echo peer-fa4,Some GPU,bf16,1,2,8,8,4,0,flash,1,0,0,,2304,2026-01-02,abc
        echo peer-fa3,Some GPU,fp16,1,2,8,8,4,0,flash,2,0,0,,0,2026-01-02,abc
    } >results/some-gpu/units.csv
    printf '<!-- results:begin units -->\n<!-- results:end units -->\n' >>README.md
    run plots/tables
    cat README.md
    grep -qxF '| `peer-torch_efficient` | fp32 | tensor cores, TF32: 3xTF32 | 3.00 | 0.01 | `fmha` |' README.md
    grep -qxF '| `peer-torch_math` | fp32 | FMA units | - | 1.07 | `gemm + softmax` |' README.md
    grep -qxF '| `peer-fa4` | bf16 | tensor cores, bf16 | 1.13 | 0.00 | `flash` |' README.md
    grep -qxF '| `peer-fa3` | fp16 | tensor cores | - | 0.00 | `flash` |' README.md
}

@test "the row softmax compared with torch.softmax and with five operations" {
    softmax='run,lesson,device,sm_count,driver,cuda,dtype,rows,columns,median_us,min_us,p95_us,repeats,'
    softmax+='sm_clock_before_mhz,sm_clock_after_mhz,gb_per_s,bytes,max_rel_error,copy_gb_per_s,date,commit,noise'
    {
        echo "$softmax"
        for timing in solution-03_c:10 peer-torch_softmax:16 peer-torch_unfused_softmax:55; do
            echo "r,${timing%:*},Some GPU,10,1.0,13.0,fp32,64,32,${timing#*:},1,1,30,1900,1900,380,1,1e-7,400,2026-01-02T00:00:00Z,abc,steady"
        done
    } >results/some-gpu/softmax.csv
    printf '<!-- results:begin softmax-peers -->\n<!-- results:end softmax-peers -->\n' >>README.md
    run plots/tables
    echo "$output"
    cat README.md
    [ "$status" -eq 0 ]
    grep -qxF '| 64 × 32 | 10.0 | 95 % | 16.0 | 1.60× | 5.50× |' README.md
}

@test "a page without measurements names the command that takes them" {
    run plots/tables
    [ "$status" -eq 0 ]
    grep -q 'Not measured yet: `make peers`' README.md
}
