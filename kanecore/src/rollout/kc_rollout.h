/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kc_rollout.h: fixed steps of many rows at once, private to the extension.
 *
 * A row is an initial state with its inputs, constants and results.  Rows in lanes stay there from step to
 * step.  A row has the same arithmetic as alone, number by number, so its bits do not depend on its
 * neighbours, nor on lanes.  They equal kc_integrate() with constant inputs.
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
    /* the kernel in lanes; NULL: one row after the other */
    const kc_lanes *lanes;
    kc_lane_kernel *rhs_of_lanes, *qdot_of_lanes;
    uint32_t n_prepared, n_lane_work;
    uint32_t n_blocks; /* blocks in one call; 1 if rows have their own constants */
    /* the steps */
    int semi_implicit; /* Euler's steps; else those of order 4 */
    double t0, dt;
    uint64_t steps;
    /* The rows: operands begin this many bytes after the first address; c_at NULL: one c for all. */
    const char *x0, *r, *c;
    const int64_t *x0_at, *r_at, *c_at;
    int64_t r_step; /* bytes to the inputs of the next step; 0: constant inputs */
    char *out;      /* (rows, steps + 1, n_x), one row after the other */
    /* of each row: a kc_status; its work[1]; the number of the last good step, or -1 */
    unsigned char *code;
    int32_t *number;
    int64_t *last;
    int (*interrupted)(
        void *context); /* called now and then; non-zero ends the rollout, with unfinished rows */
    void *context;
} kc_rollout;

/* Bytes of work, which begins at a multiple of 64. */
size_t kc_rollout_work(const kc_rollout *plan);

/*
 * Rows first to end - 1, from start to end.  A row that fails is NaN from there on.  Nothing is allocated:
 * any number of threads may each take some rows, with their own work and copy of the plan.
 */
void kc_roll_out(const kc_rollout *plan, size_t first, size_t end, void *work);

/* kc_roll_out() for each kind of processor and number. */
typedef void kc_roll_out_kind(const kc_rollout *plan, size_t first, size_t end, void *work);
kc_roll_out_kind kc_roll_out_doubles, kc_roll_out_floats;       /* for any processor */
kc_roll_out_kind kc_roll_out_doubles_v3, kc_roll_out_floats_v3; /* for x86-64 from level 3 on */
kc_roll_out_kind kc_roll_out_doubles_v4, kc_roll_out_floats_v4; /* for x86-64 from level 4 on */

#endif
