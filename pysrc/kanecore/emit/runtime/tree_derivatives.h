/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The derivatives of xdot of trees of joints by closed recursions: Singh, Russell and Wensing, Efficient
 * Analytical Derivatives of Rigid-Body Dynamics using Spatial Vector Algebra, IEEE Robotics and Automation
 * Letters 7 (2022).  Every joint has one rate; its torque or force tau follows from the motion of all, and
 *
 *     M da = dF - dtau,    F the generalized forces of the loads, without uniform gravity.
 *
 * All vectors are in inertial axes, and all moments about one point of the tree.  That point is taken as at
 * rest: what moves through it is described, not the point.
 */

/* A joint's axis, and what is fixed behind it; the model fills it. */
typedef struct kc_joint {
    kc_screw axis;
    kc_mass body;
} kc_joint;

/* How a joint moves, and all that it carries. */
typedef struct kc_moving {
    /* of all that it carries, first KC_HANDED_OVER numbers that the joint before adds up: */
    kc_mass carried;
    kc_vector momentum;
    kc_vector spin[3]; /* rows of 2 (tr K - K), K the sum of m v r' over all particles */
    kc_screw wrench;   /* what it takes to move so, with no udot */
    kc_screw gained;   /* what udot adds */
    kc_screw push;     /* the momentum at a rate of one */
    /* of the link: */
    kc_screw velocity, acceleration, gain; /* what udot adds */
    kc_screw rate, second;                 /* how the parent's motion changes the axis */
} kc_moving;

/*
 * The derivatives of xdot of trees of joints, each with a coordinate, a speed that is its rate, one axis.
 * Trees that stand on the ground side by side are linearized one after the other.
 */
typedef struct kc_forest {
    kc_saddle *equations;          /* room for those of the largest tree */
    int n, columns, trees;         /* joints; coordinates, speeds and inputs; trees */
    const int *size, *width;       /* (trees) joints, and columns that are not zero */
    const int *parent;             /* (n) the joint before, counted from the tree's first, or -1 */
    const int *coordinate, *speed; /* (n) of each joint */
    const int *runs;               /* (trees) columns that go side by side into the result */
    const int *run;                /* of each the first, where it goes, and how many they are */
    kc_function *joints;           /* kc_joint (n), then the acceleration of the base */
    kc_function *loads;            /* the entries of F and dF that are not zero */
    int loaded;                    /* how many these are */
    const int *at;                 /* (loaded) where: of each tree F, then dF row by row, in eights */
    int widest, room;              /* for a row of dF, and for all of F and dF */
} kc_forest;

#define KC_NUMBERS(type) ((int)(sizeof(type) / sizeof(kc_real)))
#define KC_HANDED_OVER   (KC_NUMBERS(kc_mass) + 4 * KC_NUMBERS(kc_vector) + KC_NUMBERS(kc_screw))
#define KC_FOREST_ROOM(n, largest, widest, room, loaded)                                                     \
    (KC_EQUATIONS_ROOM(largest, 0, 1) + KC_SCRATCH_ROOM(largest, 0) + KC_NUMBERS(kc_joint) * (n) + 3 +       \
     (KC_NUMBERS(kc_moving) + 2 * KC_EIGHTS(largest) + (widest)) * (largest) + (room) + (loaded))

/* One of the trees. */
typedef struct kc_tree {
    int n;
    const int *parent;
    const kc_joint *joints;
    const kc_real *base; /* the acceleration of the base */
    kc_moving *moving;
} kc_tree;

/* The momentum of a body, and twice its Coriolis matrix. */
KC_INLINE kc_screw kc_spin(const kc_mass *b, kc_moving *s)
{
    const kc_screw v = s->velocity, momentum = kc_inertia(b, v);
    const kc_vector w = v.turn, h = b->moment;
    const kc_real half = (b->xx + b->yy + b->zz) / 2;
    /* K = v h' + w x (tr I / 2 - I), column by column */
    const kc_vector x = {half - b->xx, -b->xy, -b->zx}, y = {-b->xy, half - b->yy, -b->yz};
    const kc_vector z = {-b->zx, -b->yz, half - b->zz}, none = KC_NO_VECTOR;
    const kc_vector p = kc_plus_cross(kc_plus(none, h.x, v.slide), w, x);
    const kc_vector q = kc_plus_cross(kc_plus(none, h.y, v.slide), w, y);
    const kc_vector r = kc_plus_cross(kc_plus(none, h.z, v.slide), w, z);
    s->momentum = momentum.slide;
    s->spin[0] = (kc_vector){2 * (q.y + r.z), -2 * q.x, -2 * r.x};
    s->spin[1] = (kc_vector){-2 * p.y, 2 * (p.x + r.z), -2 * r.y};
    s->spin[2] = (kc_vector){-2 * p.z, -2 * q.z, 2 * (p.x + q.y)};
    return momentum;
}

