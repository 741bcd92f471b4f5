/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The derivatives of xdot of trees of joints by closed recursions: Singh, Russell and Wensing, Efficient
 * Analytical Derivatives of Rigid-Body Dynamics using Spatial Vector Algebra, IEEE Robotics and Automation
 * Letters 7 (2022).  Every joint has one rate; its torque or force tau follows from the motion of all, and
 *
 *     M da = dF - dtau,    F the generalized forces of the loads, without uniform gravity.
 *
 * All vectors are in axes that a tree shares, and all moments about one point of it.  Both are taken as at
 * rest: what moves through the point is described, not the point.
 *
 * A link may have several joints at once: three about axes of its own, which all turn with it, or the six of
 * a free root.  Its coordinates may be any that say how it is turned: derivatives by small turns about the
 * three axes come first, and those by coordinates are sums of these.
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
    kc_screw changing;                     /* rate, and how the link's own motion changes the axis */
} kc_moving;

/*
 * The derivatives of xdot of trees of joints, each with a speed that is its rate, one axis, and a coordinate
 * of which the speed is the derivative unless its link has several joints at once.
 * Trees that stand on the ground side by side are linearized one after the other.
 */
typedef struct kc_forest {
    kc_saddle *equations;             /* room for those of the largest tree */
    int n_q, n, columns, trees;       /* coordinates; joints; coordinates, speeds and inputs; trees */
    const int *size, *n_free, *width; /* (trees) joints, slides of a free root, columns that are not zero */
    const int *parent;                /* (n) the joint before, counted from the tree's first, or -1 */
    const int *first;                 /* (n) the first of the joints that move its link at once, likewise */
    const int *limb_end;              /* (n) the joint after all that it carries, counted likewise */
    const int *speed;                 /* (n) of each joint */
    const int *runs;                  /* (trees) columns that go side by side into the result */
    const int *run;                   /* of each the first, where it goes, and how many they are */
    const int *turns;                 /* (trees) slopes of such turns by coordinates */
    const int *turn;                  /* of each the turn's column, and where the coordinate's goes */
    kc_function *joints;              /* kc_joint (n), the acceleration of each tree's base, these slopes */
    kc_function *loads;               /* the entries of F and dF that are not zero */
    int loaded;                       /* how many these are */
    const int *at;                    /* (loaded) where: of each tree F, then dF row by row, in eights */
    int n_ones, n_others;             /* entries of the result that are one, and others to be added */
    const int *ones, *others_at;      /* where these are */
    kc_function *others;              /* (n_others) */
    int numbers, room;                /* of bases and slopes; for all of F and dF */
} kc_forest;

#define KC_NUMBERS(type) ((int)(sizeof(type) / sizeof(kc_real)))
#define KC_HANDED_OVER   (KC_NUMBERS(kc_mass) + 4 * KC_NUMBERS(kc_vector) + KC_NUMBERS(kc_screw))
#define KC_FOREST_ROOM(n, largest, numbers, room, filled)                                                    \
    KC_ALIGNED_ROOM(KC_EQUATIONS_ROOM(largest, 0, 1) + KC_SCRATCH_ROOM(largest, 0) +                         \
                    KC_NUMBERS(kc_joint) * (n) + (numbers) +                                                 \
                    (KC_NUMBERS(kc_moving) + KC_EIGHTS(largest)) * (largest) + (room) + (filled))

