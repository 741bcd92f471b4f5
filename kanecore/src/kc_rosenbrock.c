/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A step of a linearly implicit method: the derivatives of the right-hand side at its beginning, one
 * factorization, and a system of linear equations for each stage.
 */
#include "kc_rosenbrock.h"

/* Data that a step keeps in s->own. */
typedef struct rosenbrock_work {
    double *jacobian; /* (n, n + n_r) df/dx and df/dr; as long as steps are tried from one state */
    double *rate;     /* (n) df/dt, that of the inputs included */
    double *rdot;     /* (n_r) */
    double *matrix;   /* (n, n) the factors of 1 / (h gamma) - df/dx */
    double *size;     /* (n) of the rows of that matrix */
    double *pivot;    /* (n) the row that came to each place */
} rosenbrock_work;

static rosenbrock_work parts_of(const kc_stride *s)
{
    const size_t n = kc_n_x(s->run->system), n_r = s->run->system->signal->n_r;
    rosenbrock_work p;
    p.jacobian = s->own;
    p.rate = p.jacobian + n * (n + n_r);
    p.rdot = p.rate + n;
    p.matrix = p.rdot + n_r;
    p.size = p.matrix + n * n;
    p.pivot = p.size + n;
    return p;
}

size_t kc_rosenbrock_work(const kc_system *system)
{
    const size_t n = kc_n_x(system), n_r = system->signal->n_r;
    return n * (n + n_r) + n + n_r + n * n + n + n;
}

/* ------------------------------------------------------------------------------------------ derivatives */

/* The derivatives of the inputs, which are cubics. */
static void input_rates(const kc_run *run, double t, double *rdot)
{
    const kc_signal *signal = run->system->signal;
    const double s = signal->n_knots ? t - signal->knots[run->interval] : 0.0;
    const double *cubic = signal->coefficients + (size_t)4 * run->interval * signal->n_r;
    for (uint32_t i = 0; i < signal->n_r; i++, cubic += 4)
        rdot[i] = cubic[1] + s * (2.0 * cubic[2] + 3.0 * s * cubic[3]);
}

static kc_status all_finite(size_t n, const double *v)
{
    double check = 0.0; /* NaN if any is not finite */
    for (size_t i = 0; i < n; i++)
        check += v[i] * 0.0;
    return check == 0.0 ? KC_OK : KC_NONFINITE;
}

/* (f(t + dt, x + dx e_j) - f(t - dt, x - dx e_j)) / width in `slope`; s->x1 and s->y serve as room. */
static kc_status difference(const kc_stride *s, double dt, uint32_t j, double dx, double *slope)
{
    const uint32_t n = kc_n_x(s->run->system);
    const double ahead = s->x[j] + dx, behind = s->x[j] - dx, later = s->t + dt, earlier = s->t - dt;
    const double width = dt != 0.0 ? later - earlier : ahead - behind;
    memcpy(s->y, s->x, sizeof(double) * n);
    s->y[j] = behind;
    kc_status status = kc_evaluate(s->run, earlier, s->y, s->x1);
    if (status != KC_OK)
        return status;
    s->y[j] = ahead;
    if ((status = kc_evaluate(s->run, later, s->y, slope)) != KC_OK)
        return status;
    for (uint32_t i = 0; i < n; i++)
        slope[i] = (slope[i] - s->x1[i]) / width;
    return KC_OK;
}

/*
 * df/dx and df/dt by differences of `rhs` at the beginning of the step.  Off the constraints `rhs` depends on
 * its choice of rows that are equivalent on them.  `linearize` may choose other rows, and a method that uses
 * its matrix as the derivative of `rhs` loses its order.
 */
static kc_status differences(const kc_stride *s, const rosenbrock_work *p)
{
    const uint32_t n = kc_n_x(s->run->system), n_r = s->run->system->signal->n_r;
    const kc_plan *const plan = s->plan;
    const double h = s->next - s->t, root = 0x1p-17; /* the cube root of rounding: the error is its square */
    double *const slope = p->size;                   /* which factor() fills later */
    s->run->stats->jacobians++;
    for (uint32_t j = 0; j < n; j++) {
        /* a coordinate of zero has the size at which both tolerances are equal */
        const double small = plan->rtol > 0.0 ? plan->atol[j] / plan->rtol : plan->atol[j];
        const double size = fmax(fmax(fabs(s->x[j]), small), fabs(h * s->k[j]));
        const kc_status status = difference(s, 0.0, j, fmax(root * size, DBL_MIN), slope);
        if (status != KC_OK)
            return status;
        for (uint32_t i = 0; i < n; i++)
            p->jacobian[i * (n + n_r) + j] = slope[i];
    }
    return difference(s, fmax(0x1p-10 * fabs(h), 8.0 * DBL_EPSILON * fabs(s->t)), 0, 0.0, p->rate);
}

