#include "dtype.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct dtype types[ATTENTION_DTYPES] = {
    [ATTENTION_FP32] = {"fp32", 4, 0x1p-24, "<f4"},
    [ATTENTION_FP16] = {"fp16", 2, 0x1p-11, "<f2"},
    // NumPy has no bfloat16: ml_dtypes writes its two bytes as raw data, others as unsigned integers.
    [ATTENTION_BF16] = {"bf16", 2, 0x1p-8, "<V2"},
    [ATTENTION_E4M3] = {"e4m3", 1, 0x1p-4, "|V1"},
    [ATTENTION_INT32] = {"int32", 4, 0, "<i4"},
};

static const uint32_t poison_bits = 0xFFFFFFFFu;
static const uint16_t poison_bits16 = 0xFFFFu;
static const uint8_t poison_bits8 = 0xFFu;

const struct dtype *dtype_of(enum attention_dtype dtype) {
    return &types[dtype];
}

bool dtype_from_name(const char *name, enum attention_dtype *dtype, struct message *error) {
    for (int i = 0; i < ATTENTION_INT32; i++) // no kernel computes with int32
        if (!strcmp(name, types[i].name)) {
            *dtype = (enum attention_dtype)i;
            return true;
        }
    return message_set(error, "DTYPE=%.60s is unknown: use fp32, fp16, bf16 or e4m3", name);
}

const char *dtype_names(unsigned set, char text[32]) {
    *text = 0;
    for (int i = 0; i < ATTENTION_DTYPES; i++)
        if (set & 1u << i) {
            const char *joint = !*text ? "" : set >> (i + 1) ? ", " : " or ";
            snprintf(text + strlen(text), 32 - strlen(text), "%s%s", joint, types[i].name);
        }
    return text;
}

static uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

bool is_poison(float value) {
    return bits_of(value) == poison_bits;
}

// The upper half of a float, rounded to nearest even by adding just under half of the last place that stays.
static uint16_t to_bf16(float value) {
    uint32_t bits = bits_of(value);
    if (isnan(value))
        return 0x7FFF;
    return (uint16_t)((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

// 5 bits of exponent, biased by 15, and 10 of mantissa.
static uint16_t to_fp16(float value) {
    const float largest = 65520, smallest_normal = 0x1p-14f; // what is no less than largest rounds to infinity
    uint32_t bits = bits_of(value), sign = bits >> 16 & 0x8000;
    float size = fabsf(value);
    if (isnan(value))
        return 0x7FFF;
    if (size >= largest)
        return (uint16_t)(sign | 0x7C00);
    if (size < smallest_normal) // a multiple of 2^-24: adding 0.5, whose last place that is, rounds to one
        return (uint16_t)(sign | (bits_of(size + 0.5f) - bits_of(0.5f)));
    uint32_t magnitude = bits_of(size) - (uint32_t)((127 - 15) << 23);
    return (uint16_t)(sign | (magnitude + 0x0FFF + (magnitude >> 13 & 1)) >> 13);
}

static float from_fp16(uint16_t half) {
    uint32_t sign = (uint32_t)(half & 0x8000) << 16, exponent = half >> 10 & 0x1F, mantissa = half & 0x3FF;
    if (exponent == 0)
        return float_of(sign | bits_of((float)mantissa * 0x1p-24f));
    if (exponent == 0x1F)
        return float_of(sign | 0x7F800000 | mantissa << 13);
    return float_of(sign | (exponent + 127 - 15) << 23 | mantissa << 13);
}

static uint16_t to_16(enum attention_dtype dtype, float value) {
    return is_poison(value) ? poison_bits16 : dtype == ATTENTION_BF16 ? to_bf16(value) : to_fp16(value);
}

static float from_16(enum attention_dtype dtype, uint16_t bits) {
    if (bits == poison_bits16)
        return float_of(poison_bits);
    return dtype == ATTENTION_BF16 ? float_of((uint32_t)bits << 16) : from_fp16(bits);
}

// 4 bits of exponent, biased by 7, and 3 of mantissa; no infinity, and one NaN of each sign.
static uint8_t to_e4m3(float value) {
    const float largest = 448, smallest_normal = 0x1p-6f;
    uint8_t sign = signbit(value) ? 0x80 : 0;
    float size = fabsf(value);
    if (is_poison(value))
        return poison_bits8;
    if (isnan(value))
        return 0x7F;
    if (size < smallest_normal) // a multiple of 2^-9
        return sign | (uint8_t)rintf(size * 0x1p9f);
    uint32_t magnitude = bits_of(size > largest ? largest : size) - (uint32_t)((127 - 7) << 23);
    return sign | (uint8_t)((magnitude + 0x7FFFF + (magnitude >> 20 & 1)) >> 20);
}

static float from_e4m3(uint8_t bits) {
    int exponent = bits >> 3 & 0xF, mantissa = bits & 7;
    float size = exponent ? ldexpf((float)(8 + mantissa), exponent - 10) : (float)mantissa * 0x1p-9f;
    if (bits == poison_bits8)
        return float_of(poison_bits);
    return (bits & 0x7F) == 0x7F ? NAN : bits & 0x80 ? -size : size;
}

static int32_t to_int32(float value) {
    return is_poison(value) ? -1 : value >= 0x1p31f ? INT32_MAX : value < -0x1p31f ? INT32_MIN : (int32_t)lrintf(value);
}

float dtype_round(enum attention_dtype dtype, float value) {
    switch (dtype) {
    case ATTENTION_FP32:
        return value;
    case ATTENTION_E4M3:
        return from_e4m3(to_e4m3(value));
    case ATTENTION_INT32:
        return (float)to_int32(value);
    default:
        return from_16(dtype, to_16(dtype, value));
    }
}

void dtype_store(enum attention_dtype dtype, const float *values, int64_t count, void *to) {
    if (dtype == ATTENTION_FP32) {
        memcpy(to, values, (size_t)count * sizeof *values);
        return;
    }
    for (int64_t i = 0; i < count; i++)
        if (dtype == ATTENTION_E4M3)
            ((uint8_t *)to)[i] = to_e4m3(values[i]);
        else if (dtype == ATTENTION_INT32)
            ((int32_t *)to)[i] = to_int32(values[i]);
        else
            ((uint16_t *)to)[i] = to_16(dtype, values[i]);
}

void dtype_load(enum attention_dtype dtype, const void *from, int64_t count, float *values) {
    if (dtype == ATTENTION_FP32) {
        memcpy(values, from, (size_t)count * sizeof *values);
        return;
    }
    for (int64_t i = 0; i < count; i++)
        values[i] = dtype == ATTENTION_E4M3    ? from_e4m3(((const uint8_t *)from)[i])
                    : dtype == ATTENTION_INT32 ? (float)((const int32_t *)from)[i]
                                               : from_16(dtype, ((const uint16_t *)from)[i]);
}
