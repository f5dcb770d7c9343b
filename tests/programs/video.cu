// Video instructions: byte and halfword selectors, secondary operations, merging into a third word, masks, vmad.
#include "program.cuh"

// x: bytes 01, 7f, ff, 80 from the lowest on. y: 03, 02, 01, 00. The expected results were derived by hand from the PTX
// ISA, except the first, for which ptxas deviates.
#define VIDEO_CASES(CASE)                                                                                              \
    CASE("vadd.u32.s32.u32.sat %0.h1, %1.b3, %2.h0, %3;",                                                              \
         0x00003344) /* -128 + 515, and an H200 puts its upper half */                                                 \
    CASE("vadd.s32.s32.s32.sat %0.b0, %1.b1, %2.b0, %3;", 0x1122337f)      /* 127 + 3 is too much for a byte */        \
    CASE("vadd.s32.s32.s32 %0.b0, %1.b1, %2.b0, %3;", 0x11223382)          /* and is cut */                            \
    CASE("vadd.s32.s32.s32.min %0, %1.b2, %2.b3, %3;", 0xffffffff)         /* -1 */                                    \
    CASE("vadd.s32.s32.s32.max %0, %1.b2, %2.b3, %3;", 0x11223344)         /* of -1 and the third */                   \
    CASE("vsub.u32.u32.u32.sat %0, %2.b3, %1.b0;", 0)                      /* 0 - 1 */                                 \
    CASE("vsub.s32.u32.u32 %0, %2.b3, %1.b0;", 0xffffffff)                 /* -1 */                                    \
    CASE("vsub.u32.u32.u32.min %0, %2.b3, %1.b0, %3;", 0x11223344)         /* unsigned, -1 is large */                 \
    CASE("vabsdiff.u32.s32.s32.add %0, %1.b2, %2.b1, %3;", 0x11223347)     /* |-1 - 2| */                              \
    CASE("vmin.s32.s32.u32 %0, %1.h1, %2.h1;", 0xffff80ff)                 /* of 0x80ff with its sign and 1 */         \
    CASE("vmax.u32.u32.u32 %0.b2, %1.h0, %2.b2, %3;", 0x11013344)          /* the low byte of 0x7f01 */                \
    CASE("vmax.u32.u32.u32.sat %0.b2, %1.h0, %2.b2, %3;", 0x11ff3344)      /* which is too much */                     \
    CASE("vset.u32.s32.gt %0.b3, %1.b3, %1.b3, %3;", 0x01223344)           /* 128 > -128 */                            \
    CASE("vset.s32.s32.lt.add %0, %1.b3, %2.b0, %3;", 0x11223345)          /* -128 < 3 */                              \
    CASE("vset.s32.s32.ge.max %0, %1.b3, %2.b0, %3;", 0x11223344)          /* of 0 and the third */                    \
    CASE("vshl.u32.u32.u32.clamp %0, %1.b0, %2.h0;", 0)                    /* 1 << 32 */                               \
    CASE("vshl.u32.u32.u32.sat.clamp %0, %1.b0, %2.h0;", 0xffffffff)       /* too much for a word */                   \
    CASE("vshl.u32.u32.u32.wrap %0, %1.b0, %2.h0;", 8)                     /* 1 << 515 % 32 */                         \
    CASE("vshr.s32.s32.u32.clamp.add %0, %1, %2.b0, %3;", 0x01422324)      /* 0xf01fefe0 + the third */                \
    CASE("vshr.u32.u32.u32.wrap %0.h0, %1.h1, %2.b1, %3;", 0x1122203f)     /* 0x80ff >> 2 */                           \
    CASE("vmad.u32.u32.u32.po %0, %1.b0, %2.b1, %3;", 0x11223347)          /* 1 * 2 + the third + 1 */                 \
    CASE("vmad.s32.s32.u32.sat.shr7 %0, -%1.b0, %2.h1, %3;", 0x00224466)   /* (-1 + the third) >> 7 */                 \
    CASE("vmad.s32.s32.u32.shr15 %0, %1.h1, %2.h0, -%3;", 0xffffdbbc)      /* (-32513 * 515 - the third) >> 15 */      \
    CASE("vmad.s32.s32.s32.sat %0, %1, %1, %3;", 0x7fffffff)               /* a square of 62 bits */                   \
    CASE("vmad.s32.s32.s32.sat %0, %1, -%1, %3;", 0x80000000)              /* less than any word */                    \
    CASE("vmad.s32.s32.s32.sat %0, -%1.b0, -%2.b0, %3;", 0x11223347)       /* two signs are none: 1 * 3 */             \
    CASE("vadd4.u32.u32.u32 %0.b310, %1.b7240, %2.b3332, %3;", 0x80228300) /* 0+80, ff+80 masked, 3+80, 1+ff */        \
    CASE("vavrg4.u32.u32.u32 %0.b1, %1.b7777, %2.b3333, %3;", 0x11224044)  /* of 0 and 128 */                          \
    CASE("vset4.s32.u32.lt.add %0.b30, %1, %2, %3;", 0x11223346)           /* -128 < 0 and 1 < 3 */                    \
    CASE("vadd2.s32.s32.s32.sat %0, %1.h01, %2.h23, %3;", 0x7fff8100)      /* 7f01+203, 80ff+1 */                      \
    CASE("vabsdiff2.u32.u32.u32 %0.h1, %1, %2, %3;", 0x80fe3344)           /* 80ff-1, the lower half is masked */      \
    CASE("vmax2.s32.s32.s32 %0, %1.h11, %2.h23, %3;", 0x02030001)          /* -32513 twice, and 203, 1 */

__global__ void video(const unsigned *in, unsigned *out) {
    const unsigned x = in[0], y = in[1], third = in[2];
#define RUN(text, expected) asm(text : "=r"(*out++) : "r"(x), "r"(y), "r"(third));
    VIDEO_CASES(RUN)
#undef RUN
}

int main() {
#define TEXT(text, expected) {text, expected},
    const struct {
        const char *text;
        unsigned expected;
    } cases[] = {VIDEO_CASES(TEXT)};
#undef TEXT
    const int n = sizeof cases / sizeof *cases;
    unsigned *out = zeros<unsigned>(n);
    video<<<1, 1>>>(to_device(std::vector<unsigned>{0x80ff7f01, 0x00010203, 0x11223344}), out);
    const std::vector<unsigned> result = to_host(out, n);
    bool right = true;
    for (int i = 0; i < n; i++) {
        if (result[i] != cases[i].expected)
            printf("%s gives %08x, not %08x\n", cases[i].text, result[i], cases[i].expected);
        right &= result[i] == cases[i].expected;
    }
    return !right;
}