/* Whether rows of G follow from others. */
static int is_redundant(const kc_system *s)
{
    return s->n_constraints > 0 && s->c[s->n_prepared - 1] < s->n_constraints;
}

/* df/dx, and df/dt + df/dr dr/dt as far as known, at the beginning of the step. */
static kc_status differentiate(const kc_stride *s, const rosenbrock_work *p)
{
    const kc_run *run = s->run;
    const kc_system *system = run->system;
    const int asks =
        system->signal->call && !system->signal->held; /* the dependence of inputs on x is unknown */
    if (!system->linearize || (is_redundant(system) && !asks)) {
        const kc_status found = differences(s, p);
        if (found == KC_OK || found == KC_STOPPED || !system->linearize)
            return found;
    }
    const size_t n = kc_n_x(system), n_r = system->signal->n_r;
    kc_status status = kc_inputs(run, s->t, s->x);
    if (status != KC_OK)
        return status;
    run->stats->jacobians++;
    run->kernel_work[0] = 0.0;
    system->linearize(s->t, s->x, run->r, system->c, run->kernel_work, p->jacobian);
    if ((status = kc_solved(run)) != KC_OK || (status = all_finite(n * (n + n_r), p->jacobian)) != KC_OK)
        return status;
    system->rhs_time_derivative(s->t, s->x, run->r, system->c, run->kernel_work, p->rate);
    if ((status = kc_solved(run)) != KC_OK)
        return status;
    if (!system->signal->call) {
        input_rates(run, s->t, p->rdot);
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n_r; j++)
                p->rate[i] += p->jacobian[i * (n + n_r) + n + j] * p->rdot[j];
    }
    return all_finite(n, p->rate);
}

/* --------------------------------------------------------------------------------------- linear equations */

/*
 * The factors of 1 / (h gamma) - J in p->matrix, by Gaussian elimination.  The pivot is the entry that is
 * largest in proportion to its row, so that the units of the rows do not matter.  KC_NONFINITE without a
 * pivot.
 */
static kc_status factor(const rosenbrock_work *p, size_t n, size_t n_r, double diagonal)
{
    double *const restrict w = p->matrix, *const restrict size = p->size;
    for (size_t i = 0; i < n; i++) {
        double largest = 0.0;
        for (size_t j = 0; j < n; j++)
            w[i * n + j] = -p->jacobian[i * (n + n_r) + j];
        w[i * n + i] += diagonal;
        for (size_t j = 0; j < n; j++)
            largest = fmax(largest, fabs(w[i * n + j]));
        size[i] = largest;
    }
    for (size_t k = 0; k < n; k++) {
        size_t best = k;
        double share = 0.0;
        for (size_t i = k; i < n; i++) {
            const double candidate = fabs(w[i * n + k]) / size[i];
            if (candidate > share)
                best = i, share = candidate;
        }
        if (share == 0.0)
            return KC_NONFINITE;
        p->pivot[k] = (double)best;
        if (best != k) {
            for (size_t j = 0; j < n; j++) {
                const double entry = w[k * n + j];
                w[k * n + j] = w[best * n + j];
                w[best * n + j] = entry;
            }
            size[best] = size[k];
        }
        const double inverse = 1.0 / w[k * n + k], *const row = w + k * n;
        for (size_t i = k + 1; i < n; i++) {
            double *const other = w + i * n;
            if (other[k] == 0.0) /* as most of the rows of qdot = u are */
                continue;
            const double ratio = other[k] *= inverse;
            for (size_t j = k + 1; j < n; j++)
                other[j] -= ratio * row[j];
        }
    }
    return KC_OK;
}

/* v becomes the solution for the right-hand side v. */
static void solve(const rosenbrock_work *p, size_t n, double *restrict v)
{
    const double *const restrict w = p->matrix;
    for (size_t i = 0; i < n; i++) {
        const size_t from = (size_t)p->pivot[i];
        const double entry = v[from];
        v[from] = v[i];
        v[i] = entry;
    }
    for (size_t i = 1; i < n; i++) {
        double sum = v[i];
        for (size_t j = 0; j < i; j++)
            sum -= w[i * n + j] * v[j];
        v[i] = sum;
    }
    for (size_t i = n; i-- > 0;) {
        double sum = v[i];
        for (size_t j = i + 1; j < n; j++)
            sum -= w[i * n + j] * v[j];
        v[i] = sum / w[i * n + i];
    }
}

/* ------------------------------------------------------------------------------------------------- a step */

