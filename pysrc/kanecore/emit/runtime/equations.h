/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The linear equations of a state, M a = f + G' lambda and G a + gamma = 0, with k right-hand sides: their
 * arrays, one after the other in the scratch of a kernel, and the programs of a model that fill them.
 * Matrices are stored row by row; the right-hand sides stand side by side in each row of f, gamma and a.
 */

/* A program of the model, or a kernel's body: 0, or a fault (arithmetic.h). */
typedef int kc_body(kc_real t, const kc_real *x, const kc_real *r, const kc_real *c, kc_real *w,
                    kc_real *out);

/* Where programs are called. */
typedef struct kc_place {
    kc_real t;
    const kc_real *x, *r, *c;
} kc_place;
#define KC_AT(place) (place)->t, (place)->x, (place)->r, (place)->c

typedef enum kc_purpose {
    KC_MOTION,    /* accelerations: no row may be lost */
    KC_CORRECTION /* the least change back to the constraints: rows may be lost, and redundant rows leave
                     anything */
} kc_purpose;

typedef struct kc_saddle {
    int n, m, k;           /* speeds, rows of G, right-hand sides */
    int count; /* how many rows of G count: so many pivots are taken, however small beside others */
    kc_purpose purpose;
    int symmetric; /* M is */
    kc_real bears; /* what redundant rows may leave, beside the sums in `size` */

    /* the equations, one after the other, which the solution uses up */
    kc_real *M; /* (n, n) */
    kc_real *f; /* (n, k) */
    kc_real *G; /* (m, n) */
    kc_real *gamma; /* (m, k) */
    kc_real *sums; /* (m, n) what the entries of G are summed from, in magnitude */

    kc_real *a; /* (n, k) the solution */
    kc_real *size; /* (m) what each gamma is summed from; NULL: rows may not contradict each other */

    /* scratch */
    kc_real *scale; /* (n) the factors of the columns */
    kc_real *W; /* (n, n) and n more: M P */
    kc_real *reduced; /* (n, n) P' M P */
    kc_real *combine; /* (m, m), or NULL: each row of [1 A] in terms of the rows of G as they were */
    int *column; /* (n) the columns of G in the order of the pivots: the first `rank` are D */
    int *order; /* (m) the rows of G in the order of the pivots */
    int *place; /* (n) */
    int rank; /* pivots found */
} kc_saddle;

/* Numbers that the equations take, and the scratch. */
#define KC_EQUATIONS_ROOM(n, m, k) ((n) * ((n) + (k)) + (m) * (2 * (n) + (k)))
#define KC_SCRATCH_ROOM(n, m)      ((m) + 2 * (n) * ((n) + 1))

/* Place the equations one after the other; what follows them. */
KC_INLINE kc_real *kc_place_equations(kc_saddle *s, kc_real *w)
{
    const int n = s->n, m = s->m, k = s->k;
    s->M = w, s->f = s->M + n * n, s->G = s->f + n * k, s->gamma = s->G + m * n, s->sums = s->gamma + m * k;
    return s->sums + m * n;
}

KC_INLINE kc_real *kc_place_scratch(kc_saddle *s, kc_real *w)
{
    const int n = s->n, m = s->m;
    s->size = w, s->scale = s->size + m, s->W = s->scale + n, s->reduced = s->W + n * n + n;
    return s->reduced + n * n;
}

/* The equations of all speeds and rows, each part by the body of its kernel; NULL: left out. */
typedef struct kc_parts {
    kc_body *mass_matrix, *forcing, *jacobian, *bias, *sums;
} kc_parts;

KC_SOLVER void kc_fill(kc_parts parts, const kc_saddle *s, const kc_place *at, kc_real *work)
{
    kc_body *const bodies[] = {parts.mass_matrix, parts.forcing, parts.jacobian, parts.bias, parts.sums};
    kc_real *const arrays[] = {s->M, s->f, s->G, s->gamma, s->sums};
    for (int i = 0; i < 5; i++)
        if (bodies[i])
            bodies[i](KC_AT(at), work, arrays[i]);
}
