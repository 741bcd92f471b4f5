/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kc_ode.h: integration of any kc_model in time.
 *
 *     kc_signal r = {.n_r = m->n_r, .n_knots = 2, .knots = knots, .coefficients = coefficients};
 *     kc_system s = {.rhs = m->rhs, .n_q = m->n_q, .n_u = m->n_u, .n_z = m->n_z, .n_work = m->n_work, .c = c,
 *                    .signal = &r, .n_unit = m->n_unit, .unit = m->unit, .project = m->project,
 *                    .qdot = m->qdot};
 *     kc_plan plan = {.method = kc_find_method("dop853"), .t0 = t0, .t1 = t1, .rtol = 1e-8, .atol = atol,
 *                     .max_step = t1 - t0, .accept = accept, .context = context};
 *     double *work = malloc(sizeof(double) * kc_ode_work(&s, plan.method));
 *     status = kc_integrate(&s, &plan, x, work, &stats);
 *
 * The state x is advanced in place.  Each accepted step is passed to accept(), which may store it, evaluate
 * its interpolant, or stop the run.  A change of x by an event is passed as a step of length zero.  Nothing
 * here allocates, and no state is kept between calls: any number of threads may integrate, each with its own
 * work.
 *
 * Unit quaternions are divided by their norms after each accepted step, and with `project` the state is
 * projected to the model's constraints, and so are the results of kc_interpolate(): steps and interpolants
 * lie on the manifold.  A method keeps its order, since the projection moves a state by no more than its
 * error (Hairer, Lubich & Wanner, Geometric Numerical Integration, 2nd ed. 2006, section IV.4).  The caller
 * projects the state at the start.
 */
#ifndef KC_ODE_H
#define KC_ODE_H

#include "kanecore.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The inputs r(t).  Between knots[k] and knots[k + 1] each input is a cubic in (t - knots[k]):
 *
 *     r_i(t) = sum_j coefficients[(k n_r + i) 4 + j] (t - knots[k])^j,   j = 0 ... 3
 *
 * and the first and the last interval extend to infinity.  Integrators step onto every knot, so that corners
 * there cost no accuracy.  If `call` is not NULL it gives r instead, at any t and x, and stops the run by
 * returning non-zero. With `held` it is called every `period` after the start of a run, in order, and its
 * result is constant in between; steps end at these times.
 */
typedef struct kc_signal {
    uint32_t n_r, n_knots; /* at least 2 knots, increasing */
    const double *knots, *coefficients;
    int (*call)(double t, const double *x, double *r, void *context);
    void *context;
    double *held; /* NULL, or the n_r inputs of the current period */
    double period;
} kc_signal;

/*
 * The system to integrate: dx/dt = rhs(t, x, r(t)), and with `stabilization` du/dt + 2 alpha a + beta^2 b, or
 * backwards in time du/dt - 2 alpha a + beta^2 b: constraints attract in the direction of the run.
 */
typedef struct kc_system {
    kc_kernel *rhs, *qdot;          /* qdot: for methods that advance speeds and coordinates in turn */
    uint32_t n_q, n_u, n_z, n_work; /* as in the model */
    const double *c;                /* prepared constants */
    const kc_signal *signal;
    uint32_t n_unit;                            /* unit quaternions in x */
    const uint32_t *unit;                       /* their places, 4 n_unit; as in the model */
    kc_kernel *project;                         /* NULL: no projection */
    kc_kernel *stabilization;                   /* NULL: none */
    double alpha, beta;                         /* its gains */
    kc_kernel *linearize, *rhs_time_derivative; /* of linearly implicit methods; NULL: differences */
    uint32_t n_constraints, n_prepared; /* as in the model: where rows of G follow from others is in c */
    int (*interrupted)(void *context);  /* NULL, or called after every KC_PATIENCE evaluations; */
    void *context;                      /* non-zero stops the run */
} kc_system;

/* A method; see kc_find_method(). */
typedef struct kc_method kc_method;

typedef struct kc_step {
    double t, h, end;      /* the step goes from t to end; h = end - t */
    const double *x0, *x1; /* n_x = n_q + n_u + n_z each */
    const double *dense;   /* kc_n_dense() n_x numbers for kc_interpolate(); NULL: see interpolate_from */
    const kc_method *method;
    const kc_system *system;
} kc_step;

/* Returns non-zero to stop the run. */
typedef int kc_accept(const kc_step *step, void *context);

/*
 * Functions g(t, x) for which a run looks for zeros.  A zero is a change of sign of g, if both signs are
 * beyond rounding: at the ends of a step, or inside, where g is evaluated in several places.  A function that
 * is zero at the start, or after a change of x, has no sign before it has left zero.  A value that is zero to
 * rounding at the end of the run is a zero, so that a chain of runs has the zeros of one long run.
 */
typedef struct kc_events {
    uint32_t n;
    int (*values)(double t, const double *x, const double *r, double *g, void *context); /* non-zero: stop */
    const int *direction; /* n: 1, zeros at which g increases along the run; -1: decreases; 0: all */
    const int *stops;     /* n: non-zero if a step must end at the zeros */
    /* A zero of function i, in the order of the run.  If steps end at it, x may change. */
    int (*found)(uint32_t i, double t, double *x, void *context);
    void *context;
    /* kc_events_work() doubles; work[0] becomes the time of the first step with more changes of sign than
     * could be followed, or NAN. */
    double *work;
    /* NULL, or n: the sign that function i has until it is beyond rounding on the other side, whenever the
     * run begins or x changes, so that what begins at zero has a zero as it leaves to that side; 0: none */
    const double *side;
} kc_events;

