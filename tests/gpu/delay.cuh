
// What tests/gpu/delays puts before waits: one in four of them sleeps, up to four microseconds. No branch: behind
// one that lanes might take apart ptxas would end each wgmma before the next.
__device__ inline void delay() {
    const unsigned number = (unsigned)clock64() * 2654435761u ^ (blockIdx.x * 64 + threadIdx.x / 32) * 40503u;
    __nanosleep(number >> 30 == 0 ? number >> 18 & 4095 : 0);
}
