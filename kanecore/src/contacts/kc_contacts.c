/* SPDX-License-Identifier: BSD-3-Clause */
/* Rigid contacts: accelerations and forces of a mode, projection, and the functions whose zeros end it. */
#include "kc_contacts.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const double DEPENDENT = 1e-10; /* of the largest pivot: RANK of tolerances.py */
static const double CLEAR = 1e-6;      /* a pivot of rows of size 1 is far from dependence */
static const double OF_PLACES = 1e-13; /* of the terms of a gap or a slip: a smaller one is zero */
static const double OF_FORCES = 1e-12; /* of the terms of a force */
static const double CANCELLED = 0.1;   /* weight of terms that cancelled in the rows themselves */
static const double ROUNDED = 1e-12;   /* of the largest terms of accelerations */
static const double RELEASED = 3.0;    /* times a slow slip: a faster one has its own direction */
static const double BEYOND = 10.0;     /* times a slip that is zero with rounding: a faster one is one */

static double *gaps(const kc_contacts *k)
{
    return k->values;
}
static double *gap_terms(const kc_contacts *k)
{
    return k->values + k->n;
}
static double *speeds(const kc_contacts *k)
{
    return k->values + 2 * (size_t)k->n;
}
static double *speed_terms(const kc_contacts *k)
{
    return speeds(k) + k->n_rows;
}
static double *biases(const kc_contacts *k)
{
    return speeds(k) + 2 * (size_t)k->n_rows;
}
static double *matrix(const kc_contacts *k)
{
    return speeds(k) + 3 * (size_t)k->n_rows;
}

size_t kc_contacts_work(const kc_contacts *k)
{
    const size_t m = (size_t)k->n_constraints + k->n_rows, n_x = (size_t)k->n_q + k->n_u + k->n_z;
    return m * m + 10 * m + (size_t)k->n_constraints * (k->n_u + 1) + n_x + 2 * (size_t)k->n_q;
}