/* One of the trees. */
typedef struct kc_tree {
    int n, free;
    const int *parent, *first, *limb_end;
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
    const kc_screw none = KC_NO_SCREW, at_base = {KC_NO_VECTOR, {base[0], base[1], base[2]}};
    for (int i = 0; i < s.n; i++) {
        const int p = s.parent[i], first = s.first[i], before = s.parent[first];
        const kc_screw v = before < 0 ? none : moving[before].velocity;
        const kc_joint *const b = s.joints + i;
        kc_moving *const m = moving + i;
        m->carried = b->body;
        m->velocity = first < i ? moving[first].velocity : v;
        if (first == i)
            for (int j = i; j < s.n && s.first[j] == i; j++)
                m->velocity = kc_plus_screw(m->velocity, u[speed[j]], s.joints[j].axis);
        m->rate = kc_plus_carried(none, v, b->axis);
        m->changing = kc_plus_carried(m->rate, m->velocity, b->axis);
        m->acceleration = kc_plus_screw(p < 0 ? at_base : moving[p].acceleration, u[speed[i]], m->rate);
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
        const int p = s.parent[i], before = s.parent[s.first[i]];
        const kc_screw axis = joints[i].axis;
        kc_moving *const m = moving + i;
        const kc_screw v = before < 0 ? none : moving[before].velocity;
        const kc_screw a =
            before < 0 ? (kc_screw){KC_NO_VECTOR, {base[0], base[1], base[2]}} : moving[before].acceleration;
        m->gain = kc_plus_screw(p < 0 ? none : moving[p].gain, udot[i], axis);
        m->gained = kc_inertia(&joints[i].body, m->gain);
        m->acceleration = kc_plus_screw(m->acceleration, KC_REAL(1.0), m->gain);
        m->second = kc_plus_carried(kc_plus_carried(none, a, axis), v, m->rate);
    }
}

/*
 * dF - dtau in place of dF, of which rows are `stride` numbers apart: columns of the displacements, of all
 * joints but the slides of a free root, then of the speeds.
 */
KC_INLINE void kc_differentiate(kc_tree s, kc_real *dF, int stride)
{
    const int n = s.n, free = s.free, *const parent = s.parent;
    const kc_joint *const joints = s.joints;
    kc_moving *const moving = s.moving;
    kc_real *const by_q = dF - free, *const by_u = dF + n - free; /* columns of the first joint */
    for (int i = n - 1; i >= 0; i--) {
        kc_moving *const m = moving + i;
        const kc_screw axis = joints[i].axis, rate = m->rate, carried = m->push;
        const kc_vector twice = kc_add(m->momentum, m->momentum);
        const kc_vector row = kc_plus_cross(kc_transposed_times(m->spin, axis.turn), twice, axis.slide);
        const kc_screw spun = {kc_times(m->spin, axis.turn), kc_cross(axis.turn, twice)};
        const kc_screw of_u = kc_plus_screw(spun, KC_REAL(1.0), kc_inertia(&m->carried, m->changing));
        const int own = i * stride;
        by_u[own + i] -= kc_dot(row, axis.turn) + kc_power(m->changing, carried);
        for (int j = parent[i]; j >= 0; j = parent[j]) {
            const kc_screw other = joints[j].axis;
            by_u[own + j] -= kc_dot(row, other.turn) + kc_power(moving[j].changing, carried);
            by_u[j * stride + i] -= kc_power(other, of_u);
        }
        if (i >= free) {
            const kc_screw wrench = kc_plus_screw(m->wrench, KC_REAL(1.0), m->gained);
            const kc_screw turned = {kc_times(m->spin, rate.turn), kc_cross(rate.turn, twice)};
            const kc_screw moved = kc_plus_screw(turned, KC_REAL(1.0), kc_inertia(&m->carried, m->second));
            const kc_screw of_q = kc_plus_carried_wrench(moved, axis, wrench);
            for (int j = i; j >= free; j = parent[j])
                by_q[own + j] -= kc_dot(row, moving[j].rate.turn) + kc_power(moving[j].second, carried);
            int j = parent[i];
            for (; j >= s.first[i]; j = parent[j]) /* axes of the link move with it */
                by_q[j * stride + i] -= kc_power(joints[j].axis, moved);
            for (; j >= 0; j = parent[j])
                by_q[j * stride + i] -= kc_power(joints[j].axis, of_q);
        }
        if (parent[i] >= 0)
            moving[parent[i]].gained = kc_plus_screw(moving[parent[i]].gained, KC_REAL(1.0), m->gained);
    }
}

/*
 * Find udot of one tree in place of F, and its derivatives in place of dF, both with rows `stride` numbers
 * apart; `L` is room for a matrix.  Returns 0, or KC_SINGULAR with a joint.
 */
