// 2^x by one MUFU instruction. exp2f() needs more instructions for results below 2^-126, which ex2() flushes to 0.
#pragma once

__device__ inline float ex2(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