static double product(size_t n, const double *a, const double *b)
{
    double sum[4] = {0.0, 0.0, 0.0, 0.0};
    size_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (size_t j = 0; j < 4; j++)
            sum[j] += a[i + j] * b[i + j];
    for (; i < n; i++)
        sum[0] += a[i] * b[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* The sum of the sizes of the terms of a product. */
static double product_size(size_t n, const double *a, const double *b)
{
    double sum[4] = {0.0, 0.0, 0.0, 0.0};
    size_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (size_t j = 0; j < 4; j++)
            sum[j] += fabs(a[i + j] * b[i + j]);
    for (; i < n; i++)
        sum[0] += fabs(a[i] * b[i]);
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

static void evaluate_rows(const kc_contacts *k, double t, const double *x, const double *r)
{
    k->rows_work[0] = 0.0;
    k->rows(t, x, r, k->rows_c, k->rows_work, k->values);
}

/* ------------------------------------------------------------------------------------- linear equations */

/* L of M = L L', in place; 0 unless M is positive definite.  Rows of L begin where those of M do: begins (n).
 */
static int factored(size_t n, double *m, uint32_t *begins)
{
    for (size_t i = 0; i < n; i++) {
        double *const row = m + i * n;
        size_t begin = 0;
        while (begin < i && row[begin] == 0.0)
            begin++;
        begins[i] = (uint32_t)begin;
        for (size_t j = begin; j < i; j++) {
            const size_t from = begins[j] > begin ? begins[j] : begin;
            row[j] = (row[j] - product(j - from, row + from, m + j * n + from)) / m[j * n + j];
        }
        const double whole = row[i], rest = whole - product(i - begin, row + begin, row + begin);
        if (!(rest > 64.0 * DBL_EPSILON * (double)n * whole))
            return 0;
        row[i] = sqrt(rest);
    }
    return 1;
}

/* v = L^-1 v, of which the places before `first` are zero. */
static void forward(size_t n, size_t first, const double *l, const uint32_t *begins, double *v)
{
    for (size_t i = first; i < n; i++) {
        const size_t from = begins[i] > first ? begins[i] : first;
        v[i] = (v[i] - (from < i ? product(i - from, l + i * n + from, v + from) : 0.0)) / l[i * n + i];
    }
}

static void backward(size_t n, const double *l, const uint32_t *begins, double *v)
{
    for (size_t i = n; i-- > 0;) {
        v[i] /= l[i * n + i];
        for (size_t j = begins[i]; j < i; j++)
            v[j] -= l[i * n + j] * v[i];
    }
}

/* The solution of a x = b, in b, by elimination with pivots; 0 if a pivot is small, and rows may depend on
 * others. */
static int eliminated(size_t n, double *a, double *b)
{
    for (size_t k = 0; k < n; k++) {
        size_t best = k;
        for (size_t i = k + 1; i < n; i++)
            if (fabs(a[i * n + k]) > fabs(a[best * n + k]))
                best = i;
        if (!(fabs(a[best * n + k]) > CLEAR))
            return 0;
        for (size_t j = k; j < n && best != k; j++) {
            const double kept = a[best * n + j];
            a[best * n + j] = a[k * n + j], a[k * n + j] = kept;
        }
        const double kept = b[best], *const row = a + k * n;
        b[best] = b[k], b[k] = kept;
        for (size_t i = k + 1; i < n; i++) {
            const double part = a[i * n + k] / row[k];
            for (size_t j = k + 1; j < n && part != 0.0; j++)
                a[i * n + j] -= part * row[j];
            b[i] -= part * b[k];
        }
    }
    for (size_t i = n; i-- > 0;)
        b[i] = (b[i] - product(n - i - 1, a + i * n + i + 1, b + i + 1)) / a[i * n + i];
    return 1;
}

/*
 * The least solution x of a x = b with the least residual, by Householder's reflections from the left with
 * pivots, and from the right where columns depend on others (Golub & Van Loan, Matrix Computations, 4th ed.
 * 2013, 5.5). `work` has 3 n numbers.  *spread becomes the residual.  Returns the rank.
 */
static size_t least(size_t n, double *a, double *b, double *x, double *work, double *spread)
{
    double *const place = work, *const v = work + n, *const scale = work + 2 * n;
    size_t rank = 0;
    double first = 0.0;
    for (size_t j = 0; j < n; j++)
        place[j] = (double)j;
    for (; rank < n; rank++) {
        size_t best = rank;
        double most = -1.0;
        for (size_t j = rank; j < n; j++) {
            double square = 0.0;
            for (size_t i = rank; i < n; i++)
                square += a[i * n + j] * a[i * n + j];
            if (square > most)
                most = square, best = j;
        }
        const double length = sqrt(most);
        if (rank == 0)
            first = length;
        if (!(length > DEPENDENT * first))
            break;
        if (best != rank) {
            const double kept = place[best];
            place[best] = place[rank], place[rank] = kept;
            for (size_t i = 0; i < n; i++) {
                const double other = a[i * n + best];
                a[i * n + best] = a[i * n + rank], a[i * n + rank] = other;
            }
        }
        const double pivot = a[rank * n + rank], end = pivot > 0.0 ? -length : length;
        for (size_t i = rank; i < n; i++)
            v[i] = a[i * n + rank];
        v[rank] -= end;
        const double square = -end * v[rank];
        for (size_t j = rank + 1; j <= n; j++) {
            double dot = 0.0;
            for (size_t i = rank; i < n; i++)
                dot += v[i] * (j < n ? a[i * n + j] : b[i]);
            dot /= square;
            for (size_t i = rank; i < n; i++)
                *(j < n ? &a[i * n + j] : &b[i]) -= dot * v[i];
        }
        a[rank * n + rank] = end;
    }
    *spread = 0.0;
    for (size_t i = rank; i < n; i++)
        *spread = fmax(*spread, fabs(b[i]));
    for (size_t i = rank; rank < n && i-- > 0;) { /* row i keeps its diagonal alone */
        double square = a[i * n + i] * a[i * n + i];
        for (size_t j = rank; j < n; j++)
            square += a[i * n + j] * a[i * n + j];
        const double length = sqrt(square), pivot = a[i * n + i], end = pivot > 0.0 ? -length : length;
        scale[i] = -end * (pivot - end); /* half of |v|^2 */
        v[i] = pivot - end;
        for (size_t row = 0; row < i; row++) {
            double dot = a[row * n + i] * v[i];
            for (size_t j = rank; j < n; j++)
                dot += a[row * n + j] * a[i * n + j];
            dot = scale[i] != 0.0 ? dot / scale[i] : 0.0;
            a[row * n + i] -= dot * v[i];
            for (size_t j = rank; j < n; j++)
                a[row * n + j] -= dot * a[i * n + j];
        }
        a[i * n + i] = end;
    }
    for (size_t i = rank; i-- > 0;) {
        for (size_t j = i + 1; j < rank; j++)
            b[i] -= a[i * n + j] * b[j];
        b[i] /= a[i * n + i];
    }
    for (size_t i = rank; i < n; i++)
        b[i] = 0.0;
    for (size_t i = 0; rank < n && i < rank; i++) {
        double dot = b[i] * v[i];
        for (size_t j = rank; j < n; j++)
            dot += b[j] * a[i * n + j];
        dot = scale[i] != 0.0 ? dot / scale[i] : 0.0;
        b[i] -= dot * v[i];
        for (size_t j = rank; j < n; j++)
            b[j] -= dot * a[i * n + j];
    }
    for (size_t j = 0; j < n; j++)
        x[(size_t)place[j]] = b[j];
    return rank;
}

/* ------------------------------------------------------------------------------------------- the modes */

/* The results of a kernel without solution: work[0] says why. */
static void fill_with_nan(size_t n, double *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (double)NAN;
}

void kc_contacts_at(kc_contacts *k, double t, const double *x, const double *r, double *work, int all)
{
    const size_t n = k->n_u, n_c = k->n_constraints, m = n_c + k->n_rows;
    double *const g = k->work, *const gamma = g + n_c * n, *const from = gamma + n_c, *const to = from + m;
    evaluate_rows(k, t, x, r);
    k->now = t;
    work[0] = 0.0;
    k->mass_matrix(t, x, r, k->c, work, k->mass);
    if (work[0] == 0.0)
        k->forcing(t, x, r, k->c, work, k->half);
    if (work[0] == 0.0 && n_c) {
        k->jacobian(t, x, r, k->c, work, g);
        k->bias(t, x, r, k->c, work, gamma);
    }
    if (work[0] != 0.0)
        return;
    double energy =
        0.0; /* twice the kinetic energy: |v| <= sqrt(D energy) bounds the terms that cancelled in A */
    for (size_t i = 0; i < n; i++)
        energy += x[k->n_q + i] * product(n, k->mass + i * n, x + k->n_q);
    if (!factored(n, k->mass, k->begins)) {
        work[0] = (double)KC_SINGULAR, work[1] = 0.0;
        return;
    }
    forward(n, 0, k->mass, k->begins, k->half);
    memcpy(k->free, k->half, sizeof(double) * n);
    backward(n, k->mass, k->begins, k->free);
    memset(k->h, 0, sizeof(double) * m * n);
    memset(k->start, 0, sizeof(double) * m);
    memset(k->terms, 0, sizeof(double) * m);
    uint32_t contact = 0, left = k->n ? k->length[0] : 0;
    for (size_t i = 0; i < m; i++) {
        int used = 1;
        if (i >= n_c) {
            while (left == 0)
                left = k->length[++contact];
            left--;
            used = all || k->mode[contact] != KC_CONTACT_OPEN;
        }
        from[i] = to[i] = 0.0;
        if (!used)
            continue;
        const double *const row = i < n_c ? g + i * n : matrix(k) + (i - n_c) * n;
        const double bias = i < n_c ? gamma[i] : biases(k)[i - n_c];
        double *const h = k->h + i * n;
        size_t first = 0, end = n;
        while (first < n && row[first] == 0.0)
            first++;
        while (end > first && row[end - 1] == 0.0)
            end--;
        k->terms[i] = fabs(bias) + product_size(end - first, row + first, k->free + first);
        memcpy(h, row, sizeof(double) * n);
        forward(n, first, k->mass, k->begins, h);
        for (end = n; end > first && h[end - 1] == 0.0;)
            end--;
        from[i] = (double)first;
        to[i] = (double)end;
        k->start[i] = bias + product(end - first, h + first, k->half + first);
        if (i >= n_c)
            speed_terms(k)[i - n_c] +=
                CANCELLED * sqrt(fmax(energy, 0.0) * product(end - first, h + first, h + first));
    }
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j <= i; j++) {
            const size_t first = (size_t)(from[i] > from[j] ? from[i] : from[j]);
            const size_t end = (size_t)(to[i] < to[j] ? to[i] : to[j]);
            k->delassus[i * m + j] = k->delassus[j * m + i] =
                first < end ? product(end - first, k->h + i * n + first, k->h + j * n + first) : 0.0;
        }
}

/* The size of a slip that is zero but for rounding, which accelerations bring into speeds, in row `row` of
 * all. */
static double rounded_slip(const kc_contacts *k, uint32_t contact, size_t row)
{
    return k->noise[contact] + OF_FORCES * k->terms[row] * fabs(k->now - k->since);
}

/* A slower slip is at its begin or its end, and has a direction that is known. */
static double slow_slip(const kc_contacts *k, uint32_t contact, size_t row)
{
    return fmax(k->slow, BEYOND * rounded_slip(k, contact, row));
}

/* The direction of the slip of a contact, of which `row` is the first row along the ground. */
static void direction(const kc_contacts *k, uint32_t contact, size_t row, double *s)
{
    const double *const v = speeds(k) + row, *const way = k->way + 2 * (size_t)contact;
    s[0] = way[0], s[1] = 0.0;
    if (k->length[contact] < 3)
        return;
    const double begins = slow_slip(k, contact, k->n_constraints + row);
    const double part = begins > 0.0 ? hypot(v[0], v[1]) / begins : (double)INFINITY;
    const double known = begins * exp(-part * part);
    const double a = v[0] + known * way[0], b = v[1] + known * way[1], size = hypot(a, b);
    s[0] = size > 0.0 ? a / size : way[0], s[1] = size > 0.0 ? b / size : way[1];
}

/* Equations a x = b of the modes for forces scale x of the rows `equation`; returns their number. */
static size_t equations(const kc_contacts *k, const double *start, int rubs, double *a, double *b,
                        double *equation, double *scale)
{
    const size_t n_c = k->n_constraints, m = n_c + k->n_rows;
    double slip[2];
    size_t count = 0, row = n_c;
    for (size_t i = 0; i < n_c; i++)
        equation[count++] = (double)i;
    for (uint32_t i = 0; i < k->n; row += k->length[i++])
        for (size_t j = 0; j < k->length[i] && k->mode[i] != KC_CONTACT_OPEN; j++)
            if (j == 0 || k->mode[i] != KC_CONTACT_SLIDES)
                equation[count++] = (double)(row + j);
    for (size_t i = 0; i < count; i++) {
        const size_t at = (size_t)equation[i];
        const double square = k->delassus[at * m + at];
        scale[i] = square > 0.0 ? 1.0 / sqrt(square) : 0.0;
        b[i] = -scale[i] * start[at];
    }
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++)
            a[i * count + j] =
                scale[i] * scale[j] * k->delassus[(size_t)equation[i] * m + (size_t)equation[j]];
    row = n_c;
    for (uint32_t i = 0, place = 0; i < k->n; row += k->length[i++]) { /* columns of sliding contacts */
        if (k->mode[i] != KC_CONTACT_SLIDES || k->length[i] < 2 || !rubs)
            continue;
        direction(k, i, row - n_c + 1, slip);
        while ((size_t)equation[place] != row)
            place++;
        for (size_t e = 0; e < count; e++)
            for (size_t j = 1; j < k->length[i]; j++)
                a[e * count + place] -= scale[e] * scale[place] * k->mu_kin[i] * slip[j - 1] *
                                        k->delassus[(size_t)equation[e] * m + row + j];
    }
    return count;
}

void kc_contacts_solve(kc_contacts *k, const double *start, int rubs)
{
    const size_t n_c = k->n_constraints, m = n_c + k->n_rows;
    double *const a = k->work, *const b = a + m * m, *const x = b + m, *const equation = x + m,
                  *const scale = equation + m, *const room = scale + m;
    double slip[2], size = 0.0;
    size_t count = equations(k, start, rubs, a, b, equation, scale), row = n_c;
    for (size_t i = 0; i < count; i++)
        size = fmax(size, fabs(b[i]));
    k->count = k->rank = (int32_t)count, k->spread = 0.0;
    if (eliminated(count, a, b))
        memcpy(x, b, sizeof(double) * count);
    else { /* forces of redundant rows are those nearest to the reference */
        equations(k, start, rubs, a, b, equation, scale);
        for (size_t j = 0; j < count && rubs; j++) {
            const double kept = scale[j] > 0.0 ? k->reference[(size_t)equation[j]] / scale[j] : 0.0;
            for (size_t i = 0; i < count && kept != 0.0; i++)
                b[i] -= a[i * count + j] * kept;
        }
        k->rank = (int32_t)least(count, a, b, x, room, &k->spread);
        k->spread = size > 0.0 ? k->spread / size : 0.0;
        for (size_t j = 0; j < count && rubs; j++)
            x[j] += scale[j] > 0.0 ? k->reference[(size_t)equation[j]] / scale[j] : 0.0;
    }
    memset(k->force, 0, sizeof(double) * m);
    for (size_t i = 0; i < count; i++)
        k->force[(size_t)equation[i]] = scale[i] * x[i];
    for (uint32_t i = 0; i < k->n; row += k->length[i++]) {
        if (k->mode[i] != KC_CONTACT_SLIDES || k->length[i] < 2 || !rubs)
            continue;
        direction(k, i, row - n_c + 1, slip);
        for (size_t j = 1; j < k->length[i]; j++)
            k->force[row + j] = -k->mu_kin[i] * k->force[row] * slip[j - 1];
    }
    for (size_t i = 0; i < m; i++) {
        const double *const row = k->delassus + i * m;
        k->after[i] = start[i] + product(m, row, k->force);
        k->sizes[i] = fabs(start[i]) + product_size(m, row, k->force);
    }
}

int kc_contacts_relax(kc_contacts *k, const double *start, double part, int most)
{
    static const double CONVERGED = 1e-13, NEARLY = 1e-9;
    const size_t n_c = k->n_constraints, m = n_c + k->n_rows;
    double *const f = k->force, *const earlier = k->work, slip[2], moved = 0.0, largest = 0.0;
    for (int sweep = 1; sweep <= most; sweep++) {
        memcpy(earlier, f, sizeof(double) * m);
        for (size_t i = 0; i < n_c; i++) {
            const double *const d = k->delassus + i * m;
            const double w = start[i] + product(m, d, f);
            if (d[i] > 0.0)
                f[i] -= w / d[i];
        }
        size_t row = n_c;
        for (uint32_t i = 0; i < k->n; row += k->length[i++]) {
            if (k->mode[i] == KC_CONTACT_OPEN) {
                memset(f + row, 0, sizeof(double) * k->length[i]);
                continue;
            }
            const double *const d = k->delassus + row * m, before = f[row];
            const size_t length = k->length[i];
            for (size_t j = row; j < row + length && k->mode[i] == KC_CONTACT_HELD; j++) {
                const double *const each = k->delassus + j * m, w = start[j] + product(m, each, f);
                if (each[j] > 0.0)
                    f[j] -= w / each[j];
            }
            if (k->mode[i] == KC_CONTACT_HELD)
                continue;
            double own = d[row];
            if (length > 1)
                direction(k, i, row - n_c + 1, slip);
            for (size_t j = 1; j < length && k->mode[i] == KC_CONTACT_SLIDES; j++)
                own -= k->mu_kin[i] * slip[j - 1] * d[row + j];
            f[row] = fmax(k->least[i], before - (start[row] + product(m, d, f)) / (own > 0.0 ? own : d[row]));
            if (k->mode[i] == KC_CONTACT_SLIDES) {
                for (size_t j = 1; j < length; j++)
                    f[row + j] = -k->mu_kin[i] * f[row] * slip[j - 1];
                continue;
            }
            double stiff = 0.0, square = 0.0, w[2] = {0.0, 0.0};
            for (size_t j = 1; j < length; j++) {
                w[j - 1] = start[row + j] + product(m, k->delassus + (row + j) * m, f);
                stiff += k->delassus[(row + j) * (m + 1)];
            }
            for (size_t j = 1; j < length && stiff > 0.0; j++) {
                f[row + j] -= w[j - 1] / stiff;
                square += f[row + j] * f[row + j];
            }
            const double limit = isinf(k->mu[i]) ? square + 1.0 : part * k->mu[i] * f[row],
                         size = sqrt(square);
            for (size_t j = 1; j < length && size > limit; j++)
                f[row + j] *= limit / size;
        }
        moved = largest = 0.0; /* squares of changes and of forces, in units of all rows alike */
        for (size_t i = 0; i < m; i++) {
            const double change = f[i] - earlier[i], d = k->delassus[i * (m + 1)];
            moved = fmax(moved, change * change * d), largest = fmax(largest, f[i] * f[i] * d);
        }
        if (!(product(m, f, f) < 1e300)) /* no forces satisfy the laws */
            return 0;
        if (moved <= CONVERGED * CONVERGED * largest)
            return sweep;
    }
    return moved <= NEARLY * NEARLY * largest ? most : 0;
}

void kc_contacts_pushed(const kc_contacts *k, double *out)
{
    const size_t n = k->n_u, m = (size_t)k->n_constraints + k->n_rows;
    memset(out, 0, sizeof(double) * n);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n && k->force[i] != 0.0; j++)
            out[j] += k->h[i * n + j] * k->force[i];
    backward(n, k->mass, k->begins, out);
}

