/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gradients of weights . xdot by one pass backwards, for as many weights side by side as a pack holds.
 * kanecore/derive/adjoints.py has the equations.
 */

/*
 * Where derivatives are taken. `at` holds x, then y = (udot, lambda), the solution of F(v, y) = 0, then the
 * weights of qdot and zdot, and the multipliers a of F; `inverse` is that of F_y.
 */
typedef struct {
    double *at, *inverse;
    kc_loose_pack *d; /* a direction, and room behind it */
} ca_place;

enum { PLACE_ROOM = PLACE + 2 * NY * NY + NU * NU + NM * NU + 3 * NY };

/* F_y, where rows of G that are zero say nothing. Returns how many others there are. */
static int ca_fill_slopes(const double *mass, const double *rows, double *out)
{
    int n = 0;
    for (int i = 0; i < NY; i++)
        for (int j = 0; j < NY; j++)
            out[i * NY + j] = i < NU && j < NU ? -mass[i * NU + j]
                              : i < NU         ? rows[(j - NU) * NU + i]
                              : j < NU         ? rows[(i - NU) * NU + j]
                                               : 0.0;
    for (int k = 0; k < NM; k++) {
        int some = 0;
        for (int j = 0; j < NU; j++)
            some |= rows[k * NU + j] != 0.0;
        n += some;
        if (!some)
            out[(NU + k) * NY + NU + k] = 1.0;
    }
    return n;
}

/* The inverse of -M, which is positive definite nearly always. Returns whether it is. */
static int ca_invert_mass(const double *mass, double *matrix, double *factor, double *inverse)
{
    for (int i = 0; i < NU * NU; i++)
        matrix[i] = mass[i];
    if (!INSERT_SYMMETRIC || NM > 0 || !kc_factor(NU, matrix, factor))
        return 0;
    for (int i = 0; i < NU; i++)
        for (int j = 0; j < NU; j++)
            inverse[i * NU + j] = i == j ? -1.0 : 0.0;
    kc_substitute(NU, NU, matrix, inverse);
    return 1;
}

/* What can be wrong with a place: the equations have no solution, or rows of G are redundant. */
enum { CA_SINGULAR = 1, CA_REDUNDANT };

/* Find the place. Returns 0 or what is wrong. */
static int ca_go_to(const ca_call *s, double *room, ca_place *place)
{
    *place = (ca_place){room, room + PLACE, (kc_loose_pack *)(room + PLACE_ROOM)};
    double *const at = place->at, *const mass = place->inverse + NY * NY, *const rows = mass + NU * NU;
    double *const matrix = rows + NM * NU, *const factor = matrix + NY * NY;
    int order[NY + 1];
    ca_copy(NX, s->x, at);
    if (ca_ask(s, kernel_udot, s->x, at + NX) || ca_ask(s, kernel_mass_matrix, s->x, mass))
        return CA_SINGULAR;
    INSERT_ROWS;
    if (ca_invert_mass(mass, matrix, factor, place->inverse))
        return 0;
    if (ca_fill_slopes(mass, rows, matrix) > (NM > 0 ? (int)s->c[NC - 1] : 0))
        return CA_REDUNDANT;
    for (int i = 0; i < NY; i++)
        for (int j = 0; j < NY; j++)
            place->inverse[i * NY + j] = i == j;
    return kc_eliminate(NY, NY, matrix, place->inverse, factor, order) ? CA_REDUNDANT : 0;
}

/* out = -inverse b, or with its transpose. */
static void ca_solve(const double *inverse, int transposed, const kc_loose_pack *b, kc_loose_pack *out)
{
    for (int i = 0; i < NY; i++) {
        kc_pack sum = KC_ALL(0.0);
        for (int j = 0; j < NY; j++)
            sum = KC_FNMA_ALONG(KC_ALONG(inverse[transposed ? j * NY + i : i * NY + j]), b[j], sum);
        out[i] = sum;
    }
}

/* n numbers of each of some directions, which stand one behind the other, `stride` apart; NULL is zero. */
static void ca_gather(int n, int directions, const double *from, int stride, kc_loose_pack *packs)
{
    double *const to = (double *)packs;
    if (!from || directions < KC_PACK)
        memset(packs, 0, (size_t)n * sizeof *packs);
    for (int k = 0; from && k < directions; k++)
        for (int i = 0; i < n; i++)
            to[i * KC_PACK + k] = from[k * stride + i];
}