/* Results of kc_events.found(). */
enum { KC_GO_ON, KC_CHANGED, KC_END };

/* The caller's choices for a run. */
typedef struct kc_plan {
    const kc_method *method;
    double t0, t1;
    double step;             /* length of fixed steps, or of the first adaptive step; 0: automatic */
    double rtol;             /* for adaptive methods, as all below */
    const double *atol;      /* n_x absolute tolerances */
    double max_step;         /* at least the span of the run: no limit */
    uint64_t max_steps;      /* tried, accepted or not; 0: no limit */
    kc_accept *accept;       /* NULL: steps are not reported */
    void *context;           /* of accept() */
    const kc_events *events; /* NULL: none */
    /* NULL: every step has an interpolant.  Else only steps that end beyond this time, which accept() may
     * change, and all steps with events: an interpolant costs "dop853" three evaluations. */
    const double *interpolate_from;
} kc_plan;

typedef struct kc_stats {
    uint64_t evaluations, accepted, rejected;
    uint64_t jacobians, factorizations; /* of linearly implicit methods */
    uint64_t switches;                  /* between two methods, see "auto" */
    double switched[8];                 /* (KC_SWITCHES) times of the first switches */
    double t;                           /* time at which the run ended, or failed */
    uint32_t number;                    /* work[1] of a kernel without solution */
} kc_stats;

enum { KC_PATIENCE = 1024, KC_SWITCHES = 8 };

/*
 * A method by its name, or NULL:
 *
 *     euler    semi-implicit Euler, order 1: speeds first, then coordinates by the new speeds; fixed steps
 *     rk4      the classical Runge-Kutta method of order 4; fixed steps
 *     dopri5   Dormand and Prince's method of order 5 with an error estimate of order 4
 *     dop853   theirs of order 8 with error estimates of orders 5 and 3 (Hairer, Norsett & Wanner, Solving
 *              Ordinary Differential Equations I, 2nd ed. 1993, section II.5)
 *     rosenbrock    Rodas5P, of order 5 with an error estimate of order 4, for stiff systems
 *              (Steinebach, BIT 63, 2023): linearly implicit. It needs all derivatives with respect to
 *              x and t, so it works neither with a `call` of kc_signal nor with `stabilization`.  If
 *              rows of G follow from others the derivatives are differences of rhs
 *     rosenbrock_w  ROS34PW2, of order 3 with an error estimate of order 2, for stiff systems
 *              with unknown derivatives: a W-method (Rang & Angermann, BIT 45, 2005)
 *     auto     dop853, of order 8; if only stability keeps its steps short, as they show without
 *              more evaluations, rosenbrock, until explicit steps suffice again
 *     auto_w   dop853, of order 8, and in the same way rosenbrock_w
 *
 * With constraints adaptive methods take one more evaluation in each step, at the projected state.
 */
const kc_method *kc_find_method(const char *name);

/* True if a method chooses its steps. */
int kc_is_adaptive(const kc_method *method);

/* Number of coefficients of the interpolant of a step, for each component. */
int kc_n_dense(const kc_method *method);

/* Doubles of work that a run needs. */
size_t kc_ode_work(const kc_system *system, const kc_method *method);

/* Doubles of work that n events of a run need. */
size_t kc_events_work(const kc_system *system, uint32_t n);

/* The shortest step that exceeds rounding at every t between t0 and t1. */
double kc_smallest_step(double t0, double t1);

/*
 * From t0 to t1, forwards or backwards, with x (n_x) advanced in place.  Fixed steps that end on a knot of
 * the inputs, on an event, or on t1, may be shorter; KC_STEP_SIZE at once where plan->step is below
 * kc_smallest_step(t0, t1).
 */
kc_status kc_integrate(const kc_system *system, const kc_plan *plan, double *x, double *work,
                       kc_stats *stats);

/*
 * x at t + theta h, 0 <= theta <= 1, its unit quaternions normalized and, with `project`, on the constraints.
 * `work` as for the integrators, or NULL without `project`; work[0] and work[1] become those of `project`. If
 * the result is not KC_OK, x is not on the constraints.
 */
kc_status kc_interpolate(const kc_step *step, double theta, double *x, double *work);

/*
 * Divides each quaternion in x by its norm.  KC_NONFINITE where a norm is zero or not finite; that quaternion
 * and those after it are as they were.
 */
kc_status kc_normalize(uint32_t n_unit, const uint32_t *unit, double *x);

/* r at time t, on interval k of the knots (any t: the polynomials go on). */
void kc_signal_at(const kc_signal *signal, uint32_t k, double t, double *r);

/* The interval of the knots with t; at a knot the interval that begins there. */
uint32_t kc_signal_interval(const kc_signal *signal, double t);

#ifdef __cplusplus
}
#endif
#endif /* KC_ODE_H */