/* -------------------------------------------------------------------------------------- of the integrators
 */

static kc_contacts *contacts_at(const double *c)
{
    return (kc_contacts *)(uintptr_t)c;
}

static int is_free(const kc_contacts *k)
{
    for (uint32_t i = 0; i < k->n; i++)
        if (k->mode[i] != KC_CONTACT_OPEN)
            return 0;
    return 1;
}

/* Rows of closed contacts at udot, again: where great forces hold a body at rest, their sum is mostly
 * rounding. */
static void refine(kc_contacts *k)
{
    const size_t n = k->n_u, n_c = k->n_constraints, m = n_c + k->n_rows;
    double *const missed = k->work + m * m + 7 * m + n_c * (n + 1), *const kept = missed + m,
                  *const change = k->half;
    double most = 0.0, largest = 0.0;
    size_t row = n_c;
    memset(missed, 0, sizeof(double) * m);
    for (uint32_t i = 0; i < k->n; row += k->length[i++])
        for (size_t j = row; j < row + k->length[i]; j++) {
            if (k->mode[i] == KC_CONTACT_OPEN || (j > row && k->mode[i] == KC_CONTACT_SLIDES))
                continue;
            const double *const a = matrix(k) + (j - n_c) * n;
            const double size = fabs(biases(k)[j - n_c]) + product_size(n, a, k->udot);
            missed[j] = biases(k)[j - n_c] + product(n, a, k->udot);
            most = fmax(most, fabs(missed[j])), largest = fmax(largest, size);
        }
    if (!(most > ROUNDED * largest))
        return;
    memcpy(kept, k->force, sizeof(double) * m);
    memcpy(kept + m, k->sizes, sizeof(double) * m);
    kc_contacts_solve(k, missed, 0);
    kc_contacts_pushed(k, change);
    memcpy(k->force, kept, sizeof(double) * m);
    memcpy(k->sizes, kept + m, sizeof(double) * m);
    for (size_t i = 0; i < n; i++)
        k->udot[i] += change[i];
}

