/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kc_contacts.h: the motion of a model with rigid contacts, each open, closed or sliding.
 *
 * A contact that is held can pull as well, and neither opens nor slips.  A contact has a row n of velocities
 * normal to its ground, and none, one or two rows t along the ground. With the model's constraints G and the
 * rows A of closed contacts
 *
 *     M udot = f + G' l + sum (n - mu s t) N + sum (n N + t T),      G udot + gamma = 0,  A udot + b = 0
 *
 * where sliding contacts have one row n and slip along the unit vector s.  With M = L L', H = L^-1 [G; A]'
 * and D = H' H the forces solve a small system of linear equations.  Forces of redundant rows take the least
 * norm. All rows are scaled by the square roots of D, so that units do not matter.
 *
 * kc_contacts_rhs() and its relatives are kernels of a kc_system whose `c` is the address of a kc_contacts.
 * The functions of kc_contacts_values() are positive as long as the modes hold, up to the rounding of their
 * terms.
 */
#ifndef KC_CONTACTS_H
#define KC_CONTACTS_H

#include "kc_ode.h"

enum { KC_GAP_PLACED = 1, KC_GAP_UNWATCHED = 2 }; /* the second may be negative while it is open */
enum { KC_CONTACT_OPEN, KC_CONTACT_CLOSED, KC_CONTACT_SLIDES, KC_CONTACT_HELD };

typedef struct kc_contacts {
    /* the model: kernels, constants, sizes; without constraints the last three are NULL */
    kc_kernel *rhs, *mass_matrix, *forcing, *qdot, *zdot, *jacobian, *bias, *project;
    const double *c;
    uint32_t n_q, n_u, n_z, n_constraints;
    /* the contacts: a kernel, whose results are gaps and their terms (n each), velocities of rows, their
     * terms and biases (n_rows each), A (n_rows n_u) */
    kc_kernel *rows;
    const double *rows_c;
    double *rows_work, *values;
    uint32_t n, n_rows;
    const uint32_t *length;    /* (n) rows of each contact */
    const uint32_t *placed;    /* (n) KC_GAP_PLACED unless the gap is a speed, + KC_GAP_UNWATCHED */
    const double *mu, *mu_kin; /* (n) friction coefficients at rest and in slip */
    const double *least;       /* (n) least normal forces of kc_contacts_relax() */
    int32_t *mode;             /* (n) */
    double *way;               /* (2 n) s of planar contacts; directions of slow slips in space, or zeros */
    double now;                /* time of the last evaluation */
    double since;  /* time since which the modes hold: speeds have the rounding of accelerations from then */
    double slow;   /* a slower slip begins or ends, and has a known direction: friction turns it stiffly */
    double *noise; /* (n) a slip of this size is zero with rounding, and has the direction in `way` */
    /* results of kc_contacts_at() and kc_contacts_solve(); m = n_constraints + n_rows */
    double *mass, *half, *free; /* L (n_u n_u), L^-1 f, M^-1 f (n_u) */
    uint32_t *begins;           /* (n_u) first column of each row of L that is not zero */
    double *h, *delassus;       /* (m n_u), (m m); rows that are not used are zero */
    double *start, *terms;      /* (m) accelerations without contact forces; sizes of their terms */
    double *reference;          /* (m) forces from which those of redundant rows differ least; usually zero */
    double *force, *after, *sizes; /* (m) forces, accelerations, sizes of the terms of these */
    double *udot;                  /* (n_u) */
    double *work;                  /* kc_contacts_work() */
    double spread;                 /* part of the right side that dependent rows leave: contradictory modes */
    int32_t rank, count;           /* of the equations of the last solution */
} kc_contacts;

size_t kc_contacts_work(const kc_contacts *k);

/* All of the model at t, x, r that modes need; with `all` the rows of open contacts as well.  `work` is of
 * the model's kernels: work[0] becomes the status. */
void kc_contacts_at(kc_contacts *k, double t, const double *x, const double *r, double *work, int all);

/* Forces for right sides `start` (m) by the modes, and what follows: force, after, sizes; without friction
 * unless `rubs`. */
void kc_contacts_solve(kc_contacts *k, const double *start, int rubs);

/*
 * Forces for right sides `start` by projections, row by row: rows of the model are equations, closed contacts
 * are free to open and to slip, |T| <= part mu N, and the direction of sliding ones is known.  They begin at
 * `force`.  Returns the number of sweeps, 0 if `most` of them did not suffice.
 */
int kc_contacts_relax(kc_contacts *k, const double *start, double part, int most);

/* out = M^-1 times the generalized forces of `force`. */
void kc_contacts_pushed(const kc_contacts *k, double *out);

/* Kernels of the system. */
kc_kernel kc_contacts_rhs, kc_contacts_qdot, kc_contacts_project;

/* Two functions of each contact, after kc_contacts_at() and kc_contacts_solve(): negative where a law is
 * broken.  They are the gap, and 1; the normal force, and the distance from the cone of friction; the normal
 * force, and the slip. */
void kc_contacts_laws(kc_contacts *k, double *g);

/* The same at t, x, r. */
void kc_contacts_values(kc_contacts *k, double t, const double *x, const double *r, double *work, double *g);

#endif
