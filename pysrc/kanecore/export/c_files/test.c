/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares the functions of MODEL with kanecore's results, in doubles, at some states. Each number may
 * differ by what rounding makes of it: by `within`. Returns 0 if all agree. With -DQUIET it needs no stdio.h.
 */
#include "MODEL.h"

#include <math.h>
#if !defined(QUIET)
#include <stdio.h>
#endif

typedef int function(MODEL_real t, const MODEL_real *x, const MODEL_real *r, const MODEL_real *c,
                     MODEL_real *work, MODEL_real *out);

typedef struct {
    const char *name;
    function *call;
    int length;
    MODEL_real t;
    const MODEL_real *x, *r, *expected, *within;
} test;

INSERT_STEPS;
#include "vectors.h"

static MODEL_real c[MODEL_n_prepared], work[MODEL_n_work], out[INSERT_LONGEST];

/* How many numbers of a test are wrong. */
static int wrong(const test *each)
{
    const int status = each->call(each->t, each->x, each->r, c, work, out);
    int count = status != MODEL_ok;
#if !defined(QUIET)
    if (status)
        printf("%s returns %d\n", each->name, status);
#endif
    for (int i = 0; i < each->length; i++) {
        if (fabs((double)(out[i] - each->expected[i])) <= (double)each->within[i])
            continue;
        count++;
#if !defined(QUIET)
        printf("%s[%d] is %.9g, not %.9g (within %.2g)\n", each->name, i, (double)out[i],
               (double)each->expected[i], (double)each->within[i]);
#endif
    }
    return count;
}

int main(void)
{
    int count = MODEL_prepare(parameters, c) != MODEL_ok;
    if (rank >= 0) /* rows of G that count where these states are, which parameters alone do not tell */
        c[MODEL_n_prepared - 1] = (MODEL_real)rank;
    const test *each = tests;
    for (; each->name; each++)
        count += wrong(each);
#if !defined(QUIET)
    printf("MODEL: %d tests, %d numbers differ\n", (int)(each - tests), count);
#endif
    return count != 0;
}
