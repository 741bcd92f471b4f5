/* SPDX-License-Identifier: BSD-3-Clause */
/* Hessians of weights . xdot: changes of its gradient along as many directions as a pack holds. */

/* A row of G that follows from others: one that the pivots leave, as `count` of them are taken from the rows
 * of a place. -1: none does. */
static int ca_redundant_row(const ca_call *s, const ca_place *place)
{
    INSERT_REDUNDANT_ROW;
}

/* Find the place of second derivatives. Returns whether there are none; where rows of G are redundant, says
 * so on stderr, once in a process. */
static int ca_go_to_twice(const ca_call *s, double *room, ca_place *place)
{
    static int said;
    const int wrong = ca_go_to(s, room, place), row = wrong == CA_REDUNDANT ? ca_redundant_row(s, place) : -1;
    if (row >= 0 && !said) {
        said = 1;
        fprintf(
            stderr,
            "kanecore: MODEL has no second derivatives, since the constraint '%s' follows from others; leave "
            "out the rows that dyn.check() calls redundant, or use first derivatives alone, in IPOPT by "
            "hessian_approximation='limited-memory'\n",
            ca_row_names[row]);
    }
    return wrong;
}

/* Weights, and the multipliers of F that go with them. */
static void ca_weigh(const ca_place *place, const double *weights)
{
    double *const a = place->at + NX + NY;
    ca_copy(NQ, weights, a);
    ca_copy(NS, weights + NQ + NU, a + NQ);
    for (int i = 0; i < NY; i++) {
        a[NE + i] = 0.0;
        for (int j = 0; j < NU; j++)
            a[NE + i] -= place->inverse[j * NY + i] * weights[NQ + j];
    }
}

/* Changes of the gradient along the directions of a pack, in which dv and changes of weights are set. */
static int ca_changes(const ca_call *s, const ca_place *place)
{
    kc_loose_pack *const d = place->d, *const sides = CA_SIDES(d);
    if (along_tangent(s->t, place->at, s->r, s->c, d, CA_SCRATCH(d), sides))
        return 1;
    ca_solve(place->inverse, 0, sides, d + NV);
    for (int i = 0; i < NU; i++)
        sides[NY + i] += CA_WEIGHTS(d)[i];
    ca_solve(place->inverse, 1, sides + NY, d + NV + NY + NE);
    return along_change(s->t, place->at, s->r, s->c, d, CA_SCRATCH(d), CA_GRADIENTS(d));
}

/* Set some directions, from number k of seeds on, and changes of weights. Returns whether any is not zero. */
static int ca_set_directions(const ca_place *place, int directions, const double *const seeds[4], int k,
                             const double *dw)
{
    const double *const weights = ca_unless_zero(directions * NX, dw);
    int some = weights != NULL;
    ca_set_weights(place, directions, weights);
    for (int g = 0; g < 4; g++) {
        const int n = ca_numbers[g];
        const double *const dv = ca_unless_zero(directions * n, seeds[g] ? seeds[g] + k * n : NULL);
        some |= dv != NULL;
        if (ca_wanted[g])
            ca_gather(n, directions, dv, n, place->d + ca_first[g]);
    }
    return some;
}

/* The changes of a gradient along n directions of (t, x, r, p) and weights. */
static int ca_forward_of_adjoint(int n, const double **arg, double **res, double *w, int mem)
{
    const ca_call s = ca_begin_call(arg, w, mem);
    const double *seeds[4];
    ca_place place;
    ca_take_directions(n, arg + 10, seeds);
    if (ca_go_to_twice(&s, s.rest, &place))
        return 1;
    ca_weigh(&place, ca_or_zeros(arg[5]));
    for (int k = 0; k < n; k += KC_PACK) {
        const int directions = ca_least(n - k, KC_PACK);
        const double *const dw = arg[15] ? arg[15] + k * NX : NULL;
        if (!ca_set_directions(&place, directions, seeds, k, dw))
            ca_gather(NV, 0, NULL, 0, CA_GRADIENTS(place.d));
        else if (ca_changes(&s, &place))
            return 1;
        ca_give(k, directions, CA_GRADIENTS(place.d), res);
    }
    return 0;
}

