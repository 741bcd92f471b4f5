/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * any_table.c: a library whose table is the one that a test hands over by use_table().  Its kernels keep what
 * the table promises: they read and write all of their buffers, and nothing beside them.
 */
#include <string.h>

#include "kanecore.h"

typedef struct {
    const char *name;
    kc_kernel *call;
    size_t length; /* of out */
    size_t beyond; /* numbers that x goes on with */
} kernel;

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

EXPORT void use_table(const kc_model *handed_over, size_t n_bytes);
EXPORT kc_kernel *const *all_kernels(void);
EXPORT void prepare(const double *p, double *c);

static const kc_model *table;
static kc_model copy; /* whole, also where the table is shorter */

static double sum(const double *values, size_t n)
{
    double total = 0.0;
    for (size_t i = 0; i < n; i++)
        total += values[i];
    return total;
}

void prepare(const double *p, double *c)
{
    for (size_t i = 0; i < copy.n_prepared; i++)
        c[i] = i < copy.n_p ? p[i] : 1.0;
}

static void run(int number, double t, const double *x, const double *r, const double *c, double *work,
                double *out)
{
    const kc_model *const m = &copy;
    const size_t n_q = m->n_q, n_u = m->n_u, n_x = n_q + n_u + m->n_z;
    const kernel kernels[] = {
#include "kernels.inc"
    };
    (void)sizeof(char[sizeof kernels / sizeof *kernels <= 100 ? 1 : -1]); /* there is a function for each */
    const kernel *k = kernels + number;
    const double total = t + sum(x, n_x + k->beyond) + sum(r, m->n_r) + sum(c, m->n_prepared);
    for (size_t i = 2; i < m->n_work; i++)
        work[i] = total;
    for (size_t i = 0; i < k->length; i++)
        out[i] = total;
}

#define ARGUMENTS double t, const double *x, const double *r, const double *c, double *work, double *out
#define KERNEL(i)                                                                                            \
    static void kernel_##i(ARGUMENTS)                                                                        \
    {                                                                                                        \
        run(i - 100, t, x, r, c, work, out);                                                                 \
    }
#define ADDRESS(i) kernel_##i,
#define TEN(of, d)                                                                                           \
    of(1##d##0) of(1##d##1) of(1##d##2) of(1##d##3) of(1##d##4) of(1##d##5) of(1##d##6) of(1##d##7)          \
        of(1##d##8) of(1##d##9)

TEN(KERNEL, 0)
TEN(KERNEL, 1)
TEN(KERNEL, 2)
TEN(KERNEL, 3)
TEN(KERNEL, 4)
TEN(KERNEL, 5)
TEN(KERNEL, 6)
TEN(KERNEL, 7)
TEN(KERNEL, 8)
TEN(KERNEL, 9)

kc_kernel *const *all_kernels(void)
{
    static kc_kernel *const addresses[] = {TEN(ADDRESS, 0) TEN(ADDRESS, 1) TEN(ADDRESS, 2) TEN(ADDRESS, 3)
                                               TEN(ADDRESS, 4) TEN(ADDRESS, 5) TEN(ADDRESS, 6) TEN(ADDRESS, 7)
                                                   TEN(ADDRESS, 8) TEN(ADDRESS, 9)};
    return addresses;
}

void use_table(const kc_model *handed_over, size_t n_bytes)
{
    table = handed_over;
    memset(&copy, 0, sizeof copy);
    memcpy(&copy, handed_over, n_bytes < sizeof copy ? n_bytes : sizeof copy);
}

#ifdef _WIN32
__declspec(dllexport)
#elif defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const kc_model *kc_get_model(void)
{
    return table;
}