KC_SOLVER kc_fault kc_linearize_tree(kc_tree s, kc_saddle *e, kc_real *L, const kc_real *u, const int *speed,
                                     kc_real *F, kc_real *dF, int stride)
{
    const int apart = KC_EIGHTS(s.n);
    kc_move(s, u, speed);
    kc_compose(s, F);
    kc_fill_triangle(s, L, apart);
    const kc_mask positive = kc_factor_tree(s.n, s.parent, L, apart, e->scale);
#if !defined(KC_WIDE)
    if (KC_UNLIKELY(!positive)) {
        const int fault = kc_eliminate_tree(s, e, F, 1);
        if (fault)
            return fault;
        kc_gain(s, F);
        kc_differentiate(s, dF, stride);
        return kc_eliminate_tree(s, e, dF, stride);
    }
#endif
    kc_solve_tree_once(s.n, s.parent, L, apart, F);
    kc_gain(s, F);
    kc_differentiate(s, dF, stride);
    kc_solve_tree(s.n, s.parent, s.limb_end, L, apart, dF, stride);
    return KC_UNLESS(positive);
}

/* The kernel `linearize` of such a model. */
KC_ONCE kc_fault kc_linearize_forest(kc_forest *s, kc_real t, const kc_real *x, const kc_real *r,
                                     const kc_real *c, kc_real *w, kc_real *out)
{
    kc_saddle *const e = s->equations;
    const int n = s->n, n_q = s->n_q, columns = s->columns, *speed = s->speed, *run = s->run, *turn = s->turn;
    kc_real *F = kc_align(w), *const L = F + s->room;
    kc_real *const filled = kc_place_scratch(e, kc_place_equations(e, L + e->n * KC_EIGHTS(e->n)));
    kc_real *const base = filled + KC_NUMBERS(kc_joint) * n, *const moving = base + s->numbers;
    kc_real *const work = moving + KC_NUMBERS(kc_moving) * e->n;
    const kc_real *slope = base + 3 * s->trees;
    kc_tree tree = {
        0, 0, s->parent, s->first, s->limb_end, (const kc_joint *)filled, base, (kc_moving *)moving};
    kc_fault failed = s->joints(t, x, r, c, work, filled);
    failed |= s->loads(t, x, r, c, work + s->loaded, work);
    kc_clear(s->room, F);
    for (int i = 0; i < s->loaded; i++)
        F[s->at[i]] = work[i];
    kc_clear((n_q + n) * columns, out);
    for (int i = 0; i < s->trees; i++) {
        const int size = tree.n = s->size[i], stride = KC_EIGHTS(s->width[i]);
        const int *const end = run + 3 * s->runs[i];
        kc_real *const dF = F + KC_EIGHTS(size);
        tree.free = s->n_free[i];
        const kc_fault fault = kc_linearize_tree(tree, e, L, x + n_q, speed, F, dF, stride);
        if (kc_stops(fault))
            return kc_model_fault(fault, speed, NULL);
        failed |= fault;
        for (; run < end; run += 3)
            for (int j = 0; j < size; j++)
                kc_copy(run[2], out + (n_q + speed[j]) * columns + run[1], dF + j * stride + run[0]);
        for (int k = 0; k < s->turns[i]; k++, turn += 2, slope++)
            for (int j = 0; j < size; j++)
                out[(n_q + speed[j]) * columns + turn[1]] += *slope * dF[j * stride + turn[0]];
        tree.parent += size, tree.first += size, tree.limb_end += size, tree.joints += size, tree.base += 3;
        speed += size, F = dF + size * stride;
    }
    for (int i = 0; i < s->n_ones; i++)
        out[s->ones[i]] = KC_REAL(1.0);
    if (s->n_others) {
        failed |= s->others(t, x, r, c, work + s->n_others, work);
        for (int i = 0; i < s->n_others; i++)
            out[s->others_at[i]] += work[i];
    }
    return failed;
}