/* Columns of the Hessian, as many as a pack holds. */
static int ca_hessian_block(const ca_call *s, const ca_place *place, int block, double *columns)
{
    const int first = block * KC_PACK, n = ca_least(KC_PACK, NV - first);
    ca_gather(NV, 0, NULL, 0, place->d);
    ca_set_weights(place, 0, NULL);
    for (int i = 0; i < n; i++)
        ((double *)(place->d + first))[i * KC_PACK + i] = 1.0;
    if (ca_changes(s, place))
        return 1;
    ca_scatter(NV, n, CA_GRADIENTS(place->d), columns + first * NV);
    return 0;
}

/* Result 6 i + j: number i of adj_t, adj_x, adj_r, adj_p by number j of t, x, r, p, out_xdot, adj_xdot. */
CA_OUT int jac_adj1_MODEL(const double **arg, double **res, casadi_int *iw, double *w, int mem)
{
    (void)iw;
    const ca_call s = ca_begin_call(arg, w, mem);
    double *const columns = s.rest, *const room = columns + (size_t)NV * NV;
    int wanted[NV / KC_PACK + 1] = {0}, any = 0;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            const casadi_int *const pattern = ca_patterns_of_second[6 * i + j];
            if (!res[6 * i + j] || pattern[2 + pattern[1]] == 0)
                continue;
            for (int k = 0; k < ca_numbers[j]; k++)
                wanted[(ca_first[j] + k) / KC_PACK] = any = 1;
        }
    ca_slopes slopes;
    if (ca_differentiate(&s, (const int[]){!!res[5], !!res[11], !!res[17], !!res[23]}, room, &slopes))
        return 1;
    for (int i = 0; i < 4; i++)
        if (res[6 * i + 5])
            ca_pick_transposed(ca_patterns_of_second[6 * i + 5], slopes.by[i], ca_widths[i], res[6 * i + 5]);
    if (any) {
        ca_place place;
        if (ca_go_to_twice(&s, room, &place))
            return 1;
        ca_weigh(&place, ca_or_zeros(arg[5]));
        for (int i = 0; i * KC_PACK < NV; i++)
            if (wanted[i] && ca_hessian_block(&s, &place, i, columns))
                return 1;
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            if (res[6 * i + j])
                ca_pick_transposed(ca_patterns_of_second[6 * i + j], columns + ca_first[j] * NV + ca_first[i],
                                   NV, res[6 * i + j]);
    return 0;
}

/* ----- derivatives of the Jacobian, whose rows are gradients; of its products; and of several gradients */

/* Scratch behind the packs. */
enum { ROWS_ROOM = KC_PACK * NV + NX * (NX + NV) };
#define CA_ROWS(place) ((double *)(place).d + PACKS_ROOM)

/* The change of the gradient of weights along number k of seeds, and dw, in the first of a pack. */
static int ca_change(const ca_call *s, const ca_place *place, const double *weights,
                     const double *const seeds[4], int k, const double *dw)
{
    ca_weigh(place, weights);
    if (ca_set_directions(place, 1, seeds, k, dw))
        return ca_changes(s, place);
    ca_gather(NV, 0, NULL, 0, CA_GRADIENTS(place->d));
    return 0;
}

/* Results t, x, r and p: the sum of such changes, each of n weights along its own direction. */
static int ca_sum_changes(const ca_call *s, const ca_place *place, int n, const double *weights,
                          const double *const seeds[4], double *const *res)
{
    kc_loose_pack *const sum = (kc_loose_pack *)CA_ROWS(*place);
    ca_gather(NV, 0, NULL, 0, sum);
    for (int k = 0; weights && k < n; k++) {
        if (ca_change(s, place, weights + k * NX, seeds, k, NULL))
            return 1;
        for (int j = 0; j < NV; j++)
            sum[j] += CA_GRADIENTS(place->d)[j];
    }
    ca_give(0, 1, sum, res);
    return 0;
}

/* The change of the Jacobian along a direction, row by row. */
static int ca_change_rows(const ca_call *s, const ca_place *place, const double *const seeds[4], double *rows)
{
    for (int i = 0; i < NX; i++) {
        double weights[NX] = {0.0};
        weights[i] = 1.0;
        if (ca_change(s, place, weights, seeds, 0, NULL))
            return 1;
        ca_scatter(NV, 1, CA_GRADIENTS(place->d), rows + i * NV);
    }
    return 0;
}