/* Velocities, and what each body needs to move with no udot. */
KC_INLINE void kc_move(kc_tree s, const kc_real *u, const int *speed)
{
    const kc_real *const base = s.base;
    kc_moving *const moving = s.moving;
    const kc_screw none = KC_NO_SCREW;
    for (int i = 0; i < s.n; i++) {
        const int p = s.parent[i];
        const kc_real rate = u[speed[i]];
        const kc_joint *const b = s.joints + i;
        kc_moving *const m = moving + i;
        const kc_screw v = p < 0 ? none : moving[p].velocity;
        const kc_screw a =
            p < 0 ? (kc_screw){KC_NO_VECTOR, {base[0], base[1], base[2]}} : moving[p].acceleration;
        m->carried = b->body;
        m->rate = kc_plus_carried(none, v, b->axis);
        m->velocity = kc_plus_screw(v, rate, b->axis);
        m->acceleration = kc_plus_screw(a, rate, m->rate);
        const kc_screw momentum = kc_spin(&b->body, m);
        m->wrench = kc_plus_carried_wrench(kc_inertia(&b->body, m->acceleration), m->velocity, momentum);
    }
}

/* What each joint carries, and F less what the motion with no udot takes in place of F. */
KC_INLINE void kc_compose(kc_tree s, kc_real *F)
{
    for (int i = s.n - 1; i >= 0; i--) {
        kc_moving *const m = s.moving + i;
        const kc_screw axis = s.joints[i].axis;
        m->push = kc_inertia(&m->carried, axis);
        F[i] -= kc_power(axis, m->wrench);
        if (s.parent[i] >= 0)
            kc_sum(KC_HANDED_OVER, (kc_real *)(s.moving + s.parent[i]), (const kc_real *)m);
    }
}

/* The lower triangle of M, of which rows are `apart` numbers apart. */
KC_INLINE void kc_fill_triangle(kc_tree s, kc_real *M, ptrdiff_t apart)
{
    kc_clear(s.n * apart, M);
    for (ptrdiff_t i = 0; i < s.n; i++) {
        const kc_screw push = s.moving[i].push;
        for (ptrdiff_t j = i; j >= 0; j = s.parent[j])
            M[i * apart + j] = kc_power(s.joints[j].axis, push);
    }
}

#if !defined(KC_WIDE)
/* Solve M x = y by elimination, where M is not positive definite.  Returns 0, or KC_SINGULAR with a joint. */
KC_COLD int kc_eliminate_tree(kc_tree s, kc_saddle *e, kc_real *y, int stride)
{
    const int n = s.n;
    kc_fill_triangle(s, e->M, n);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            e->M[j * n + i] = e->M[i * n + j];
    return kc_eliminate(n, stride, e->M, y, e->scale, e->place);
}
#endif

/* The motion with udot, and how it changes the axes. */
KC_INLINE void kc_gain(kc_tree s, const kc_real *udot)
{
    const kc_joint *const joints = s.joints;
    const kc_real *const base = s.base;
    kc_moving *const moving = s.moving;
    const kc_screw none = KC_NO_SCREW;
    for (int i = 0; i < s.n; i++) {
        const int p = s.parent[i];
        const kc_screw axis = joints[i].axis;
        kc_moving *const m = moving + i;
        const kc_screw v = p < 0 ? none : moving[p].velocity;
        const kc_screw a =
            p < 0 ? (kc_screw){KC_NO_VECTOR, {base[0], base[1], base[2]}} : moving[p].acceleration;
        m->gain = kc_plus_screw(p < 0 ? none : moving[p].gain, udot[i], axis);
        m->gained = kc_inertia(&joints[i].body, m->gain);
        m->acceleration = kc_plus_screw(m->acceleration, KC_REAL(1.0), m->gain);
        m->second = kc_plus_carried(kc_plus_carried(none, a, axis), v, m->rate);
    }
}

