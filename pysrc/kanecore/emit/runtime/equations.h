/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The linear equations of a state, M a = f + G' lambda and G a + gamma = 0, with k right-hand sides: their
 * arrays, one after the other in the scratch of a kernel, and the functions of a model that fill them.
 * Matrices are stored row by row; the right-hand sides stand side by side in each row of f, gamma and a.
 */

/* How many rows of G count, of the number in c. */
#if defined(KC_WIDE)
#define kc_count_of(number) ((int)(number)[0]) /* where it is another one kc_solve() says so */
#else
#define kc_count_of(number) ((int)(number))
#endif

/* A function of the model.  Returns 0, or a fault (arithmetic.h). */
typedef kc_fault kc_function(kc_real t, const kc_real *x, const kc_real *r, const kc_real *c, kc_real *w,
                             kc_real *out);

/* The arguments of functions that are called at one state. */
typedef struct kc_place {
    kc_real t;
    const kc_real *x, *r, *c;
} kc_place;
#define KC_AT(place) (place)->t, (place)->x, (place)->r, (place)->c

/* A function whose results are linear in a direction `d`, which stands in w behind what else it reads there:
 * of as many directions side by side as KC_BESIDE, each number of `d` and `out` holds one in each lane. */
#if defined(KC_ALONG)
typedef int kc_along(kc_real t, const kc_real *x, const kc_real *r, const kc_real *c, const kc_loose_pack *d,
                     kc_real *w, kc_loose_pack *out);
#define KC_BESIDE KC_PACK
#define KC_CALL_ALONG(f, place, d, w, out)                                                                   \
    (f)(KC_AT(place), (const kc_loose_pack *)(d), (w), (kc_loose_pack *)(out))
#else
typedef kc_function kc_along;
#define KC_BESIDE                          1
#define KC_CALL_ALONG(f, place, d, w, out) (f)(KC_AT(place), (w), (out))
#endif
#define KC_COLUMNS(width) ((width) * KC_BESIDE) /* scratch of such a function */

/* Set number j + i of a direction in lane i, of those below k. */
KC_INLINE void kc_set_units(kc_real *d, int j, int k, kc_real value)
{
    for (int lane = 0; lane < KC_BESIDE && j + lane < k; lane++)
        d[(j + lane) * KC_BESIDE + lane] = value;
}

typedef enum kc_purpose {
    KC_MOTION,    /* accelerations: no row may be lost, and redundant rows may not contradict the others */
    KC_CORRECTION /* the least change back to the constraints: rows may be lost or contradict others */
} kc_purpose;

/* The equations, what is known of them, and what their solution needs. */
typedef struct kc_saddle {
    int n, m, k;       /* speeds, rows of G, right-hand sides */
    int count;         /* how many rows of G count: so many pivots are taken even if they are small */
    int clear;         /* KC_MOTION: whether so many must be taken, none of them small; else KC_LOST */
    kc_number blurred; /* what the distance of the state from the constraints leaves of rows that follow from
                          others, at most: no pivot beyond `count` is smaller */
    kc_purpose purpose;
    int symmetric;         /* whether M is */
    kc_real contradiction; /* a redundant row may leave so much of gamma, beside what it is summed from */

    /* the equations: arrays one after the other, which the solution overwrites */
    kc_real *M;     /* (n, n) */
    kc_real *f;     /* (n, k) */
    kc_real *G;     /* (m, n) */
    kc_real *gamma; /* (m, k) */
    kc_real *sums;  /* (m, n) what the entries of G are summed from, in magnitude */

    kc_real *a;    /* (n, k) the solution */
    kc_real *size; /* (m) what each gamma is summed from; NULL: contradictions are not looked for */

    /* scratch */
    kc_real *scale;   /* (n) the factors of the columns */
    kc_real *W;       /* (M P)': (n, n), and n numbers more, for kc_eliminate() */
    kc_real *reduced; /* (n, n) P' M P */
    kc_real *combine; /* (m, m): each row of [1 A] as a combination of the rows of G; NULL: not wanted */
    int *column;      /* (n) the columns of G in the order of the pivots: the first `rank` are dependent */
    int *order;       /* (m) the rows of G in the order of the pivots */
    int *place;       /* (n) for kc_eliminate() */
    int *begin, *end; /* (m) where the entries of each row of A begin and end that are not zero */
    kc_real *peak;    /* (m) the largest entry of each row where pivots may still be taken */
    kc_real *peak_at; /* (m) its column, which may be another one in each lane */
    int rank;         /* how many pivots the reduction took */
    kc_mask factored; /* whether `reduced` holds the factors of P' M P, which is positive definite */
} kc_saddle;

/* How many numbers the equations take, and the scratch. */
#define KC_EQUATIONS_ROOM(n, m, k) ((n) * ((n) + (k)) + (m) * (2 * (n) + (k)))
#define KC_SCRATCH_ROOM(n, m)      ((m) + 2 * (n) * ((n) + 1))

/* Place the equations one after the other from w on.  Returns where they end. */
KC_INLINE kc_real *kc_place_equations(kc_saddle *s, kc_real *w)
{
    const int n = s->n, m = s->m, k = s->k;
    s->M = w, s->f = s->M + n * n, s->G = s->f + n * k, s->gamma = s->G + m * n, s->sums = s->gamma + m * k;
    return s->sums + m * n;
}

/* The same for the scratch. */
KC_INLINE kc_real *kc_place_scratch(kc_saddle *s, kc_real *w)
{
    const int n = s->n, m = s->m;
    s->size = w, s->scale = s->size + m, s->W = s->scale + n, s->reduced = s->W + n * n + n;
    return s->reduced + n * n;
}

/* The equations of all speeds and rows, each part by the function of its kernel; NULL: not filled. */
typedef struct kc_parts {
    kc_function *mass_matrix, *forcing, *jacobian, *bias, *sums;
} kc_parts;

/* Fill those parts. */
KC_INLINE void kc_fill(kc_parts parts, const kc_saddle *s, const kc_place *at, kc_real *work)
{
    kc_function *const functions[] = {parts.mass_matrix, parts.forcing, parts.jacobian, parts.bias,
                                      parts.sums};
    kc_real *const arrays[] = {s->M, s->f, s->G, s->gamma, s->sums};
    for (int i = 0; i < 5; i++)
        if (functions[i])
            functions[i](KC_AT(at), work, arrays[i]);
}

/* A fault with the number that its speed or row has in the model. */
KC_INLINE kc_fault kc_model_fault(kc_fault fault, const int *speeds, const int *rows)
{
#if defined(KC_WIDE)
    (void)speeds, (void)rows;
    return fault;
#else
    const int status = kc_status_of(fault), number = kc_number_of(fault);
    const int *const names = status == KC_SINGULAR ? speeds : rows;
    return KC_FAULT(status, names ? names[number] : number);
#endif
}