/* Accelerations and forces of the modes; k->udot. */
static void move(kc_contacts *k, double t, const double *x, const double *r, double *work)
{
    kc_contacts_at(k, t, x, r, work, 0);
    if (work[0] != 0.0)
        return;
    kc_contacts_solve(k, k->start, 1);
    kc_contacts_pushed(k, k->udot);
    for (uint32_t i = 0; i < k->n_u; i++)
        k->udot[i] += k->free[i];
    refine(k);
}

void kc_contacts_rhs(double t, const double *x, const double *r, const double *c, double *work, double *out)
{
    kc_contacts *const k = contacts_at(c);
    if (is_free(k)) {
        k->rhs(t, x, r, k->c, work, out);
        return;
    }
    move(k, t, x, r, work);
    if (work[0] != 0.0) {
        fill_with_nan((size_t)k->n_q + k->n_u + k->n_z, out);
        return;
    }
    k->qdot(t, x, r, k->c, work, out);
    memcpy(out + k->n_q, k->udot, sizeof(double) * k->n_u);
    if (k->n_z)
        k->zdot(t, x, r, k->c, work, out + k->n_q + k->n_u);
}

void kc_contacts_qdot(double t, const double *x, const double *r, const double *c, double *work, double *out)
{
    const kc_contacts *const k = contacts_at(c);
    k->qdot(t, x, r, k->c, work, out);
}

