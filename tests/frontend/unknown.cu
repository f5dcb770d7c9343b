// What the simulator does not know, each where the macro of that name is defined: an error that names this file and the
// line.
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
__global__ void takes_from_the_stack(unsigned *x) {
    volatile unsigned *own = static_cast<unsigned *>(alloca(x[1])); // unknown: stack
    own[0] = x[2];
    x[0] = own[x[3]];
}
#endif
