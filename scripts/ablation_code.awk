# Extracts properties of a kernel's machine code from the output of ptxas and a disassembly:  awk -v type=TYPE -v d=D -f ablation_code.awk CONFLICTS FILE.ptxas
# Of the kernels NAME_kernel<KernelTraits<TYPE, ..., D, ...>> it selects the one with the most registers, and among equals the one with
# the most spills. Prints registers, bytes of spill stores and spill loads per thread, and bank conflicts per multiply-add ("-" if unknown).
BEGIN {
    kernel = "_kernelI12KernelTraitsI" (type == "bf16" ? "13__nv_bfloat16[^L]*" : type == "fp16" ? "6__half[^L]*" : "") "Li" d "E"
    most = -1
}
FILENAME ~ /conflicts$/ { found[$1] = $3; next }
/Compiling entry function/ { split($0, part, "'"); name = part[2] }
/spill stores/ { stored = $5; loaded = $9 }
/ registers/ && name ~ kernel {
    match($0, /[0-9]+ registers/)
    used = substr($0, RSTART, RLENGTH) + 0
    if (used > most || used == most && stored + loaded > stores + loads) {
        most = used
        stores = stored
        loads = loaded
        conflicts = name in found ? found[name] : "-"
    }
}
END { print most < 0 ? "- - - -" : most " " stores " " loads " " conflicts }