/* k->udot becomes the least change of speeds, in the metric of the masses, by which the rows of the modes
 * change by -missed. */
static void hold(kc_contacts *k, const double *missed)
{
    kc_contacts_solve(k, missed, 0);
    kc_contacts_pushed(k, k->udot);
}

void kc_contacts_project(double t, const double *x, const double *r, const double *c, double *work,
                         double *out)
{
    enum { STEPS = 3 };
    kc_contacts *const k = contacts_at(c);
    const size_t n_q = k->n_q, n_u = k->n_u, n_x = n_q + n_u + k->n_z, n_c = k->n_constraints,
                 m = n_c + k->n_rows;
    double *const moved = k->work + m * m + 7 * m + n_c * (n_u + 1), *const way = moved + n_x,
                  *const still = way + n_q, *const missed = still + n_q;
    if (k->project)
        k->project(t, x, r, k->c, work, out);
    else
        memcpy(out, x, sizeof(double) * n_x);
    if (is_free(k) || (k->project && work[0] != 0.0))
        return;
    for (int step = 0; step < STEPS; step++) { /* gaps of closed contacts */
        double most = 0.0;
        evaluate_rows(k, t, out, r);
        for (uint32_t i = 0; i < k->n; i++)
            if (k->mode[i] != KC_CONTACT_OPEN && (k->placed[i] & KC_GAP_PLACED) &&
                fabs(gaps(k)[i]) > 4.0 * DBL_EPSILON * gap_terms(k)[i])
                most = 1.0;
        if (most == 0.0)
            break;
        kc_contacts_at(k, t, out, r, work, 0);
        if (work[0] != 0.0) {
            fill_with_nan(n_x, out);
            return;
        }
        size_t row = n_c;
        memset(missed, 0, sizeof(double) * m);
        for (uint32_t i = 0; i < k->n; row += k->length[i++])
            missed[row] = k->mode[i] != KC_CONTACT_OPEN && (k->placed[i] & KC_GAP_PLACED) ? gaps(k)[i] : 0.0;
        hold(k, missed);
        memcpy(moved, out, sizeof(double) * n_x);
        memset(moved + n_q, 0, sizeof(double) * n_u);
        k->qdot(t, moved, r, k->c, work, still);
        memcpy(moved + n_q, k->udot, sizeof(double) * n_u);
        k->qdot(t, moved, r, k->c, work, way);
        for (size_t i = 0; i < n_q; i++)
            out[i] += way[i] - still[i];
    }
    kc_contacts_at(k, t, out, r, work, 0);
    if (work[0] != 0.0) {
        fill_with_nan(n_x, out);
        return;
    }
    memset(missed, 0, sizeof(double) * m);
    memcpy(missed + n_c, speeds(k), sizeof(double) * k->n_rows);
    hold(k, missed);
    for (size_t i = 0; i < n_u; i++)
        out[n_q + i] += k->udot[i];
}

