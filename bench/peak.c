/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * peak.c: the most multiply-adds that this core does: independent chains, enough to hide their latency, over
 * the widest vectors and over single numbers.  A compiler without fused operations counts a product and a sum
 * as one.
 */
#define _POSIX_C_SOURCE 199309L
#include <time.h>

#if defined(__AVX512F__)
enum { WIDTH = 8 };
#elif defined(__AVX__)
enum { WIDTH = 4 };
#else
enum { WIDTH = 2 };
#endif
typedef double vector __attribute__((vector_size(8 * WIDTH)));

int width(void);
double vectors(long n);
double scalars(long n);

static volatile double sink;

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int width(void)
{
    return WIDTH;
}

#if defined(__x86_64__)
#define IN_REGISTER "+v" /* each chain stays one of its own: nothing is merged into wider vectors */
#elif defined(__aarch64__)
#define IN_REGISTER "+w"
#else
#define IN_REGISTER "+m"
#endif
#define STEP(z) z = z * factor + term;
#define ALL_STEPS                                                                                            \
    STEP(a) STEP(b) STEP(c) STEP(d) STEP(e) STEP(f) STEP(g) STEP(h) STEP(i) STEP(j) STEP(k) STEP(l)
#define HOLD(z) __asm__ volatile("" : IN_REGISTER(z));
#define HOLD_ALL                                                                                             \
    HOLD(a) HOLD(b) HOLD(c) HOLD(d) HOLD(e) HOLD(f) HOLD(g) HOLD(h) HOLD(i) HOLD(j) HOLD(k) HOLD(l)

/* n rounds of four steps of twelve chains, in seconds. */
#define PROBE(name, type)                                                                                    \
    double name(long n)                                                                                      \
    {                                                                                                        \
        const type zero = {0}, factor = zero + 0.999999, term = zero + 1e-6;                                 \
        type a = zero, b = a + 1, c = b + 1, d = c + 1, e = d + 1, f = e + 1;                                \
        type g = f + 1, h = g + 1, i = h + 1, j = i + 1, k = j + 1, l = k + 1;                               \
        const double start = now();                                                                          \
                                                                                                             \
        for (long round = 0; round < n; round++) {                                                           \
            ALL_STEPS HOLD_ALL ALL_STEPS HOLD_ALL ALL_STEPS HOLD_ALL ALL_STEPS HOLD_ALL                      \
        }                                                                                                    \
        const double took = now() - start;                                                                   \
        a += b + c + d + e + f + g + h + i + j + k + l;                                                      \
        sink = *(double *)&a;                                                                                \
        return took;                                                                                         \
    }

PROBE(vectors, vector)
PROBE(scalars, double)
