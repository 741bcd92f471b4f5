/* SPDX-License-Identifier: BSD-3-Clause */
/* Included before a model's C: what follows meets a compiler that knows no C but ISO C99's. */
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#undef __GNUC__
#undef __clang__
