# SPDX-License-Identifier: BSD-3-Clause
"""The integrators of kc_ode.h."""

from libc.stdint cimport uint32_t, uint64_t

from kanecore cimport kc_kernel, kc_status

cdef extern from "kc_rosenbrock.h" nogil:
    ctypedef struct kc_rosenbrock:
        int stages
        const double *a
        const double *c
        const double *alpha
        const double *gamma
        const double *m

cdef extern from "kc_method.h" nogil:
    ctypedef struct kc_method:
        const char *name
        int order, uses_qdot, stages, extended
        const double *a
        const double *c
        const kc_rosenbrock *rosenbrock
        const kc_method *stiff

    const kc_method *const *kc_methods
    void kc_interpolant(const kc_method *method, double theta, double *w)

cdef extern from "kc_ode.h" nogil:
    ctypedef struct kc_signal:
        uint32_t n_r, n_knots
        const double *knots
        const double *coefficients
        int (*call)(double t, const double *x, double *r, void *context) noexcept
        void *context
        double *held
        double period

    ctypedef struct kc_system:
        kc_kernel *rhs
        kc_kernel *qdot
        uint32_t n_q, n_u, n_z, n_work
        const double *c
        const kc_signal *signal
        uint32_t n_unit
        const uint32_t *unit
        kc_kernel *project
        kc_kernel *stabilization
        double alpha, beta
        kc_kernel *linearize
        kc_kernel *rhs_time_derivative
        uint32_t n_constraints, n_prepared
        int (*interrupted)(void *context) noexcept
        void *context

    ctypedef struct kc_step:
        double t, h, end
        const double *x0
        const double *x1
        const double *dense
        const kc_method *method
        const kc_system *system

    ctypedef int kc_accept(const kc_step *step, void *context) noexcept

    ctypedef struct kc_events:
        uint32_t n
        int (*values)(double t, const double *x, const double *r, double *g, void *context) noexcept nogil
        const int *direction
        const int *stops
        int (*found)(uint32_t i, double t, double *x, void *context) noexcept nogil
        void *context
        double *work
        const double *side

    enum:
        KC_GO_ON, KC_CHANGED, KC_END

    ctypedef struct kc_plan:
        const kc_method *method
        double t0, t1, step, rtol
        const double *atol
        double max_step
        uint64_t max_steps
        kc_accept *accept
        void *context
        const kc_events *events
        const double *interpolate_from

    ctypedef struct kc_stats:
        uint64_t evaluations, accepted, rejected, jacobians, factorizations, switches
        double switched[8]
        double t
        uint32_t number

    enum:
        KC_PATIENCE
        KC_SWITCHES

    const kc_method *kc_find_method(const char *name)
    int kc_is_adaptive(const kc_method *method)
    int kc_n_dense(const kc_method *method)
    size_t kc_ode_work(const kc_system *system, const kc_method *method)
    size_t kc_events_work(const kc_system *system, uint32_t n)
    double kc_smallest_step(double t0, double t1)
    kc_status kc_integrate(const kc_system *system, const kc_plan *plan, double *x, double *work, kc_stats *stats)
    kc_status kc_interpolate(const kc_step *step, double theta, double *x, double *work)