/* dF - dtau in place of dF, of which rows are `stride` numbers apart. */
KC_INLINE void kc_differentiate(kc_tree s, kc_real *dF, int stride)
{
    const int n = s.n, *const parent = s.parent;
    const kc_joint *const joints = s.joints;
    kc_moving *const moving = s.moving;
    for (int i = n - 1; i >= 0; i--) {
        kc_moving *const m = moving + i;
        const kc_screw axis = joints[i].axis, rate = m->rate;
        const kc_screw carried = m->push;
        const kc_vector twice = kc_add(m->momentum, m->momentum);
        const kc_screw wrench = kc_plus_screw(m->wrench, KC_REAL(1.0), m->gained);
        const kc_screw spun = {kc_times(m->spin, axis.turn), kc_cross(axis.turn, twice)};
        const kc_screw turned = {kc_times(m->spin, rate.turn), kc_cross(rate.turn, twice)};
        const kc_vector row = kc_plus_cross(kc_transposed_times(m->spin, axis.turn), twice, axis.slide);
        const kc_screw by_u = kc_plus_screw(spun, KC_REAL(2.0), kc_inertia(&m->carried, rate));
        const kc_screw by_q = kc_plus_carried_wrench(
            kc_plus_screw(turned, KC_REAL(1.0), kc_inertia(&m->carried, m->second)), axis, wrench);
        kc_real *const own = dF + i * stride;
        for (int j = i; j >= 0; j = parent[j]) {
            const kc_screw *const other = &joints[j].axis;
            const kc_moving *const a = moving + j;
            kc_real *const above = dF + j * stride;
            own[j] -= kc_dot(row, a->rate.turn) + kc_power(a->second, carried);
            own[n + j] -= kc_dot(row, other->turn) + 2 * kc_power(a->rate, carried);
            if (j == i)
                continue;
            above[i] -= kc_power(*other, by_q);
            above[n + i] -= kc_power(*other, by_u);
        }
        if (parent[i] >= 0)
            moving[parent[i]].gained = kc_plus_screw(moving[parent[i]].gained, KC_REAL(1.0), m->gained);
    }
}

/*
 * Factor M as L' D L in place, from the last joint to the first, which keeps the zeros between joints of
 * which neither carries the other (Featherstone 2008, section 6.5); rows are `apart` numbers apart, and 1 / D
 * stands on the diagonal.  Returns whether all pivots are positive.
 */
KC_INLINE kc_mask kc_factor_tree(kc_tree s, kc_real *L, ptrdiff_t apart)
{
    const kc_real tolerance = kc_all(KC_PIVOT * (kc_number)s.n * KC_EPSILON);
    kc_mask positive = KC_TRUE;
    for (ptrdiff_t d = s.n - 1; d >= 0; d--) {
        kc_real *const row = L + d * apart;
        positive &= (kc_mask)(row[d] > tolerance * kc_power(s.joints[d].axis, s.moving[d].push));
        if (KC_UNLIKELY(!kc_any(positive)))
            return positive;
        const kc_real inverse = KC_REAL(1.0) / row[d];
        for (ptrdiff_t i = s.parent[d]; i >= 0; i = s.parent[i])
            kc_take(KC_EIGHTS(i + 1), L + i * apart, row[i] * inverse, row);
        for (ptrdiff_t j = 0; j < d; j += KC_BLOCK)
            *(kc_block *)(row + j) *= inverse;
        row[d] = inverse;
    }
    return positive;
}

/* The inverse of L' D L; rows of both are `apart` numbers apart. */
KC_INLINE void kc_invert_tree(kc_tree s, const kc_real *L, ptrdiff_t apart, kc_real *inverse)
{
    kc_clear(s.n * apart, inverse);
    for (ptrdiff_t d = s.n - 1; d >= 0; d--) {
        kc_real *const x = inverse + d * apart;
        const kc_real *const row = L + d * apart;
        x[d] = KC_REAL(1.0);
        for (ptrdiff_t i = s.parent[d]; i >= 0; i = s.parent[i])
            kc_take(apart, inverse + i * apart, row[i], x);
        for (ptrdiff_t j = 0; j < apart; j += KC_BLOCK)
            *(kc_block *)(x + j) *= row[d];
    }
    for (ptrdiff_t d = 0; d < s.n; d++)
        for (ptrdiff_t j = 0; j < apart; j += KC_BLOCK) {
            kc_block sum = *(kc_block *)(inverse + d * apart + j);
            for (ptrdiff_t i = s.parent[d]; i >= 0; i = s.parent[i])
                sum -= L[d * apart + i] * *(kc_block *)(inverse + i * apart + j);
            *(kc_block *)(inverse + d * apart + j) = sum;
        }
}

/* out = b a, of a row b and a (n, n) with rows `apart` numbers apart. */
KC_INLINE void kc_multiply_row(ptrdiff_t n, const kc_real *b, const kc_real *a, ptrdiff_t apart, kc_real *out)
{
    for (ptrdiff_t j = 0; j < apart; j += KC_BLOCK) {
        kc_block sum = b[0] * *(const kc_block *)(a + j);
        for (ptrdiff_t d = 1; d < n; d++)
            sum += b[d] * *(const kc_block *)(a + d * apart + j);
        *(kc_block *)(out + j) = sum;
    }
}

