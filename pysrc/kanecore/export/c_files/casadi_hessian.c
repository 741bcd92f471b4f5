/* SPDX-License-Identifier: BSD-3-Clause */
/* Hessians of weights . xdot: changes of its gradient along as many directions as a pack holds. */

/* Weights, and the multipliers of F that go with them. */
static void ca_weigh(const ca_call *s, const ca_place *place, const double *weights)
{
    ca_memory *const memory = s->memory;
    if (memory && memory->weighed && ca_same(NX, weights, memory->w))
        return;
    double *const a = place->at + NX + NY;
    ca_copy(NQ, weights, a);
    for (int i = 0; i < NY; i++) {
        a[NQ + i] = 0.0;
        for (int j = 0; j < NU; j++)
            a[NQ + i] -= place->inverse[j * NY + i] * weights[NQ + j];
    }
    if (memory) {
        ca_copy(NX, weights, memory->w);
        memory->weighed = 1;
        for (int i = 0; i < BLOCKS; i++)
            memory->has_columns[i] = 0;
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
    ca_solve(place->inverse, 1, sides + NY, d + NV + NY + NQ);
    return along_change(s->t, place->at, s->r, s->c, d, CA_SCRATCH(d), CA_GRADIENTS(d));
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

/* out += the Hessian times dv; `columns` serves where nothing is kept. */
static int ca_add_product(const ca_call *s, const ca_place *place, const double *dv, double *columns,
                          double *out)
{
    ca_memory *const memory = s->memory;
    int last = -1;
    if (memory)
        columns = memory->columns;
    for (int j = 0; j < NV; j++) {
        const int block = j / KC_PACK;
        if (dv[j] == 0.0)
            continue;
        if (memory ? !memory->has_columns[block] : last != block) {
            if (ca_hessian_block(s, place, block, columns))
                return 1;
            if (memory)
                memory->has_columns[block] = 1;
            last = block;
        }
        for (int k = 0; k < NV; k++)
            out[k] += dv[j] * columns[j * NV + k];
    }
    return 0;
}

/* Direction k of some that are given for t, x, r and p. */
static void ca_direction(const double *const *seeds, int k, double *dv)
{
    for (int g = 0; g < 4; g++)
        for (int i = 0; ca_wanted[g] && i < ca_numbers[g]; i++)
            dv[ca_first[g] + i] = seeds[g] ? seeds[g][k * ca_numbers[g] + i] : 0.0;
}

/* The changes of a gradient along n directions of (t, x, r, p) and weights. */
static int ca_forward_of_adjoint(int n, const double **arg, double **res, double *w, int mem)
{
    const ca_call s = ca_begin_call(arg, w, mem);
    const double *const *const seeds = arg + 10, *const dw = arg[15];
    ca_place place;
    if (ca_go_to(&s, s.rest, &place))
        return 1;
    ca_weigh(&s, &place, ca_or_zeros(arg[5]));
    if (n == 1) { /* CasADi asks for many like this, one by one */
        double *const dv = (double *)place.d + PACKS_ROOM, *const sum = dv + NV;
        ca_direction(seeds, 0, dv);
        for (int i = 0; i < NV; i++)
            sum[i] = 0.0;
        if (ca_add_product(&s, &place, dv, sum + NV, sum) ||
            (dw && ca_add_gradient(&s, &place, dw, sum + NV, sum)))
            return 1;
        ca_give_one(0, sum, res);
        return 0;
    }
    for (int k = 0; k < n; k += KC_PACK) {
        const int directions = ca_least(n - k, KC_PACK);
        for (int g = 0; g < 4; g++)
            if (ca_wanted[g])
                ca_gather(ca_numbers[g], directions, seeds[g] ? seeds[g] + k * ca_numbers[g] : NULL,
                          ca_numbers[g], place.d + ca_first[g]);
        ca_set_weights(&place, directions, dw ? dw + k * NX : NULL);
        if (ca_changes(&s, &place))
            return 1;
        ca_give(k, directions, CA_GRADIENTS(place.d), res);
    }
    return 0;
}

/* Result 6 i + j: number i of adj_t, adj_x, adj_r, adj_p by number j of t, x, r, p, out_xdot, adj_xdot. */
CA_OUT int jac_adj1_MODEL(const double **arg, double **res, casadi_int *iw, double *w, int mem)
{
    (void)iw;
    const ca_call s = ca_begin_call(arg, w, mem);
    double *const columns = s.rest, *const room = columns + (size_t)NV * NV;
    int wanted[BLOCKS] = {0}, any = 0;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            const casadi_int *const pattern = ca_patterns_of_second[6 * i + j];
            if (!res[6 * i + j] || pattern[2 + pattern[1]] == 0)
                continue;
            for (int k = 0; k < ca_numbers[j]; k++)
                wanted[(ca_first[j] + k) / KC_PACK] = any = 1;
        }
    if (res[5] || res[11] || res[17] || res[23]) {
        ca_slopes d;
        if (ca_differentiate(&s, BY_T && res[5], res[11] || res[17], BY_P && res[23], room, &d))
            return 1;
        if (res[5])
            ca_pick_transposed(ca_patterns_of_second[5], d.by_t, 1, res[5]);
        if (res[11])
            ca_pick_transposed(ca_patterns_of_second[11], d.by_z, NZ, res[11]);
        if (res[17])
            ca_pick_transposed(ca_patterns_of_second[17], d.by_z + NX, NZ, res[17]);
        if (res[23])
            ca_pick_transposed(ca_patterns_of_second[23], d.by_p, NP, res[23]);
    }
    if (any) {
        ca_place place;
        if (ca_go_to(&s, room, &place))
            return 1;
        ca_weigh(&s, &place, ca_or_zeros(arg[5]));
        for (int i = 0; i < BLOCKS; i++)
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

/* ----- derivatives of several gradients, and of the Jacobian, whose rows are those of single weights */

/* out: the change of the gradient of weights along dv and dw. */
static int ca_change(const ca_call *s, const ca_place *place, const double *weights, const double *dv,
                     const double *dw, double *out)
{
    ca_weigh(s, place, weights);
    ca_gather(NV, 1, dv, NV, place->d);
    ca_set_weights(place, 1, dw);
    if (ca_changes(s, place))
        return 1;
    ca_scatter(NV, 1, CA_GRADIENTS(place->d), out);
    return 0;
}

static void ca_choose_row(int row, double *weights)
{
    for (int i = 0; i < NX; i++)
        weights[i] = i == row;
}

/* The changes of the gradients of n weights along one direction. */
static int ca_forward_of_adjoints(int n, const double **arg, double **res, double *w, int mem)
{
    const ca_call s = ca_begin_call(arg, w, mem);
    const double *const weights = arg[5], *const dw = arg[15];
    ca_place place;
    if (ca_go_to(&s, s.rest, &place))
        return 1;
    double *const dv = (double *)place.d + PACKS_ROOM, *const change = dv + NV;
    ca_direction(arg + 10, 0, dv);
    for (int k = 0; k < n; k++) {
        if (ca_change(&s, &place, weights ? weights + k * NX : ca_zeros, dv, dw ? dw + k * NX : NULL, change))
            return 1;
        ca_give_one(k, change, res);
    }
    return 0;
}

/* What directions, one for the gradient of each of n weights, make of weights and variables. */
static int ca_gradient_of_adjoints(int n, const double **arg, double **res, double *w, int mem)
{
    const ca_call s = ca_begin_call(arg, w, mem);
    const double *const weights = arg[5];
    ca_place place;
    if (ca_go_to(&s, s.rest, &place))
        return 1;
    double *const dv = (double *)place.d + PACKS_ROOM, *const sum = dv + NV, *const change = sum + NV;
    for (int j = 0; j < NV; j++)
        sum[j] = 0.0;
    for (int k = 0; k < n; k++) {
        ca_direction(arg + 10, k, dv);
        if (ca_change(&s, &place, weights ? weights + k * NX : ca_zeros, dv, NULL, change))
            return 1;
        for (int j = 0; j < NV; j++)
            sum[j] += change[j];
    }
    ca_give_one(0, sum, res);
    double *const rows = sum; /* of the Jacobian */
    for (int block = 0; res[5] && block * KC_PACK < NX; block++)
        if (ca_jacobian_block(&s, &place, block, rows))
            return 1;
    for (int k = 0; res[5] && k < n; k++) {
        ca_direction(arg + 10, k, dv);
        for (int i = 0; i < NX; i++) {
            res[5][k * NX + i] = 0.0;
            for (int j = 0; j < NV; j++)
                res[5][k * NX + i] += rows[i * NV + j] * dv[j];
        }
    }
    return 0;
}

/* The change of the Jacobian along a direction. */
CA_OUT int fwd1_jac_MODEL(const double **arg, double **res, casadi_int *iw, double *w, int mem)
{
    (void)iw;
    const ca_call s = ca_begin_call(arg, w, mem);
    ca_place place;
    if (ca_go_to(&s, s.rest, &place))
        return 1;
    double weights[NX], *const dv = (double *)place.d + PACKS_ROOM, *const rows = dv + NV;
    ca_direction(arg + 9, 0, dv);
    for (int i = 0; i < NX; i++) {
        ca_choose_row(i, weights);
        if (ca_change(&s, &place, weights, dv, NULL, rows + i * NV))
            return 1;
    }
    for (int g = 0; g < 4; g++)
        if (res[g])
            ca_pick_entries(ca_patterns_jac[g], rows + ca_first[g], NV, res[g]);
    return 0;
}

/* The gradient of weights of the Jacobian's entries. */
CA_OUT int adj1_jac_MODEL(const double **arg, double **res, casadi_int *iw, double *w, int mem)
{
    (void)iw;
    const ca_call s = ca_begin_call(arg, w, mem);
    ca_place place;
    if (ca_go_to(&s, s.rest, &place))
        return 1;
    double weights[NX], *const sum = (double *)place.d + PACKS_ROOM, *const change = sum + NV;
    double *const rows = change + NV;
    for (int i = 0; i < NX * NV; i++)
        rows[i] = 0.0;
    for (int j = 0; j < NV; j++)
        sum[j] = 0.0;
    for (int g = 0; g < 4; g++)
        if (arg[9 + g])
            ca_put_entries(ca_patterns_jac[g], arg[9 + g], NV, rows + ca_first[g]);
    for (int i = 0; i < NX; i++) {
        ca_choose_row(i, weights);
        if (ca_change(&s, &place, weights, rows + i * NV, NULL, change))
            return 1;
        for (int j = 0; j < NV; j++)
            sum[j] += change[j];
    }
    ca_give_one(0, sum, res);
    return 0;
}
