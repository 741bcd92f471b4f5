/* SPDX-License-Identifier: BSD-3-Clause */

/* Methods of integration: fixed steps, adaptive steps, and adaptive steps of stiff systems. */
enum {
    MODEL_euler,        /* semi-implicit, of order 1; fixed steps */
    MODEL_rk4,          /* the classical method, of order 4; fixed steps */
    MODEL_dopri5,       /* Dormand and Prince, of order 5 */
    MODEL_dop853,       /* Dormand and Prince, of order 8 */
    MODEL_rosenbrock_w, /* ROS34PW2, of order 3, for stiff systems */
    MODEL_auto_w,       /* dop853, and rosenbrock_w where stability keeps its steps short */
    MODEL_rosenbrock,   /* Rodas5P, of order 5, for stiff systems: calls linearize and rhs_time_derivative */
    MODEL_auto          /* dop853 and rosenbrock */
};

/* A motion from t0 to t1, forwards or backwards. */
typedef struct MODEL_run {
    int method; /* of the numbers above */
    double t0, t1;
    double step;       /* the length of fixed steps; of adaptive ones the first, 0: chosen */
    double rtol, atol; /* of adaptive methods: the error of a step beside rtol |x| + atol */
    double max_step;   /* 0: no limit */
    long max_steps;    /* tried at most, accepted or not; 0: 1000000 */
    /* NULL, or called at the end of each step; what it returns other than 0 stops the run. */
    int (*accept)(double t, const double *x, void *context);
    void *context;
    /* What came of it: steps accepted, steps tried again, calls of rhs. */
    long accepted, rejected, evaluations;
} MODEL_run;

/*
 * Advance x (n_x) in place, with r held. Unit quaternions stay unit, and states stay on the constraints,
 * where the library holds `project`; the state at the start is yours to bring there.
 * Returns ok, what rhs returns, or one of step_size, max_steps, stopped, chatter; then x is the last state
 * that was reached.
 */
int MODEL_integrate(MODEL_run *run, const double *r, const double *c, double *work, double *x);
