/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kc_rollout.h: fixed steps of many rows side by side, private to the extension.
 *
 * A row is a start with its inputs, constants and results.  Rows that lie in lanes stay there from step to
 * step; a row takes the arithmetic that it would take alone, number by number, so its bits do not depend on
 * its neighbours, nor on whether there are lanes.  They are those of kc_integrate() with inputs that are
 * held.
 *
 * In a model in single precision (`single`) all numbers but times are floats, as in kanecore.h.
 */
#ifndef KC_ROLLOUT_H
#define KC_ROLLOUT_H

#include "kanecore.h"

#include <stddef.h>

enum { KC_MOST_LANES = 16 };

typedef struct kc_rollout {
    /* the model, as in kc_system */
    kc_kernel *rhs, *qdot; /* qdot: of "euler" */
    kc_kernel *project;    /* NULL: no constraints */
    uint32_t n_q, n_u, n_z, n_r, n_work, n_unit;
    const uint32_t *unit;
    int single;
    /* and in lanes; NULL: one row after the other */
    const kc_lanes *lanes;
    kc_lane_kernel *rhs_of_lanes, *qdot_of_lanes;
    uint32_t n_prepared, n_lane_work;
    uint32_t n_blocks; /* that take one call; 1 where rows have constants of their own */
    /* the steps */
    int semi_implicit; /* Euler's; else those of order 4 */
    double t0, dt;
    uint64_t steps;
    /* The rows: operands begin so many bytes after the first address; c_at NULL: one c for all. */
    const char *x0, *r, *c;
    const int64_t *x0_at, *r_at, *c_at;
    int64_t r_step; /* bytes to the inputs of the next step; 0: they are held throughout */
    char *out;      /* (rows, steps + 1, n_x), one row after the other */
    /* of each row: a kc_status; the work[1] that belongs to it; the number of the last good step, or -1 */
    unsigned char *code;
    int32_t *number;
    int64_t *last;
    int (*interrupted)(void *context); /* asked now and then; non-zero ends it, rows are left unfinished */
    void *context;
} kc_rollout;

/* Bytes of work, which begins at a multiple of 64. */
size_t kc_rollout_work(const kc_rollout *plan);

/*
 * Rows first to end - 1, from start to end.  A row that fails is NaN from there on.  Nothing is allocated:
 * any number of threads may each take rows of their own, with work and a copy of the plan of their own.
 */
void kc_roll_out(const kc_rollout *plan, size_t first, size_t end, void *work);

/* The same on each kind of processor and number, for kc_roll_out(). */
typedef void kc_roll_out_kind(const kc_rollout *plan, size_t first, size_t end, void *work);
kc_roll_out_kind kc_roll_out_doubles, kc_roll_out_floats;       /* of any processor */
kc_roll_out_kind kc_roll_out_doubles_v3, kc_roll_out_floats_v3; /* of x86-64 from level 3 on */
kc_roll_out_kind kc_roll_out_doubles_v4, kc_roll_out_floats_v4; /* and from level 4 on */

#endif
