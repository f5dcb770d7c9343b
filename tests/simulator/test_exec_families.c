// Each family of instructions compared with the host's results. The truth suite (tests/truth) compares single
// instructions with a GPU, bit by bit; this test needs no recorded results.
#include "exec_driver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define THREADS 64

static struct driver *driver;

static int load(void **state) {
    (void)state;
    driver = driver_load("build/exec/exec_families.ptx");
    return 0;
}

static int unload(void **state) {
    (void)state;
    driver_unload(driver);
    return 0;
}

static uint32_t next(void) {
    static uint64_t seed = 12345;
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 32);
}

static void run(const char *kernel, unsigned block, int parameters, const uint64_t *parameter) {
    enum sim_status status = driver_run(driver, kernel, 1, block, 0, parameters, parameter, NULL);
    if (status != SIM_OK || driver_findings()[0])
        fail_msg("%s: status %d\n%s", kernel, status, driver_findings());
}

static uint32_t reversed(uint32_t x) {
    uint32_t y = 0;
    for (int i = 0; i < 32; i++)
        y |= (x >> i & 1) << (31 - i);
    return y;
}

static void expect_integers(int x, int y, int *o) {
    uint32_t ux = (uint32_t)x, uy = (uint32_t)y;
    int n = y & 31;
    o[0] = (int)(ux + uy);
    o[1] = (int)(ux * uy);
    o[2] = (int)((int64_t)x * y >> 32);
    o[3] = (int)((uint64_t)ux * uy >> 32);
    o[4] = y ? (int)((int64_t)x / y) : 0;
    o[5] = y ? (int)(ux % uy) : 0;
    o[6] = x < y ? x : y;
    o[7] = (int)(ux > uy ? ux : uy);
    o[8] = (int)(ux << n);
    o[9] = x >> n;
    o[10] = (int)(ux >> n);
    o[11] = __builtin_popcount(ux);
    o[12] = ux ? __builtin_clz(ux) : 32;
    o[13] = (int)reversed(ux);
    o[14] = __builtin_ffs(x);
    o[15] = (int)((ux & 0xff) | (uy & 0xff) << 8 | (ux >> 8 & 0xff) << 16 | (uy >> 8 & 0xff) << 24);
    o[16] = (int)((ux & uy) ^ (~ux | uy << 1));
    o[17] = (int)(uy << 13 | ux >> 19);
    o[18] = 7;
    for (int k = 0; k < 4; k++)
        o[18] += (int8_t)(ux >> 8 * k) * (int8_t)(uy >> 8 * k);
    o[19] = (int)((x > y ? ux - uy : uy - ux) + 9);
    uint64_t wide = (uint64_t)((int64_t)x * y) + ((uint64_t)(int64_t)y << 33);
    o[20] = (int)(wide >> 32);
    o[21] = (int)wide;
    o[22] = (int8_t)x + (uint16_t)y;
    o[23] = x < y ? (ux < uy ? 3 : 2) : (ux < uy ? 1 : 0);
}

static void test_integers(void **state) {
    (void)state;
    static const uint32_t special[] = {0, 1, 0xffffffff, 0x7fffffff, 0x80000001, 31, 32, 0xff80};
    uint32_t a[THREADS], b[THREADS];
    int out[THREADS][24], expected[24];
    for (int t = 0; t < THREADS; t++) {
        a[t] = t < 32 ? special[t % 8] : next();
        b[t] = t < 32 ? special[t / 4] : next() >> (t % 3 * 10);
    }
    uint64_t p[3] = {driver_upload(a, sizeof a), driver_upload(b, sizeof b), driver_alloc(sizeof out)};
    run("integers", THREADS, 3, p);
    driver_download(out, p[2], sizeof out);
    for (int t = 0; t < THREADS; t++) {
        expect_integers((int)a[t], (int)b[t], expected);
        for (int i = 0; i < 24; i++)
            if (out[t][i] != expected[i])
                fail_msg("result %d of %08x, %08x is %08x, not %08x", i, a[t], b[t], out[t][i], expected[i]);
    }
}

