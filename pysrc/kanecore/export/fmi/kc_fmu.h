/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kc_fmu.h: a model as one instance of an FMU, whatever the version of FMI; fmi2.c and fmi3.c are its two
 * faces.
 *
 * All variables are doubles, and stand in one array in the order of their value references:
 *
 *     0: time, then x (n_x), dx/dt (n_x), inputs r (n_r), outputs y (n_outputs), parameters p (n_p), and of a
 *     model with constraints or unit quaternions the drift past which a step asks for event mode
 *
 * Nothing is global but constants, so any number of instances may run side by side.  Memory is taken where an
 * instance or a copy of its state is made, and nowhere else.
 */
#ifndef KC_FMU_H
#define KC_FMU_H

#include "kc_ode.h"

/* The numbers of fmi2Status and fmi3Status. */
typedef enum kc_fmu_status { KC_FMU_OK, KC_FMU_WARNING, KC_FMU_DISCARD, KC_FMU_ERROR } kc_fmu_status;

/* Modes, one bit each, so that a set of them is a sum. */
enum {
    KC_FMU_INSTANTIATED = 1,
    KC_FMU_INITIALIZING = 2,
    KC_FMU_EVENT = 4,
    KC_FMU_CONTINUOUS = 8,
    KC_FMU_STEPPING = 16,
    KC_FMU_TERMINATED = 32,
    KC_FMU_FAILED = 64,
    KC_FMU_RUNNING = KC_FMU_INITIALIZING | KC_FMU_EVENT | KC_FMU_CONTINUOUS | KC_FMU_STEPPING,
    KC_FMU_SETTABLE = KC_FMU_INSTANTIATED | KC_FMU_RUNNING,
    KC_FMU_READABLE = KC_FMU_RUNNING | KC_FMU_TERMINATED,
    KC_FMU_ALIVE = KC_FMU_INSTANTIATED | KC_FMU_READABLE,
    KC_FMU_ANY = KC_FMU_ALIVE | KC_FMU_FAILED
};

/* Bytes of the longest message. */
enum { KC_FMU_MESSAGE = 1024 };

typedef void kc_fmu_log(void *host, kc_fmu_status status, const char *message);

typedef struct kc_fmu {
    const kc_model *model;
    const kc_model *slopes; /* its outputs are dy/d(t, p) at constant du/dt, a row for each y; NULL: none */
    uint32_t n_x, n_values, n_wrt; /* n_wrt: of x and r */
    int cosimulation;
    int mode;
    unsigned known;   /* what belongs to the values as they are now: see kc_fmu.c */
    double tolerance; /* of co-simulation, relative and absolute */
    double *values;   /* n_values, in order of the value references, and below the parts of it */
    double *x, *xdot, *r, *y, *p, *limit;  /* limit: NULL where nothing can drift */
    double *c, *slopes_c;                  /* prepared constants */
    double *by_wrt, *by_t, *by_p;          /* d(dx/dt)/d(x, r), /dt, /dp */
    double *y_by_wrt, *y_by_p, *y_by_udot; /* dy/d(x, r); at constant du/dt dy/d(t, p), dy/d(x, r, du/dt) */
    double *x_udot;                        /* x, then du/dt */
    double *column, *spare, *coefficients, *work;
    const kc_method *method;
    kc_fmu_log *log;
    void *host;
} kc_fmu;

/* NULL where the token is not that of this model, or memory is short; says why. */
kc_fmu *kc_fmu_new(const char *token, int cosimulation, kc_fmu_log *log, void *host);
void kc_fmu_free(kc_fmu *fmu);

/* Back to the values of the description. */
void kc_fmu_reset(kc_fmu *fmu);

/* Tells the host a message, made as by printf, and returns the status. */
kc_fmu_status kc_fmu_say(const kc_fmu *fmu, kc_fmu_status status, const char *format, ...);

/* KC_FMU_OK in one of these modes; else says that `function` has no place here. */
kc_fmu_status kc_fmu_allow(const kc_fmu *fmu, const char *function, int modes);

/* The start of an experiment; a tolerance that is not positive leaves that of the description. */
kc_fmu_status kc_fmu_start(kc_fmu *fmu, double t, double tolerance);

/* The end of initialization, before event mode or the first step: the state comes to its constraints. */
kc_fmu_status kc_fmu_begin(kc_fmu *fmu);

/* Variables by value reference. Nothing is set unless all can be. */
kc_fmu_status kc_fmu_get(kc_fmu *fmu, const uint32_t *references, size_t n, double *values);
kc_fmu_status kc_fmu_set(kc_fmu *fmu, const uint32_t *references, size_t n, const double *values);

kc_fmu_status kc_fmu_set_time(kc_fmu *fmu, double t);
kc_fmu_status kc_fmu_set_states(kc_fmu *fmu, const double *x, size_t n);
kc_fmu_status kc_fmu_get_states(kc_fmu *fmu, double *x, size_t n);
kc_fmu_status kc_fmu_get_slopes(kc_fmu *fmu, double *xdot, size_t n);

/*
 * How far the state is off its constraints: the largest residual beside what it is summed from, and the
 * largest distance of the norm of a unit quaternion from 1.
 */
double kc_fmu_drift(kc_fmu *fmu);

/* Whether that is more than the limit. */
int kc_fmu_drifted(kc_fmu *fmu);

/* Brings the state back to the constraints if it drifted past the limit; whether it changed is told. */
kc_fmu_status kc_fmu_settle(kc_fmu *fmu, int *changed);

/*
 * From time t on by h.  Inputs are held; a prescribed motion whose rates are inputs too goes on by these, as
 * r + r' s + r'' s^2 / 2.
 */
kc_fmu_status kc_fmu_advance(kc_fmu *fmu, double t, double h);

/*
 * d(unknowns)/d(knowns) seed, or with `adjoint` its transpose times a seed of the unknowns.  Unknowns are
 * dx/dt, outputs and states; knowns are states, inputs, parameters and time.
 */
kc_fmu_status kc_fmu_derivative(kc_fmu *fmu, int adjoint, const uint32_t *unknowns, size_t n_unknowns,
                                const uint32_t *knowns, size_t n_knowns, const double *seed, double *result);

/* A copy of all that an instance may change, kc_fmu_saved_size() bytes long, with malloc(). */
size_t kc_fmu_saved_size(const kc_fmu *fmu);
void *kc_fmu_save(const kc_fmu *fmu);
kc_fmu_status kc_fmu_restore(kc_fmu *fmu, const void *saved);
/* The same from bytes; NULL where they are none of this model's. */
void *kc_fmu_read(const kc_fmu *fmu, const void *bytes, size_t size);

#endif
