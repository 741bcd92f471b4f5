/* SPDX-License-Identifier: BSD-3-Clause */
/* MODEL_ok if n numbers are finite. */
static int kc_finite(int n, const MODEL_real *x)
{
    MODEL_real none = 0;
    for (int i = 0; i < n; i++)
        none += 0 * x[i];
    return none == 0 ? MODEL_ok : MODEL_nonfinite;
}

/* What a function of n results returns. */
static int kc_outcome(int n, const MODEL_real *work, const MODEL_real *out)
{
    return work[0] != 0 ? (int)work[0] : kc_finite(n, out);
}

/* Scratch of the kernels; what calls them keeps its own behind it. */
enum { kc_n_work = 2 + INSERT_ROOM };

/* More room than there is would be an error of kanecore. */
extern char kc_work_suffices[(int)MODEL_n_work >= (int)kc_n_work ? 1 : -1];

int MODEL_prepare(const MODEL_real *p, MODEL_real *c)
{
    prepare(p, c);
    return kc_finite(MODEL_n_prepared, c);
}
