
// What tests/gpu/delays puts before waits and arrivals: one in four of them sleeps, up to four microseconds.
__device__ inline void delay() {
    const unsigned number = (unsigned)clock64() * 2654435761u ^ (blockIdx.x * 64 + threadIdx.x / 32) * 40503u;
    if (number >> 30 == 0)
        __nanosleep(number >> 18 & 4095);
}
