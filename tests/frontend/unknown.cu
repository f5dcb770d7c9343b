// Unsupported PTX, one case per macro: the error must name this file and the line.
#ifdef special_register
__global__ void reads_register(unsigned *x) {
    asm volatile("mov.u32 %0, %%pm0;" : "=r"(x[0])); // unknown: special_register
}
#endif

#ifdef several_gpus
__global__ void adds_on_all(unsigned *x) {
    asm volatile("multimem.red.add.u32 [%0], %1;" ::"l"(x), "r"(1)); // unknown: several_gpus
}
#endif

#ifdef stack
__global__ void allocates_on_the_stack(unsigned *x) {
    volatile unsigned *local = static_cast<unsigned *>(alloca(x[1])); // unknown: stack
    local[0] = x[2];
    x[0] = local[x[3]];
}
#endif