static void test_wide_integers(void **state) {
    (void)state;
    uint64_t in[2 * THREADS], out[8 * THREADS];
    for (int i = 0; i < 2 * THREADS; i++) {
        in[i] = (uint64_t)next() << 32 | next();
        in[i] >>= next() % 64;
    }
    uint64_t p[2] = {driver_upload(in, sizeof in), driver_alloc(sizeof out)};
    run("wide", THREADS, 2, p);
    driver_download(out, p[1], sizeof out);
    for (int t = 0; t < THREADS; t++) {
        unsigned __int128 x = (unsigned __int128)in[2 * t] << 64 | in[2 * t + 1], y = in[(2 * t + 5) % 128];
        unsigned __int128 expected[4] = {x * y, x / (y + 1), x - (y << 60), x + (y << 63)};
        for (int i = 0; i < 4; i++) {
            assert_int_equal(out[8 * t + 2 * i], (uint64_t)(expected[i] >> 64));
            assert_int_equal(out[8 * t + 2 * i + 1], (uint64_t)expected[i]);
        }
    }
}

// Converts to bf16 and back, to nearest.
static float through_bf16(float x) {
    uint32_t bits;
    memcpy(&bits, &x, 4);
    bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000u;
    memcpy(&x, &bits, 4);
    return x;
}

// Converts normal numbers to fp16 and back: 10 bits of fraction are kept.
static float through_f16(float x) {
    int exponent;
    float fraction = frexpf(x, &exponent);
    return ldexpf(rintf(ldexpf(fraction, 11)), exponent - 11);
}

static void test_floats(void **state) {
    (void)state;
    float a[THREADS], b[THREADS], out[THREADS][12];
    for (int t = 0; t < THREADS; t++) {
        a[t] = (float)(int)next() / 0x1p30f;
        b[t] = (float)(int)next() / 0x1p30f;
    }
    uint64_t p[3] = {driver_upload(a, sizeof a), driver_upload(b, sizeof b), driver_alloc(sizeof out)};
    run("floats", THREADS, 3, p);
    driver_download(out, p[2], sizeof out);
    for (int t = 0; t < THREADS; t++) {
        float x = a[t], y = b[t];
        float expected[12] = {x + y,
                              x * y,
                              (float)fma(x, y, 0.3f),
                              x / y,
                              sqrtf(fabsf(x)),
                              fminf(x, y),
                              floorf(x * 10) + rintf(y * 10) + truncf(x),
                              (float)((double)x * y + 1e-3),
                              (float)(int)(x * 100) + (float)(unsigned)(fabsf(y) * 50),
                              through_f16(x) + through_bf16(y),
                              expf(x),
                              x < 0   ? 0
                              : x > 1 ? 1
                                      : x};
        for (int i = 0; i < 12; i++) {
            bool near = i == 10 || i == 2 || i == 7 ? fabsf(out[t][i] - expected[i]) <= 3e-7f * fabsf(expected[i])
                                                    : out[t][i] == expected[i];
            if (!near)
                fail_msg("result %d of %a, %a is %a, not %a", i, x, y, out[t][i], expected[i]);
        }
    }
}

static void test_memory(void **state) {
    (void)state;
    float in[4 * THREADS], out[8 * THREADS + 128];
    for (int i = 0; i < 4 * THREADS; i++)
        in[i] = (float)(next() % 1000) + 1;
    memset(out, 0, sizeof out);
    uint64_t p[2] = {driver_upload(in, sizeof in), driver_upload(out, sizeof out)};
    run("memory", THREADS, 2, p);
    driver_download(out, p[1], sizeof out);
    for (int t = 0; t < THREADS; t++) {
        const float *four = in + 4 * t, *two = in + 2 * (63 - t), *across = in + 4 * ((t + 5) & 63);
        int16_t half;
        memcpy(&half, (const char *)in + 2 * t, 2);
        int i = t & 7, k = (t + 3) & 7;
        float expected[8] = {four[0] + four[1] * 2 + four[2] * 3 + four[3] * 4,
                             two[0] - two[1],
                             2,
                             across[0] + across[3],
                             t & 1 ? in[4 * (63 - t)] : (float)t,
                             in[i] * (float)(i + 1) + in[k] * (float)(k + 1),
                             (float)(1 << (t & 3)),
                             (float)((const unsigned char *)in)[t] * 65536.0f + half};
        for (int n = 0; n < 8; n++)
            if (out[8 * t + n] != expected[n])
                fail_msg("result %d of thread %d is %g, not %g", n, t, out[8 * t + n], expected[n]);
    }
}

