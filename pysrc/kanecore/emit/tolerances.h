/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What counts as equal, in the C of models.  Each number is relative: to what the number that it is compared
 * with is made of.  The same, with the reason of each, stand in kanecore/tolerances.py.
 */
#define KC_RANK          1e-10 /* a smaller coefficient, beside its row, is no pivot */
#define KC_INDEPENDENT   1e-3  /* a larger one is, though more rows are found than were counted */
#define KC_PIVOT         64.0  /* n epsilon: a smaller pivot, beside its diagonal entry, is rounding */
#define KC_SOLVED        1e-9  /* residual that is left where constraints are satisfied, beside its terms */
#define KC_REACHED       1e-12 /* residual that motions reach; where they leave more, q moves directly */
#define KC_CONTRADICTORY 1e-6  /* a larger rest of accelerations, beside what cancels, is a contradiction */
#define KC_EXPLAINED     10.0  /* times the residual of the state: so much more is explained by it */