static void ca_scatter(int n, int directions, const kc_loose_pack *packs, double *to)
{
    const double *const from = (const double *)packs;
    for (int k = 0; k < directions; k++)
        for (int i = 0; i < n; i++)
            to[k * n + i] = from[i * KC_PACK + k];
}

/* Gradients of some directions into results, from direction k on; zeros by variables that are not wanted. */
static void ca_give(int k, int directions, const kc_loose_pack *gradients, double *const *res)
{
    for (int i = 0; i < 4; i++) {
        const int n = ca_numbers[i];
        if (res[i] && ca_wanted[i])
            ca_scatter(n, directions, gradients + ca_first[i], res[i] + k * n);
        else if (res[i])
            for (int j = 0; j < directions * n; j++)
                res[i][k * n + j] = 0.0;
    }
}

static int ca_least(int a, int b)
{
    return a < b ? a : b;
}

/* The gradients of n weights from the Jacobian, which exists where F_y has no inverse. */
static int ca_adjoint_of_slopes(const ca_call *s, int n, const double *weights, double *room,
                                double *const *res)
{
    ca_slopes slopes;
    if (ca_differentiate(s, (const int[]){!!res[0], !!res[1], !!res[2], !!res[3]}, room, &slopes))
        return 1;
    for (int g = 0; g < 4; g++)
        for (int k = 0; res[g] && k < n; k++)
            for (int j = 0; j < ca_numbers[g]; j++) {
                double sum = 0.0;
                for (int i = 0; weights && ca_wanted[g] && i < NX; i++)
                    sum += weights[k * NX + i] * slopes.by[g][i * ca_widths[g] + j];
                res[g][k * ca_numbers[g] + j] = sum;
            }
    return 0;
}

/* Behind a direction: gradients along it; sides of equations; weights of speeds; scratch. */
#define CA_GRADIENTS(d) ((d) + ND)
#define CA_SIDES(d)     (CA_GRADIENTS(d) + NV)
#define CA_WEIGHTS(d)   (CA_SIDES(d) + 2 * NY)
#define CA_SCRATCH(d)   ((double *)(CA_WEIGHTS(d) + NY))
enum { PACKS_ROOM = KC_PACK * (ND + NV + 3 * NY + WIDTH) };

/* Gradients of the weights of a pack, of which those of qdot and zdot are in d. */
static int ca_gradients(const ca_call *s, const ca_place *place)
{
    kc_loose_pack *const d = place->d;
    ca_solve(place->inverse, 1, CA_WEIGHTS(d), d + NV + NY + NE);
    return along_gradient(s->t, place->at, s->r, s->c, d, CA_SCRATCH(d), CA_GRADIENTS(d));
}

static void ca_set_weights(const ca_place *place, int directions, const double *weights)
{
    ca_gather(NQ, directions, weights, NX, place->d + NV + NY);
    ca_gather(NS, directions, weights ? weights + NQ + NU : NULL, NX, place->d + NV + NY + NQ);
    ca_gather(NU, directions, weights ? weights + NQ : NULL, NX, CA_WEIGHTS(place->d));
    ca_gather(NM, 0, NULL, 0, CA_WEIGHTS(place->d) + NU);
}

/* Results t, x, r and p: the gradients of n weights. */
static int ca_give_gradients(const ca_call *s, const ca_place *place, int n, const double *weights,
                             double *const *res)
{
    for (int k = 0; k < n; k += KC_PACK) {
        const int directions = ca_least(n - k, KC_PACK);
        ca_set_weights(place, directions, weights ? weights + k * NX : NULL);
        if (ca_gradients(s, place))
            return 1;
        ca_give(k, directions, CA_GRADIENTS(place->d), res);
    }
    return 0;
}

/* The gradients of n weights. */
static int ca_adjoint(int n, const double **arg, double **res, double *w, int mem)
{
    const ca_call s = ca_begin_call(arg, w, mem);
    ca_place place;
    switch (ca_go_to(&s, s.rest, &place)) {
    case 0:
        return ca_give_gradients(&s, &place, n, arg[5], res);
    case CA_REDUNDANT:
        return ca_adjoint_of_slopes(&s, n, arg[5], s.rest, res);
    default:
        return 1;
    }
}