void kc_contacts_laws(kc_contacts *k, double *g)
{
    const size_t n_c = k->n_constraints, m = n_c + k->n_rows;
    size_t row = n_c;
    for (uint32_t i = 0; i < k->n; row += k->length[i++], g += 2) {
        const double *const v = speeds(k) + row - n_c, *const of_v = speed_terms(k) + row - n_c;
        g[0] = g[1] = 1.0;
        if (k->mode[i] == KC_CONTACT_HELD)
            continue;
        if (k->mode[i] == KC_CONTACT_OPEN) {
            if (!(k->placed[i] & KC_GAP_UNWATCHED))
                g[0] = gaps(k)[i] + OF_PLACES * gap_terms(k)[i];
            continue;
        }
        const double weak = OF_FORCES * (k->terms[row] + k->sizes[row]) / k->delassus[row * m + row];
        g[0] = k->force[row] + weak;
        if (k->length[i] == 1)
            continue;
        if (k->mode[i] == KC_CONTACT_CLOSED) {
            double limit = weak, square = 0.0;
            if (isinf(k->mu[i]))
                continue;
            for (size_t j = 1; j < k->length[i]; j++) {
                const double size = k->terms[row + j] + k->sizes[row + j],
                             own = k->delassus[(row + j) * (m + 1)];
                limit += own > 0.0 ? OF_FORCES * size / own : 0.0;
                square += k->force[row + j] * k->force[row + j];
            }
            limit += k->mu[i] * k->force[row];
            g[1] = limit * fabs(limit) - square;
        } else if (k->length[i] == 2) {
            g[1] = k->way[2 * (size_t)i] * v[1] + OF_PLACES * of_v[1] + rounded_slip(k, i, row + 1);
        } else {
            const double *const way = k->way + 2 * (size_t)i, size = hypot(v[1], v[2]);
            const double slow = slow_slip(k, i, row + 1);
            const double forth = way[0] * v[1] + way[1] * v[2] + rounded_slip(k, i, row + 1) +
                                 rounded_slip(k, i, row + 2) + OF_PLACES * (of_v[1] + of_v[2]);
            g[1] = way[0] != 0.0 || way[1] != 0.0 ? fmin(forth, RELEASED * slow - size) : size - slow;
        }
    }
}

void kc_contacts_values(kc_contacts *k, double t, const double *x, const double *r, double *work, double *g)
{
    if (is_free(k))
        evaluate_rows(k, t, x, r);
    else
        move(k, t, x, r, work);
    kc_contacts_laws(k, g);
}
