/* SPDX-License-Identifier: BSD-3-Clause */
/* kc_freestanding.c: what a C library would give, in WebAssembly. */
#include <math.h>
#include <stdint.h>
#include <string.h>

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
    unsigned char *a = to;
    for (const unsigned char *b = from, *const end = b + n; b != end;)
        *a++ = *b++;
    return to;
}

void *memset(void *to, int byte, size_t n)
{
    for (unsigned char *a = to, *const end = a + n; a != end;)
        *a++ = (unsigned char)byte;
    return to;
}

int memcmp(const void *a, const void *b, size_t n)
{
    const unsigned char *p = a, *q = b;
    for (size_t i = 0; i < n; i++)
        if (p[i] != q[i])
            return p[i] < q[i] ? -1 : 1;
    return 0;
}

int strcmp(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return (unsigned char)*a - (unsigned char)*b;
}

double nextafter(double a, double towards)
{
    union {
        double number;
        int64_t bits;
    } next = {a};
    if (a != a || towards != towards)
        return a + towards;
    if (a == towards)
        return towards;
    if (a == 0.0) {
        next.bits = 1;
        return towards > 0.0 ? next.number : -next.number;
    }
    next.bits += (a < towards) == (a > 0.0) ? 1 : -1;
    return next.number;
}

/*
 * erf(a) = 2/sqrt(pi) exp(-a^2) sum_n 2^n a^(2n+1) / (2n+1)!!, whose terms are of one sign; beyond 3 the
 * continued fraction of erfc (Abramowitz & Stegun 1964, 7.1.6 and 7.1.14), from its tail.
 */
double erf(double a)
{
    static const double ROOT_OF_PI = 1.7724538509055160273;
    enum { TAIL = 60 };
    const double x = fabs(a), bell = exp(-x * x) / ROOT_OF_PI;
    if (!(x < 6.0))
        return x != x ? a : a < 0.0 ? -1.0 : 1.0;
    double result;
    if (x < 3.0) {
        double term = x, sum = x;
        for (int n = 1; term > 1e-18 * sum; n++)
            sum += term *= 2.0 * x * x / (2 * n + 1);
        result = 2.0 * bell * sum;
    } else {
        double tail = x;
        for (int n = TAIL; n > 0; n--)
            tail = x + 0.5 * n / tail;
        result = 1.0 - bell / tail;
    }
    return a < 0.0 ? -result : result;
}
