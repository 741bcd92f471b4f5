/* SPDX-License-Identifier: BSD-3-Clause */
/* kc_events.h: zeros of functions of the state, step by step; kc_integrate.c asks, kc_events.c looks. */
#ifndef KC_EVENTS_H
#define KC_EVENTS_H

#include "kc_method.h"

/* A run is about to begin. */
void kc_forget_zeros(const kc_system *system, const kc_events *events);

/*
 * The signs of all functions at the state s->x, from which a run begins, or goes on after a change.  `ahead`
 * is a time, short beside a step, within which the functions go on along s->k; 0 at the start of a run.
 */
kc_status kc_begin_watch(const kc_stride *s, const kc_events *events, double ahead);

/*
 * Look for zeros in the step s, which ends the run where s->next == t1.  *stop becomes the time of the first
 * on which the step is to end, or s->next where there is none.
 */
kc_status kc_watch(const kc_stride *s, const kc_events *events, double t1, double *stop);

/*
 * Look again, at the step s that was cut at a zero: its interpolant is another than that of the longer step.
 * *stop becomes s->next where the step may end there, else the time of an earlier zero on which it is to end;
 * where this is the last look, the step ends as it is.  Functions whose zeros were at its end are zero there.
 */
kc_status kc_watch_cut(const kc_stride *s, const kc_events *events, int last, double *stop);

/*
 * Newton's method for the zero on which step s ends: *stop becomes a better time; whether the step is to be
 * taken once more, to that time.
 */
int kc_improve(const kc_stride *s, const kc_events *events, double *stop);

/*
 * Report the zeros up to the end of the step that was accepted, `step`, where x may change.  *answer becomes
 * the last of KC_GO_ON, KC_CHANGED and KC_END that was given.
 */
kc_status kc_report(const kc_stride *s, const kc_events *events, const kc_step *step, double *x, int *answer);

#endif