/* fwd1_adjN: the changes of the gradients of n weights along one direction. */
static int ca_forward_of_adjoints(int n, const double **arg, double **res, double *w, int mem)
{
    const ca_call s = ca_begin_call(arg, w, mem);
    const double *const weights = arg[5], *const dw = arg[15], *seeds[4];
    ca_place place;
    ca_take_directions(1, arg + 10, seeds);
    if (ca_go_to_twice(&s, s.rest, &place))
        return 1;
    for (int k = 0; k < n; k++) {
        const double *const weight = weights ? weights + k * NX : ca_zeros;
        if (ca_change(&s, &place, weight, seeds, 0, dw ? dw + k * NX : NULL))
            return 1;
        ca_give(k, 1, CA_GRADIENTS(place.d), res);
    }
    return 0;
}

/* adj1_adjN: what n directions, one of the gradient of each weight, make of variables and weights. */
static int ca_adjoint_of_adjoints(int n, const double **arg, double **res, double *w, int mem)
{
    const ca_call s = ca_begin_call(arg, w, mem);
    const double *seeds[4];
    ca_place place;
    ca_take_directions(n, arg + 10, seeds);
    return ca_go_to_twice(&s, s.rest, &place) || ca_sum_changes(&s, &place, n, arg[5], seeds, res) ||
           (res[5] && ca_multiply(&s, n, seeds, s.rest, res[5]));
}

/* fwd1_fwdN: the changes of n products of the Jacobian along one direction. */
static int ca_forward_of_products(int n, const double **arg, double **res, double *w, int mem)
{
    const ca_call s = ca_begin_call(arg, w, mem);
    const double *seeds[4], *direction[4], *changes[4];
    double *const out = res[0];
    ca_place place;
    ca_take_directions(n, arg + 5, seeds);
    ca_take_directions(1, arg + 10, direction);
    ca_take_directions(n, arg + 15, changes);
    if (!out)
        return 0;
    if (ca_multiply(&s, n, changes, s.rest, out) || ca_go_to_twice(&s, s.rest, &place) ||
        ca_change_rows(&s, &place, direction, CA_ROWS(place)))
        return 1;
    for (int g = 0; g < 4; g++)
        ca_add_products(CA_ROWS(place) + ca_first[g], NV, n, ca_numbers[g], seeds[g], out);
    return 0;
}

/* adj1_fwdN: what n weights, one of each product of the Jacobian, make of variables and directions. */
static int ca_adjoint_of_products(int n, const double **arg, double **res, double *w, int mem)
{
    const ca_call s = ca_begin_call(arg, w, mem);
    const double *seeds[4];
    ca_place place;
    ca_take_directions(n, arg + 5, seeds);
    return ca_go_to_twice(&s, s.rest, &place) || ca_sum_changes(&s, &place, n, arg[10], seeds, res) ||
           ca_give_gradients(&s, &place, n, arg[10], res + 5);
}

/* The change of the Jacobian along a direction. */
CA_OUT int fwd1_jac_MODEL(const double **arg, double **res, casadi_int *iw, double *w, int mem)
{
    (void)iw;
    const ca_call s = ca_begin_call(arg, w, mem);
    const double *seeds[4];
    ca_place place;
    ca_take_directions(1, arg + 9, seeds);
    if (ca_go_to_twice(&s, s.rest, &place) || ca_change_rows(&s, &place, seeds, CA_ROWS(place)))
        return 1;
    for (int g = 0; g < 4; g++)
        if (res[g])
            ca_pick_entries(ca_patterns_jac[g], CA_ROWS(place) + ca_first[g], NV, res[g]);
    return 0;
}

/* The gradient of weights of the Jacobian's entries: a row of them is a direction of the gradient of its
 * xdot. */
CA_OUT int adj1_jac_MODEL(const double **arg, double **res, casadi_int *iw, double *w, int mem)
{
    (void)iw;
    const ca_call s = ca_begin_call(arg, w, mem);
    const double *seeds[4];
    ca_place place;
    if (ca_go_to_twice(&s, s.rest, &place))
        return 1;
    double *const weights = CA_ROWS(place) + KC_PACK * NV, *rows = weights + NX * NX;
    for (int i = 0; i < NX * NX; i++)
        weights[i] = i % (NX + 1) == 0;
    for (int i = 0; i < NX * NV; i++)
        rows[i] = 0.0;
    for (int g = 0; g < 4; g++) {
        seeds[g] = ca_wanted[g] && arg[9 + g] ? rows : NULL;
        if (seeds[g])
            ca_put_entries(ca_patterns_jac[g], arg[9 + g], ca_numbers[g], rows);
        rows += ca_wanted[g] * NX * ca_numbers[g];
    }
    return ca_sum_changes(&s, &place, NX, weights, seeds, res);
}
