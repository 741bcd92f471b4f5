/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The slopes of the stages obey dk = A dy + B dr, with dy those of the place of the stage: what is returned
 * is the derivative of the step that is taken, not another approximation.
 */
int MODEL_step_jacobian(MODEL_real t, MODEL_real h, const MODEL_real *x, const MODEL_real *r,
                        const MODEL_real *c, MODEL_real *work, MODEL_real *next, MODEL_real *jacobian)
{
    enum { n = MODEL_n_x, k = MODEL_n_x + MODEL_n_r };
    MODEL_real *const slope = work + kc_n_work, *const sum = slope + n, *const place = sum + n;
    MODEL_real *const linear = place + n, *const before = linear + n * k, *const now = before + n * k;
    for (int i = 0; i < n; i++)
        place[i] = x[i], sum[i] = 0;
    for (int i = 0; i < n * k; i++)
        jacobian[i] = before[i] = 0; /* the sum of the slopes, and the last of them */
    for (int j = 0; j < 4; j++) {
        const MODEL_real passed = j == 0 ? 0 : kc_reach[j - 1] * h;
        int status = MODEL_rhs(t + passed, place, r, c, work, slope);
        if (!status)
            status = MODEL_linearize(t + passed, place, r, c, work, linear);
        if (status)
            return status;
        for (int i = 0; i < n; i++)
            for (int l = 0; l < k; l++) {
                MODEL_real entry = linear[i * k + l];
                for (int m = 0; m < n && j > 0; m++)
                    entry += linear[i * k + m] * (passed * before[m * k + l]);
                now[i * k + l] = entry;
                jacobian[i * k + l] += kc_weight[j] * entry;
            }
        for (int i = 0; i < n * k; i++)
            before[i] = now[i];
        for (int i = 0; i < n; i++) {
            sum[i] = j == 0 ? kc_weight[j] * slope[i] : sum[i] + kc_weight[j] * slope[i];
            place[i] = x[i] + h * (kc_reach[j] * slope[i]);
        }
    }
    for (int i = 0; i < n; i++) {
        next[i] = x[i] + h * sum[i];
        for (int l = 0; l < k; l++)
            jacobian[i * k + l] = (l == i) + h * jacobian[i * k + l];
    }
    return INSERT_END;
}
