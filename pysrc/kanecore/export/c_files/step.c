/* SPDX-License-Identifier: BSD-3-Clause */
/* One step in time: the classical method of Runge and Kutta, of order 4. */

/* Part j of a step: how far stage j + 1 goes along slope j, and its weight. */
static const MODEL_real kc_reach[4] = {KC_LITERAL(0.5), KC_LITERAL(0.5), KC_LITERAL(1.0), KC_LITERAL(0.0)};
static const MODEL_real kc_weight[4] = {KC_LITERAL(1.0) / KC_LITERAL(6.0), KC_LITERAL(1.0) / KC_LITERAL(3.0),
                                        KC_LITERAL(1.0) / KC_LITERAL(3.0), KC_LITERAL(1.0) / KC_LITERAL(6.0)};

static const int kc_unit_places[] = {INSERT_UNIT}; /* in x: e0 e1 e2 e3 of each unit quaternion */

/* Divide unit quaternions by their lengths; `slopes` (n_x, n), or NULL, are those of x. */
static int kc_unit_quaternions(MODEL_real *x, int n, MODEL_real *slopes)
{
    for (int k = 0; k < INSERT_N_UNIT; k++) {
        const int *const place = kc_unit_places + 4 * k;
        MODEL_real square = 0;
        for (int i = 0; i < 4; i++)
            square += x[place[i]] * x[place[i]];
        const MODEL_real length = KC_MATH(sqrt)(square);
        if (!(length > 0 && length <= KC_LARGEST))
            return MODEL_nonfinite;
        for (int i = 0; i < 4; i++)
            x[place[i]] /= length;
        for (int j = 0; j < n; j++) { /* d(e / |e|) = (1 - e e') de / |e| */
            MODEL_real along = 0;
            for (int i = 0; i < 4; i++)
                along += x[place[i]] * slopes[place[i] * n + j];
            for (int i = 0; i < 4; i++)
                slopes[place[i] * n + j] = (slopes[place[i] * n + j] - along * x[place[i]]) / length;
        }
    }
    return MODEL_ok;
}

int MODEL_step(MODEL_real t, MODEL_real h, const MODEL_real *x, const MODEL_real *r, const MODEL_real *c,
               MODEL_real *work, MODEL_real *next)
{
    enum { n = MODEL_n_x };
    MODEL_real *const slope = work + kc_n_work, *const sum = slope + n, *const place = sum + n;
    for (int i = 0; i < n; i++)
        place[i] = x[i], sum[i] = 0;
    for (int j = 0; j < 4; j++) {
        const MODEL_real passed = j == 0 ? 0 : kc_reach[j - 1] * h;
        const int status = MODEL_rhs(t + passed, place, r, c, work, slope);
        if (status)
            return status;
        for (int i = 0; i < n; i++) {
            sum[i] = j == 0 ? kc_weight[j] * slope[i] : sum[i] + kc_weight[j] * slope[i];
            place[i] = x[i] + h * (kc_reach[j] * slope[i]);
        }
    }
    for (int i = 0; i < n; i++)
        next[i] = x[i] + h * sum[i];
    return INSERT_END;
}
