/* SPDX-License-Identifier: BSD-3-Clause */
/* kc_events.h: zeros of functions of the state, step by step, found by kc_events.c for kc_integrate.c. */
#ifndef KC_EVENTS_H
#define KC_EVENTS_H

#include "kc_method.h"

/* A run is about to begin. */
void kc_forget_zeros(const kc_system *system, const kc_events *events);

/*
 * Find the signs of all functions at the state s->x, from which a run starts, or continues after a change.
 * `ahead` is a time, short relative to a step, in which the functions continue along s->k; 0 at the start of
 * a run.
 */
kc_status kc_begin_watch(const kc_stride *s, const kc_events *events, double ahead);

/*
 * Look for zeros in the step s, which ends the run if s->next == t1. *stop becomes the time of the first zero
 * at which the step must end, or s->next without one.
 */
kc_status kc_watch(const kc_stride *s, const kc_events *events, double t1, double *stop);

/*
 * Look again in the step s, which was cut at a zero: its interpolant differs from that of the longer step.
 * *stop becomes s->next if the step may end there, else the time of an earlier zero at which it must end; at
 * the last trial the step ends unchanged.  Functions with zeros at its end are zero there.
 */
kc_status kc_watch_cut(const kc_stride *s, const kc_events *events, int last, double *stop);

/*
 * Newton's method for the zero at which step s ends: *stop becomes a better time; return whether to repeat
 * the step, to this time.
 */
int kc_improve(const kc_stride *s, const kc_events *events, double *stop);

/*
 * Report the zeros up to the end of the accepted `step`, where x may change. *answer becomes the last answer,
 * KC_GO_ON, KC_CHANGED or KC_END.
 */
kc_status kc_report(const kc_stride *s, const kc_events *events, const kc_step *step, double *x, int *answer);

#endif
