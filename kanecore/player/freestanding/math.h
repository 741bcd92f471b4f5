/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * math.h: the functions that the machine calls, where there is no C library.  Roots and rounding are
 * instructions of WebAssembly, erf and nextafter stand in kc_freestanding.c, and the page gives the others:
 * they are JavaScript's.
 */
#ifndef KC_FREESTANDING_MATH_H
#define KC_FREESTANDING_MATH_H

#define INFINITY __builtin_inff()
#define NAN      __builtin_nanf("")
#define isnan(x) __builtin_isnan(x)

/* Instructions. */
#define fabs  __builtin_fabs
#define floor __builtin_floor
#define sqrt  __builtin_sqrt

#define KC_OF_PAGE(name, arguments)                                                                          \
    __attribute__((import_module("env"), import_name(#name))) double name arguments;
KC_OF_PAGE(acos, (double a))
KC_OF_PAGE(acosh, (double a))
KC_OF_PAGE(asin, (double a))
KC_OF_PAGE(asinh, (double a))
KC_OF_PAGE(atan, (double a))
KC_OF_PAGE(atan2, (double a, double b))
KC_OF_PAGE(atanh, (double a))
KC_OF_PAGE(cosh, (double a))
KC_OF_PAGE(exp, (double a))
KC_OF_PAGE(fmod, (double a, double b))
KC_OF_PAGE(log, (double a))
KC_OF_PAGE(pow, (double a, double b))
KC_OF_PAGE(sinh, (double a))
KC_OF_PAGE(tan, (double a))
KC_OF_PAGE(tanh, (double a))
#undef KC_OF_PAGE

double erf(double a), nextafter(double a, double towards);

static inline double fmax(double a, double b)
{
    return a > b || b != b ? a : b;
}

static inline double fmin(double a, double b)
{
    return a < b || b != b ? a : b;
}

#endif
