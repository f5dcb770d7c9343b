#include "forms.h"

// clang-format off
#define BIT(class) (UINT64_C(1) << (class))
#define FLOATS (BIT(FTZ) | BIT(SAT) | BIT(ROUND))
#define MEMORY (BIT(SPACE) | BIT(ORDER) | BIT(SCOPE) | BIT(CACHE) | BIT(VECTOR))
#define MBARRIERS (BIT(ORDER) | BIT(SCOPE) | BIT(SPACE))
#define MMA_ALWAYS (BIT(SYNC) | BIT(ALIGNED) | BIT(SHAPE) | BIT(LAYOUT))
#define WMMA (BIT(SYNC) | BIT(ALIGNED) | BIT(SHAPE) | BIT(FRAGMENT_LAYOUT))
#define NARROW (BIT(SUB_BYTE_TYPES) | BIT(MMA_BIT_OPERATION) | BIT(MMA_POPC))
#define BULK (BIT(SPACE) | BIT(CACHE) | BIT(COMPLETION))

const struct form PTX_FORMS[PTX_OPCODES] = {
#define FORM(name, operands, minimum, maximum, allowed, required) \
    [PTX_OP_##name] = {operands, minimum, maximum, (allowed) | (required) | BIT(TYPES), required},
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
