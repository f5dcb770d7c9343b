// cmocka.h wants these before it.
#ifndef CMOCKA_ALL_H
#define CMOCKA_ALL_H

// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
// clang-format on

#endif
