#!/usr/bin/env bats
# scripts/count-units with an ncu, a GPU and a comparison that are made up.

bats_require_minimum_version 1.5.0

setup() {
    project=$BATS_TEST_DIRNAME/../..
    cd "$BATS_TEST_TMPDIR" || return 1
    mkdir -p scripts bin peers
    cp "$project"/scripts/{count-units,shared.sh} scripts/
    printf '#!/bin/sh\necho "Fake GPU"\n' >bin/nvidia-smi
    # What the comparison would print, and the list of launches: a spin kernel before each kernel's own.
    cat >bin/ncu <<'END'
#!/bin/sh
[ "$1" != --query-metrics ] || { printf '%s\n' sm__ops_path_tensor_src_tf32_dst_fp32 sm__ops_path_tensor_src_fp16 sm__ops_path_tensor_src_fp64; exit; }
echo "$*" >call
while [ $# -gt 0 ]; do
    [ "$1" != --log-file ] || log=$2
    [ "$1" != --launch-once ] || order=$2
    shift
done
echo "no FlashAttention-4: No module named 'flash_attn'"
echo "  peer-torch_cudnn     not covered: does not take fp32"
[ -z "$FAILS" ] || { echo "==ERROR== ERR_NVGPUCTRPERM - no permission"; exit 1; }
printf 'baseline-two\npeer-torch_efficient\n' >"$order"
cat >"$log" <<'CSV'
==PROF== Connected
"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"
"0","at::spin_kernel(long)","sm__inst_executed_pipe_tensor.sum","inst","0"
"1","void gemm<Tile<64, 4>>(int)","smsp__sass_thread_inst_executed_op_ffma_pred_on.sum","inst","1,000"
"2","void (anonymous namespace)::softmax<float>(int)","smsp__sass_thread_inst_executed_op_ffma_pred_on.sum","inst","24"
"3","at::spin_kernel(long)","sm__inst_executed_pipe_tensor.sum","inst","0"
"4","fmha_cutlassF(Kernel<float, sm80>::Params)","sm__inst_executed_pipe_tensor.sum","inst","6"
"4","fmha_cutlassF(Kernel<float, sm80>::Params)","sm__ops_path_tensor_src_tf32_dst_fp32.sum","","12,288"
CSV
END
    chmod +x bin/*
    export PATH="$PWD/bin:$PATH" FAILS=
}

@test "a row per kernel: its launches, instructions and operations; what takes no part is named" {
    run scripts/count-units python3 --dtype fp32 --shape 1,2,8,4 --results results --commit abc1234
    echo "$output"
    [ "$status" -eq 0 ]
    [ "${lines[0]}" = "no FlashAttention-4: No module named 'flash_attn'" ]
    [ "${lines[1]}" = "  peer-torch_cudnn     not covered: does not take fp32" ]
    [ "$(cut -d , -f 1-16 results/fake-gpu/units.csv | sed 's/,20..-..-..$//')" = "lesson,device,dtype,B,H,Nq,Nk,D,causal,kernels,tensor_instructions,ffma,tf32_operations,fp16_operations,bf16_operations,date
baseline-two,Fake GPU,fp32,1,2,8,8,4,0,gemm<Tile<64  4>> + anonymous::softmax<float>,,1024,,,
peer-torch_efficient,Fake GPU,fp32,1,2,8,8,4,0,fmha_cutlassF,6,,12288,,"  ]
    grep -q -- '--metrics sm__inst_executed_pipe_tensor.sum,smsp__sass_thread_inst_executed_op_ffma_pred_on.sum,sm__ops_path_tensor_src_tf32_dst_fp32.sum,sm__ops_path_tensor_src_fp16.sum ' call
}

@test "a second call appends; a profiler that fails, and a shape with other keys than queries, are one line and add nothing" {
    scripts/count-units python3 --results results --commit abc1234
    scripts/count-units python3 --results results --commit abc1234
    [ "$(wc -l <results/fake-gpu/units.csv)" -eq 5 ]
    FAILS=1 run scripts/count-units python3 --results results --commit abc1234
    [ "$status" -eq 1 ]
    [[ $output == *"==ERROR== ERR_NVGPUCTRPERM - no permission"* ]]
    [ "${#lines[@]}" -eq 1 ]
    run scripts/count-units python3 --results results --commit abc1234 --shape 1,16,8:16,64
    [ "$status" -eq 2 ]
    [[ $output == *"[bad-shape]" ]]
    [ "${#lines[@]}" -eq 1 ]
    [ "$(wc -l <results/fake-gpu/units.csv)" -eq 5 ]
}
