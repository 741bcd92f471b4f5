/* SPDX-License-Identifier: BSD-3-Clause */
/* Linear equations by elimination, with pivots chosen by numbers. */

#if defined(__GNUC__)
#define KC_SOLVER static __attribute__((noinline, unused))
#else
#define KC_SOLVER static inline
#endif

/* A power of two near 1 / x, for x > 0. */
KC_INLINE double kc_inverse(double x)
{
    const int exponent = (int)(kc_to_bits(x) >> 52 & 0x7ff);
    return kc_from_bits((uint64_t)(exponent > 2045 ? 1 : exponent < 1 ? 2045 : 2046 - exponent) << 52);
}

/*
 * Any regular matrix: a x = b with the largest pivots of rows and columns of equal size.  b (n, k) becomes x,
 * `place` holds n ints and `factor` 2 n doubles.  -1, or the unknown that has no pivot.
 */
KC_COLD int kc_eliminate(int n, int k, double *a, double *b, double *factor, int *place)
{
    for (int i = 0; i < n; i++) {
        double largest = 0.0;
        for (int j = 0; j < n; j++)
            largest = kc_max(largest, fabs(a[i * n + j]));
        const double scale = largest > 0.0 ? kc_inverse(largest) : 1.0;
        place[i] = i;
        for (int j = 0; j < n; j++)
            a[i * n + j] *= scale;
        for (int j = 0; j < k; j++)
            b[i * k + j] *= scale;
    }
    for (int j = 0; j < n; j++) {
        double largest = 0.0;
        for (int i = 0; i < n; i++)
            largest = kc_max(largest, fabs(a[i * n + j]));
        factor[j] = largest > 0.0 ? kc_inverse(largest) : 1.0;
        for (int i = 0; i < n; i++)
            a[i * n + j] *= factor[j];
    }
    double first = 0.0;
    for (int r = 0; r < n; r++) {
        int pi = r, pj = r;
        double largest = -1.0;
        for (int i = r; i < n; i++)
            for (int j = r; j < n; j++)
                if (fabs(a[i * n + j]) > largest)
                    largest = fabs(a[i * n + j]), pi = i, pj = j;
        if (r == 0)
            first = largest;
        if (!(largest > KC_PIVOT * n * DBL_EPSILON * first))
            return place[r];
        for (int j = 0; j < n; j++) {
            const double kept = a[pi * n + j];
            a[pi * n + j] = a[r * n + j], a[r * n + j] = kept;
        }
        for (int j = 0; j < k; j++) {
            const double kept = b[pi * k + j];
            b[pi * k + j] = b[r * k + j], b[r * k + j] = kept;
        }
        for (int i = 0; i < n; i++) {
            const double kept = a[i * n + pj];
            a[i * n + pj] = a[i * n + r], a[i * n + r] = kept;
        }
        const int name = place[pj];
        place[pj] = place[r], place[r] = name;
        for (int i = r + 1; i < n; i++) {
            const double multiple = a[i * n + r] / a[r * n + r];
            if (multiple == 0.0)
                continue;
            for (int j = r + 1; j < n; j++)
                a[i * n + j] -= multiple * a[r * n + j];
            for (int j = 0; j < k; j++)
                b[i * k + j] -= multiple * b[r * k + j];
        }
    }
    for (int j = 0; j < k; j++) {
        double *const x = factor + n;
        for (int i = n - 1; i >= 0; i--) {
            double sum = b[i * k + j];
            for (int l = i + 1; l < n; l++)
                sum -= a[i * n + l] * b[l * k + j];
            b[i * k + j] = sum / a[i * n + i];
        }
        for (int i = 0; i < n; i++)
            x[place[i]] = b[i * k + j] * factor[place[i]];
        for (int i = 0; i < n; i++)
            b[i * k + j] = x[i];
    }
    return -1;
}