static void test_atomics(void **state) {
    (void)state;
    int counter[20] = {0, 0, 100, 0, (int)0xffffffff, 0xfff, 0, 0, 0, 0, 0, 0};
    float sum = 0;
    double wide = 0;
    uint64_t p[3] = {driver_upload(counter, sizeof counter), driver_upload(&sum, sizeof sum),
                     driver_upload(&wide, sizeof wide)};
    run("atomics", THREADS, 3, p);
    driver_download(counter, p[0], sizeof counter);
    driver_download(&sum, p[1], sizeof sum);
    driver_download(&wide, p[2], sizeof wide);
    int total = THREADS * (THREADS - 1) / 2, parity = 0, down = 0;
    unsigned up = 0;
    for (int t = 0; t < THREADS; t++) {
        parity ^= t * 17;
        up = up >= 40 ? 0 : up + 1;
        down = down == 0 || down > 40 ? 40 : down - 1;
    }
    const int expected[12] = {total, -total, 50 - 63, 3 * 63, 1000, 0xf00, 0xffff, parity, (int)up, down, 77, 5};
    for (int i = 0; i < 12; i++)
        assert_int_equal(counter[i], expected[i]);
    assert_int_equal(counter[13], 2 * THREADS);
    for (int i = 0; i < 4; i++)
        assert_int_equal(counter[16 + i], (i + (60 + i)) * 16 / 2);
    assert_true(sum == 0.5f * (float)total && wide == 0.25 * total);
}

static void test_lanes(void **state) {
    (void)state;
    int in[THREADS], out[THREADS][12];
    for (int t = 0; t < THREADS; t++)
        in[t] = (int)(next() % 900);
    uint64_t p[2] = {driver_upload(in, sizeof in), driver_alloc(sizeof out)};
    run("lanes", THREADS, 2, p);
    driver_download(out, p[1], sizeof out);
    for (int t = 0; t < THREADS; t++) {
        const int *row = in + t / 32 * 32;
        int lane = t % 32, sum = 0, most = 0, parity = 0, any = 0;
        unsigned odd = 0, same = 0;
        for (int i = 0; i < 32; i++) {
            sum += row[i];
            most = row[i] > most ? row[i] : most;
            parity ^= row[i];
            any |= row[i] == 7;
            odd |= (unsigned)(row[i] & 1) << i;
            same |= (unsigned)((row[i] & 3) == (row[lane] & 3)) << i;
        }
        const int expected[12] = {row[t * 7 % 32],
                                  lane >= 3 ? row[lane - 3] : row[lane],
                                  lane % 16 + 5 < 16 ? row[lane + 5] : row[lane],
                                  row[lane ^ 9],
                                  (int)odd,
                                  any * 2 + 1,
                                  (int)same,
                                  -1 + 1,
                                  sum,
                                  most,
                                  parity,
                                  -1};
        for (int i = 0; i < 12; i++)
            if (out[t][i] != expected[i])
                fail_msg("result %d of thread %d is %d, not %d", i, t, out[t][i], expected[i]);
    }
}

static void test_tensor(void **state) {
    (void)state;
    uint16_t a[16][16], b[16][8];
    float c[16][8];
    for (int i = 0; i < 16; i++) {
        for (int k = 0; k < 16; k++) { // small integers: bf16 is the upper half of their fp32
            float value = (float)(next() % 9) - 4;
            memcpy(&a[i][k], (const char *)&value + 2, 2);
            value = (float)(next() % 9) - 4;
            memcpy(&b[i][k % 8], (const char *)&value + 2, 2);
        }
    }
    uint64_t p[3] = {driver_upload(a, sizeof a), driver_upload(b, sizeof b), driver_alloc(sizeof c)};
    run("tensor", 32, 3, p);
    driver_download(c, p[2], sizeof c);
    for (int i = 0; i < 16; i++) {
        for (int j = 0; j < 8; j++) {
            float sum = 0;
            for (int k = 0; k < 16; k++) {
                uint32_t x = (uint32_t)a[i][k] << 16, y = (uint32_t)b[k][j] << 16;
                float fx, fy;
                memcpy(&fx, &x, 4);
                memcpy(&fy, &y, 4);
                sum += fx * fy;
            }
            if (c[i][j] != sum)
                fail_msg("c[%d][%d] is %g, not %g", i, j, c[i][j], sum);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integers), cmocka_unit_test(test_wide_integers), cmocka_unit_test(test_floats),
        cmocka_unit_test(test_memory),   cmocka_unit_test(test_atomics),       cmocka_unit_test(test_lanes),
        cmocka_unit_test(test_tensor),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