/* out = a b, of a (n, n) with rows `apart` numbers apart, and b (n, stride). */
KC_INLINE void kc_multiply(ptrdiff_t n, const kc_real *a, ptrdiff_t apart, const kc_real *b, ptrdiff_t stride,
                           kc_real *out)
{
    for (ptrdiff_t j = 0; j < stride; j += KC_BLOCK)
        for (ptrdiff_t i = 0; i < n; i++) {
            const kc_real *const row = a + i * apart, *column = b + j;
            kc_block sum = row[0] * *(const kc_block *)column;
            for (ptrdiff_t d = 1; d < n; d++) {
                column += stride;
                sum += row[d] * *(const kc_block *)column;
            }
            *(kc_block *)(out + i * stride + j) = sum;
        }
}

/*
 * Find udot of one tree in place of F, and its derivatives from dF, both with rows `stride` numbers apart;
 * `room` is for two matrices.  Returns 0, or KC_SINGULAR with a joint.
 */
KC_SOLVER kc_fault kc_linearize_tree(kc_tree s, kc_saddle *e, kc_real *room, const kc_real *u,
                                     const int *speed, kc_real *F, kc_real *dF, int stride, kc_real *slopes)
{
    const int apart = KC_EIGHTS(s.n);
    kc_real *const L = room, *const inverse = L + s.n * apart;
    kc_move(s, u, speed);
    kc_compose(s, F);
    kc_fill_triangle(s, L, apart);
    const kc_mask positive = kc_factor_tree(s, L, apart);
#if !defined(KC_WIDE)
    if (KC_UNLIKELY(!positive)) {
        const int fault = kc_eliminate_tree(s, e, F, 1);
        if (fault)
            return fault;
        kc_gain(s, F);
        kc_differentiate(s, dF, stride);
        kc_copy(s.n * stride, slopes, dF);
        return kc_eliminate_tree(s, e, slopes, stride);
    }
#else
    (void)e;
#endif
    kc_invert_tree(s, L, apart, inverse);
    kc_multiply_row(s.n, F, inverse, apart, slopes); /* it is symmetric */
    kc_copy(s.n, F, slopes);
    kc_gain(s, F);
    kc_differentiate(s, dF, stride);
    kc_multiply(s.n, inverse, apart, dF, stride, slopes);
    return KC_UNLESS(positive);
}

/* The kernel `linearize` of such a model. */
KC_ONCE kc_fault kc_linearize_forest(kc_forest *s, kc_real t, const kc_real *x, const kc_real *r,
                                     const kc_real *c, kc_real *w, kc_real *out)
{
    kc_saddle *const e = s->equations;
    const int n = s->n, columns = s->columns, *speed = s->speed, *run = s->run;
    kc_real *const filled = kc_place_scratch(e, kc_place_equations(e, w));
    kc_real *const base = filled + KC_NUMBERS(kc_joint) * n, *F = base + 3 + KC_NUMBERS(kc_moving) * e->n;
    kc_real *const room = F + s->room, *const slopes = room + 2 * e->n * KC_EIGHTS(e->n);
    kc_real *const work = slopes + e->n * s->widest;
    kc_tree tree = {0, s->parent, (const kc_joint *)filled, base, (kc_moving *)(base + 3)};
    kc_fault failed = s->joints(t, x, r, c, work, filled);
    failed |= s->loads(t, x, r, c, work + s->loaded, work);
    kc_clear(s->room, F);
    for (int i = 0; i < s->loaded; i++)
        F[s->at[i]] = work[i];
    kc_clear(2 * n * columns, out);
    for (int i = 0; i < n; i++)
        out[s->coordinate[i] * columns + n + speed[i]] = KC_REAL(1.0);
    for (int i = 0; i < s->trees; i++) {
        const int size = tree.n = s->size[i], stride = KC_EIGHTS(s->width[i]);
        const int *const end = run + 3 * s->runs[i];
        kc_real *const dF = F + size;
        const kc_fault fault = kc_linearize_tree(tree, e, room, x + n, speed, F, dF, stride, slopes);
        if (kc_stops(fault))
            return kc_model_fault(fault, speed, NULL);
        failed |= fault;
        for (; run < end; run += 3)
            for (int j = 0; j < size; j++)
                kc_copy(run[2], out + (n + speed[j]) * columns + run[1], slopes + j * stride + run[0]);
        tree.parent += size, tree.joints += size, speed += size, F = dF + size * stride;
    }
    return failed;
}
