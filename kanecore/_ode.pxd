# SPDX-License-Identifier: BSD-3-Clause
"""The integrators of kc_ode.h."""

from libc.stdint cimport uint32_t, uint64_t

from kanecore cimport kc_kernel, kc_status

cdef extern from "kc_ode.h" nogil:
    ctypedef struct kc_signal:
        uint32_t n_r, n_knots
        const double *knots
        const double *coefficients
        int (*call)(double t, const double *x, double *r, void *context) noexcept
        void *context

    ctypedef struct kc_system:
        kc_kernel *rhs
        uint32_t n_q, n_u, n_work
        const double *c
        const kc_signal *signal
        uint32_t n_unit
        const uint32_t *unit
        kc_kernel *project
        kc_kernel *stabilization
        double alpha, beta
        int (*interrupted)(void *context) noexcept
        void *context

    ctypedef struct kc_step:
        double t, h, end
        const double *x0
        const double *x1
        const double *dense
        int method
        const kc_system *system

    ctypedef int kc_accept(const kc_step *step, void *context) noexcept

    ctypedef struct kc_options:
        double rtol
        const double *atol
        double first_step, max_step
        uint64_t max_steps

    ctypedef struct kc_stats:
        uint64_t evaluations, accepted, rejected
        double t
        uint32_t row
        int projecting

    enum:
        KC_RK4
        KC_DOP853
        KC_RK4_DENSE
        KC_DENSE
        KC_PATIENCE

    size_t kc_ode_work(const kc_system *system)
    double kc_smallest_step(double t0, double t1)
    kc_status kc_rk4(const kc_system *system, double t0, double t1, double h, double *x, kc_accept *accept,
                     void *context, double *work, kc_stats *stats)
    kc_status kc_dop853(const kc_system *system, double t0, double t1, double *x, const kc_options *options,
                        kc_accept *accept, void *context, double *work, kc_stats *stats)
    kc_status kc_interpolate(const kc_step *step, double theta, double *x, double *work)
