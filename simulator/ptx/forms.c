#include "forms.h"

// clang-format off
#define BIT(class) (UINT64_C(1) << (class))
#define FLOATS (BIT(FTZ) | BIT(SAT) | BIT(ROUND))
#define MEMORY (BIT(SPACE) | BIT(ORDER) | BIT(SCOPE) | BIT(CACHE) | BIT(VECTOR))
#define MBARRIERS (BIT(ORDER) | BIT(SCOPE) | BIT(SPACE))
#define MMA_ALWAYS (BIT(SYNC) | BIT(ALIGNED) | BIT(SHAPE) | BIT(LAYOUT))
#define WMMA (BIT(SYNC) | BIT(ALIGNED) | BIT(SHAPE) | BIT(LINES))
#define NARROW (BIT(NARROW_TYPES) | BIT(BITWISE) | BIT(COUNTING))
#define BULK (BIT(SPACE) | BIT(CACHE) | BIT(COMPLETION))

const struct form PTX_FORMS[PTX_OPCODES] = {
#define FORM(name, operands, least, most, allowed, needed) \
    [PTX_OP_##name] = {operands, least, most, (allowed) | (needed) | BIT(TYPES), needed},
#include "forms.def"
#undef FORM
};
// clang-format on

const struct suffix PTX_SUFFIXES[] = {
#define SUFFIX(text, class, field, value) {"." text, class, field, value},
#include "suffixes.def"
#undef SUFFIX
};

const int PTX_SUFFIX_COUNT = sizeof PTX_SUFFIXES / sizeof *PTX_SUFFIXES;
