# Writes wrappers of wgmma.mma_async: awk -f wgmma.awk -v n=128 -v sum=f32 -v type=bf16 -v k=16
# D += A B, with A from shared memory (ss) and from registers (rs); T: B is transposed, where the type can be.
function list(from, count,    i, text) {
    for (i = 0; i < count; i++)
        text = text (i ? "," : "") "%" (from + i)
    return text
}
function wrapper(name, a, first, arguments, a_operands,    count, i, text) {
    count = sum == "f32" ? n / 2 : n / 4
    half = type == "bf16" || type == "f16"
    printf "template <int T>\n__device__ __forceinline__ void %s_n%d_%s_%s(%s (&d)[%d], %s, uint64_t b, int keep) {\n", name, n,
        sum, type, sum == "f32" ? "float" : "uint32_t", count, arguments
    printf "    asm volatile(\"{.reg .pred p;\\n setp.ne.b32 p, %%%d, 0;\\n\"\n", count + first + 1
    printf "        \"wgmma.mma_async.sync.aligned.m64n%dk%d.%s.%s.%s {%s}, %s, %%%d, p, 1, 1%s;}\"\n        : ", n, k, sum, type,
        type, list(0, count), a, count + first, half ? (name == "ss" ? ", 0, %" (count + first + 2) : ", %" (count + first + 2)) : ""
    for (i = 0; i < count; i++)
        printf "%s\"+%s\"(d[%d])", i ? ", " : "", sum == "f32" ? "f" : "r", i
    printf "\n        : %s, \"l\"(b), \"r\"(keep)%s);\n}\n", a_operands, half ? ", \"n\"(T)" : ""
}
BEGIN {
    count = sum == "f32" ? n / 2 : n / 4
    wrapper("ss", "%" count, 1, "uint64_t a", "\"l\"(a)")
    wrapper("rs", "{" list(count, 4) "}", 4, "const uint32_t (&a)[4]", "\"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3])")
}
