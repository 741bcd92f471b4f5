/* SPDX-License-Identifier: BSD-3-Clause */
/* Vectors, and spatial vectors of velocity and force about one point (Featherstone 2008, chapter 2). */
typedef struct kc_vector {
    kc_real x, y, z;
} kc_vector;

#define KC_NO_VECTOR ((kc_vector){KC_REAL(0.0), KC_REAL(0.0), KC_REAL(0.0)})

/* A velocity: of turning, and of what is at the point.  A wrench: torque and force, the other way round. */
typedef struct kc_screw {
    kc_vector turn, slide;
} kc_screw;

#define KC_NO_SCREW ((kc_screw){KC_NO_VECTOR, KC_NO_VECTOR})

/* Mass, first moment and inertia of a body, or of all that a joint carries, frozen. */
typedef struct kc_mass {
    kc_real mass;
    kc_vector moment;
    kc_real xx, yy, zz, xy, yz, zx;
} kc_mass;

KC_INLINE kc_vector kc_add(kc_vector a, kc_vector b)
{
    return (kc_vector){a.x + b.x, a.y + b.y, a.z + b.z};
}

/* sum + factor a */
KC_INLINE kc_vector kc_plus(kc_vector sum, kc_real factor, kc_vector a)
{
    return (kc_vector){KC_FMA(factor, a.x, sum.x), KC_FMA(factor, a.y, sum.y), KC_FMA(factor, a.z, sum.z)};
}

/* sum + a x b */
KC_INLINE kc_vector kc_plus_cross(kc_vector sum, kc_vector a, kc_vector b)
{
    return (kc_vector){KC_FNMA(a.z, b.y, KC_FMA(a.y, b.z, sum.x)), KC_FNMA(a.x, b.z, KC_FMA(a.z, b.x, sum.y)),
                       KC_FNMA(a.y, b.x, KC_FMA(a.x, b.y, sum.z))};
}

KC_INLINE kc_vector kc_cross(kc_vector a, kc_vector b)
{
    return kc_plus_cross(KC_NO_VECTOR, a, b);
}

KC_INLINE kc_real kc_dot(kc_vector a, kc_vector b)
{
    return KC_FMA(a.x, b.x, KC_FMA(a.y, b.y, a.z * b.z));
}

/* The power of a wrench on a velocity. */
KC_INLINE kc_real kc_power(kc_screw velocity, kc_screw wrench)
{
    return kc_dot(velocity.turn, wrench.turn) + kc_dot(velocity.slide, wrench.slide);
}

KC_INLINE kc_screw kc_plus_screw(kc_screw sum, kc_real factor, kc_screw a)
{
    return (kc_screw){kc_plus(sum.turn, factor, a.turn), kc_plus(sum.slide, factor, a.slide)};
}

/* sum + how a motion changes a velocity that moves with it */
KC_INLINE kc_screw kc_plus_carried(kc_screw sum, kc_screw motion, kc_screw a)
{
    return (kc_screw){
        kc_plus_cross(sum.turn, motion.turn, a.turn),
        kc_plus_cross(kc_plus_cross(sum.slide, motion.turn, a.slide), motion.slide, a.turn),
    };
}

/* sum + how a motion changes a wrench that moves with it */
KC_INLINE kc_screw kc_plus_carried_wrench(kc_screw sum, kc_screw motion, kc_screw a)
{
    return (kc_screw){
        kc_plus_cross(kc_plus_cross(sum.turn, motion.turn, a.turn), motion.slide, a.slide),
        kc_plus_cross(sum.slide, motion.turn, a.slide),
    };
}

/* The momentum at a velocity, or the wrench of an acceleration. */
KC_INLINE kc_screw kc_inertia(const kc_mass *b, kc_screw a)
{
    const kc_vector w = a.turn;
    const kc_vector turned = {
        KC_FMA(b->xx, w.x, KC_FMA(b->xy, w.y, b->zx * w.z)),
        KC_FMA(b->xy, w.x, KC_FMA(b->yy, w.y, b->yz * w.z)),
        KC_FMA(b->zx, w.x, KC_FMA(b->yz, w.y, b->zz * w.z)),
    };
    return (kc_screw){
        kc_plus_cross(turned, b->moment, a.slide),
        kc_plus(kc_cross(w, b->moment), b->mass, a.slide),
    };
}

/* A product with the matrix of these rows. */
KC_INLINE kc_vector kc_times(const kc_vector *rows, kc_vector a)
{
    return (kc_vector){kc_dot(rows[0], a), kc_dot(rows[1], a), kc_dot(rows[2], a)};
}

/* The same with its transpose. */
KC_INLINE kc_vector kc_transposed_times(const kc_vector *rows, kc_vector a)
{
    return kc_plus(kc_plus(kc_plus(KC_NO_VECTOR, a.x, rows[0]), a.y, rows[1]), a.z, rows[2]);
}