kc_status kc_rosenbrock_step(const kc_stride *s)
{
    const kc_rosenbrock *m = s->method->rosenbrock;
    const rosenbrock_work p = parts_of(s);
    const uint32_t n = kc_n_x(s->run->system);
    const double h = s->next - s->t;
    double *const u = s->k + n;
    kc_status status = s->again ? KC_OK : differentiate(s, &p);
    if (status != KC_OK)
        return status;
    s->run->stats->factorizations++;
    status = factor(&p, n, s->run->system->signal->n_r, 1.0 / (h * m->gamma[0]));
    for (int i = 0; status == KC_OK && i < m->stages; i++) {
        const double *const a = m->a + i * m->stages, *const c = m->c + i * m->stages;
        double *const restrict ui = u + (uint32_t)i * n;
        if (i == 0)
            memcpy(ui, s->k, sizeof(double) * n);
        else {
            kc_advance(n, s->x, 1.0, a, i, u, s->y);
            status = kc_evaluate(s->run, s->t + m->alpha[i] * h, s->y, ui);
        }
        for (int j = 0; j < i; j++) {
            const double factor = c[j] / h, *const uj = u + (uint32_t)j * n;
            for (uint32_t l = 0; l < n; l++)
                ui[l] += factor * uj[l];
        }
        for (uint32_t l = 0; l < n; l++)
            ui[l] += h * m->gamma[i] * p.rate[l];
        solve(&p, n, ui);
    }
    if (status == KC_OK)
        kc_advance(n, s->x, 1.0, m->m, m->stages, u, s->x1);
    return status;
}

double kc_rosenbrock_error(const kc_stride *s, const kc_plan *plan)
{
    const kc_rosenbrock *m = s->method->rosenbrock;
    const uint32_t n = kc_n_x(s->run->system);
    const double *const u = s->k + n;
    double sum = 0.0;
    for (uint32_t i = 0; i < n; i++) {
        double e = 0.0;
        for (int j = 0; j < m->stages; j++)
            e += m->e[j] * u[(uint32_t)j * n + i];
        e /= kc_tolerance(plan, i, s->x[i], s->x1[i]);
        sum += e * e;
    }
    return sqrt(sum / n);
}

/*
 * By the power method, from a direction that is hardly normal to any eigenvector.  Two products together give
 * the size of a pair of complex eigenvalues as well.
 */
double kc_rosenbrock_reach(const kc_stride *s, const kc_plan *plan)
{
    enum { PRODUCTS = 6 };
    const rosenbrock_work p = parts_of(s);
    const size_t n = kc_n_x(s->run->system), width = n + s->run->system->signal->n_r;
    double *v = p.size, *w = p.pivot, sizes[PRODUCTS]; /* the factors are no longer needed */
    for (size_t i = 0; i < n; i++)
        v[i] = (1.0 + fmod(0.618033988749895 * (double)(i + 1), 1.0)) *
               kc_tolerance(plan, (uint32_t)i, s->x[i], s->x1[i]);
    for (int k = 0; k < PRODUCTS; k++) {
        double sum = 0.0;
        for (size_t i = 0; i < n; i++) {
            w[i] = 0.0;
            for (size_t j = 0; j < n; j++)
                w[i] += p.jacobian[i * width + j] * v[j];
            const double e = w[i] / kc_tolerance(plan, (uint32_t)i, s->x[i], s->x1[i]);
            sum += e * e;
        }
        sizes[k] = sqrt(sum);
        if (sizes[k] == 0.0)
            return 0.0;
        for (size_t i = 0; i < n; i++)
            v[i] = w[i] / sizes[k];
    }
    return fabs(s->next - s->t) * sqrt(sizes[PRODUCTS - 1] * sizes[PRODUCTS - 2]);
}

kc_status kc_rosenbrock_dense(const kc_stride *s)
{
    const kc_rosenbrock *m = s->method->rosenbrock;
    const uint32_t n = kc_n_x(s->run->system);
    const double *const u = s->k + n;
    for (int k = 0; k < m->n_dense; k++)
        for (uint32_t i = 0; i < n; i++) {
            double sum = 0.0;
            for (int j = 0; j < m->stages; j++)
                sum += m->d[k * m->stages + j] * u[(uint32_t)j * n + i];
            s->dense[(uint32_t)k * n + i] = sum;
        }
    return KC_OK;
}

void kc_rosenbrock_interpolate(const kc_step *step, double theta, double *x)
{
    const uint32_t n = kc_n_x(step->system);
    const int n_dense = step->method->rosenbrock->n_dense;
    for (uint32_t i = 0; i < n; i++) {
        double sum = 0.0;
        for (int k = n_dense; k-- > 0;)
            sum = sum * theta + step->dense[(uint32_t)k * n + i];
        x[i] = (1.0 - theta) * step->x0[i] + theta * (step->x1[i] + (1.0 - theta) * sum);
    }
}
