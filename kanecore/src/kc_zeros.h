/* SPDX-License-Identifier: BSD-3-Clause */
/* kc_zeros.h: the zeros of functions of the state in one step, found by kc_zeros.c for kc_events.c. */
#ifndef KC_ZEROS_H
#define KC_ZEROS_H

#include <math.h>

#include "kc_events.h"

/*
 * Places of a step at which functions are evaluated.  The first places are for functions that start at zero,
 * and may return soon, as for a ball with small bounces: they go down to the resolution of t.
 */
static const double KC_PLACES[] = {0.0,    0x1p-50, 0x1p-40, 0x1p-30, 0x1p-20,      0x1p-10,
                                   0x1p-6, 0.25,    0.5,     0.75,    1.0 - 0x1p-6, 1.0};
enum {
    KC_N_PLACES = sizeof KC_PLACES / sizeof *KC_PLACES,
    KC_EARLY = 5,           /* the last of the first places */
    KC_MOST_PARTS = 1024,   /* equal parts in which a step is looked at where g swings: at most, */
    KC_PARTS_OF_A_SIGN = 8, /* and for each change of sign */
    KC_MOST_ZEROS = 2 * KC_MOST_PARTS / KC_PARTS_OF_A_SIGN /* of a function; those at the end are last */
};

/* State kept between two steps, and work space to search one. */
typedef struct kc_search {
    double *crowded;       /* time at which g first changed its sign too often to be followed */
    double *first, *count; /* index of the first zero that stops the step; number of zeros */
    double *zero;          /* (KC_MOST_ZEROS n) times of zeros, in order */
    double *which, *after; /* their functions, and the signs after them */
    double *sign, *end;    /* (n) 1, -1, or 0: none yet; at the start and the end of a step */
    double *due, *later;   /* (n) signs after zeros at which, and after which, the step was cut; or 0 */
    double *start;         /* (n) g at the start of a step */
    double *least;         /* (n) rounding of g at its last zero, when it may have been faster */
    double *noise;         /* (n) rounding of g */
    double *seam;          /* (n) rounding of g at the end of the run, as for a run that starts there */
    double *turned; /* (n) where a zero may have changed x: the sign after it, times how near g is to it; else
                       0 */
    double *moved;  /* (n) whether it did */
    double *when;   /* (n) the last time at which a change of x reversed g, or stopped it */
    double *smooth; /* (n) whether g approached zero without jumping over it */
    double *g, *spare; /* (KC_N_PLACES n), (2 n) */
    double *x, *y;     /* (n_x) */
    double *r;         /* (n_r), (kc_run_work) */
} kc_search;

/* The search in the work space of the events. */
kc_search kc_search_in(const kc_system *system, const kc_events *e);

static inline double kc_sign_of(double g)
{
    return (double)((g > 0.0) - (g < 0.0));
}

/* All functions at t and x, with the inputs of the stretch. */
kc_status kc_values_at(const kc_stride *s, const kc_events *e, double t, const double *x, double *g);

/* All functions at a place of the step; w->x becomes the state there. */
kc_status kc_values_within(const kc_stride *s, const kc_events *e, const kc_search *w, double theta,
                           double *g);

/*
 * noise becomes the rounding of the functions with values g at t and w->x: their changes with each component
 * of x by some units in its last place, and with t, or an earlier time, along a slope.
 */
kc_status kc_rounding_from(const kc_stride *s, const kc_events *e, const kc_search *w, double t,
                           double earlier, const double *slope, const double *g, double *noise);

/* w->noise becomes the rounding of the functions in the step. */
kc_status kc_rounding(const kc_stride *s, const kc_events *e, const kc_search *w, double t, const double *g);

/* The sign of g_i, or 0 within rounding, by the last kc_rounding(). */
double kc_sign_beyond(const kc_search *w, uint32_t i, double g);

/* Record a zero, in the order of time. */
void kc_put_zero(const kc_stride *s, const kc_search *w, uint32_t i, double t, double after);

/* The zeros of g_i in a step, and its sign at the end; g was computed at all places from `first` on. */
kc_status kc_look(const kc_stride *s, const kc_events *e, const kc_search *w, uint32_t i, int first,
                  int ends);

#endif
