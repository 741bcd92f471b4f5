/* SPDX-License-Identifier: BSD-3-Clause */
/* An instance of an FMU over a kc_model: its values, kernels, drift and steps. */
#include "kc_fmu.h"
#include "kc_fmu_facts.h"
#include "kc_fmu_parts.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef KC_FMU_SLOPES
const kc_model *KC_FMU_SLOPES(void);
#else
#define KC_FMU_SLOPES() NULL
#endif

static size_t most(size_t a, size_t b)
{
    return a > b ? a : b;
}

static int can_drift(const kc_model *m)
{
    return m->n_unit || m->n_constraints || m->n_configuration;
}

kc_system kc_fmu_system(const kc_fmu *f, const kc_signal *signal)
{
    const kc_model *m = f->model;
    return (kc_system){.rhs = m->rhs,
                       .qdot = m->qdot,
                       .n_q = m->n_q,
                       .n_u = m->n_u,
                       .n_z = m->n_z,
                       .n_work = m->n_work,
                       .c = f->c,
                       .signal = signal,
                       .n_unit = m->n_unit,
                       .unit = m->unit,
                       .project = m->project,
                       .linearize = m->linearize,
                       .rhs_time_derivative = m->rhs_time_derivative,
                       .n_constraints = m->n_constraints,
                       .n_prepared = m->n_prepared};
}

kc_fmu *kc_fmu_new(const char *token, int cosimulation, kc_fmu_log *log, void *host)
{
    static const char expected[] = KC_FMU_TOKEN;
    const kc_model *const m = kc_get_model();
    kc_fmu blank = {0};
    blank.model = m, blank.log = log, blank.host = host;
    if (token == NULL || strcmp(token, expected) != 0) {
        kc_fmu_say(&blank, KC_FMU_ERROR,
                   "the binary is that of %s, and the description of %s: export both anew", expected,
                   token ? token : "no model");
        return NULL;
    }
    const size_t n_x = (size_t)m->n_q + m->n_u + m->n_z, n_wrt = n_x + m->n_r, n_y = m->n_outputs;
    const size_t n_values = 1 + 2 * n_x + m->n_r + n_y + m->n_p + (size_t)can_drift(m);
    blank.method = kc_find_method(KC_FMU_METHOD);
    const kc_signal signal = {.n_r = m->n_r};
    const kc_system system = kc_fmu_system(&blank, &signal);
    const kc_model *const slopes = KC_FMU_SLOPES();
    const size_t n_work =
        most(kc_ode_work(&system, blank.method), most(m->n_work, slopes ? slopes->n_work : 0));
    kc_fmu own = blank;
    struct {
        double **part;
        size_t n;
    } const parts[] = {{&own.values, n_values},
                       {&own.c, m->n_prepared},
                       {&own.slopes_c, slopes ? slopes->n_prepared : 0},
                       {&own.by_wrt, n_x * n_wrt},
                       {&own.by_t, n_x},
                       {&own.by_p, n_x * m->n_p},
                       {&own.y_by_wrt, n_y * n_wrt},
                       {&own.y_by_p, n_y * (1 + (size_t)m->n_p)},
                       {&own.y_by_udot, n_y * (n_wrt + m->n_u)},
                       {&own.x_udot, n_x + m->n_u},
                       {&own.column, n_values},
                       {&own.spare, most(n_values, (size_t)2 * (m->n_configuration + m->n_velocity))},
                       {&own.coefficients, (size_t)4 * m->n_r},
                       {&own.work, n_work}};
    const size_t n_parts = sizeof parts / sizeof *parts;
    size_t total = 0;
    for (size_t i = 0; i < n_parts; i++)
        total += parts[i].n;
    kc_fmu *const f = malloc(sizeof *f);
    double *next = calloc(total, sizeof(double));
    if (f == NULL || next == NULL) {
        free(f);
        free(next);
        kc_fmu_say(&blank, KC_FMU_ERROR, "no memory for %s", m->name);
        return NULL;
    }
    for (size_t i = 0; i < n_parts; next += parts[i++].n)
        *parts[i].part = next;
    *f = own;
    f->slopes = slopes, f->cosimulation = cosimulation;
    f->n_x = (uint32_t)n_x, f->n_wrt = (uint32_t)n_wrt, f->n_values = (uint32_t)n_values;
    f->x = f->values + 1, f->xdot = f->x + n_x, f->r = f->xdot + n_x, f->y = f->r + m->n_r;
    f->p = f->y + n_y;
    f->limit = can_drift(m) ? f->p + m->n_p : NULL;
    kc_fmu_reset(f);
    return f;
}

void kc_fmu_free(kc_fmu *f)
{
    if (f != NULL)
        free(f->values);
    free(f);
}

void kc_fmu_reset(kc_fmu *f)
{
    static const double start[] = KC_FMU_START; /* x, then r */
    const kc_model *const m = f->model;
    memset(f->values, 0, sizeof(double) * f->n_values);
    memcpy(f->x, start, sizeof(double) * f->n_x);
    memcpy(f->r, start + f->n_x, sizeof(double) * m->n_r);
    memcpy(f->p, m->p_default, sizeof(double) * m->n_p);
    if (f->limit)
        *f->limit = KC_FMU_DRIFT;
    f->tolerance = KC_FMU_TOLERANCE;
    f->mode = KC_FMU_INSTANTIATED;
    f->known = 0;
}

/* ------------------------------------------------------------------------------------------ what is said */

kc_fmu_status kc_fmu_say(const kc_fmu *f, kc_fmu_status status, const char *format, ...)
{
    char message[KC_FMU_MESSAGE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (f->log)
        f->log(f->host, status, message);
    return status;
}

kc_fmu_status kc_fmu_fail(const kc_fmu *f, kc_fmu_status status, const char *what, double t, kc_status met,
                          uint32_t number)
{
    const kc_model *const m = f->model;
    const char *const name = met == KC_SINGULAR || met == KC_CHATTER
                                 ? (number < m->n_u ? m->u_names[number] : "?")
                             : number < m->n_constraints ? m->constraint_names[number]
                                                         : "?";
    switch (met) {
    case KC_SINGULAR:
        return kc_fmu_say(f, status,
                          "%s at t = %.17g: the mass matrix is singular, no pivot for the speed %s", what, t,
                          name);
    case KC_CONTRADICTORY:
        return kc_fmu_say(f, status, "%s at t = %.17g: the constraint %s contradicts others", what, t, name);
    case KC_LOST:
        return kc_fmu_say(f, status,
                          "%s at t = %.17g: the constraint %s is lost at this state, a dead point, say", what,
                          t, name);
    case KC_UNSATISFIED_ROW:
        return kc_fmu_say(f, status, "%s at t = %.17g: no speeds nearby satisfy the constraint %s", what, t,
                          name);
    case KC_UNSATISFIED_CONFIGURATION:
        return kc_fmu_say(f, status,
                          "%s at t = %.17g: no coordinates nearby satisfy configuration constraint %u", what,
                          t, (unsigned)number);
    case KC_STEP_SIZE:
        return kc_fmu_say(f, status, "%s at t = %.17g: it would need steps below rounding of t", what, t);
    case KC_MAX_STEPS:
        return kc_fmu_say(f, status, "%s at t = %.17g: more than %d steps; is the system stiff?", what, t,
                          KC_FMU_MOST_STEPS);
    case KC_JUMP:
        return kc_fmu_say(f, status, "%s at t = %.17g: the constraints ask for a jump of the state", what, t);
    case KC_STALLED:
        return kc_fmu_say(f, status, "%s at t = %.17g: the motion speeds up without end", what, t);
    case KC_CHATTER:
        return kc_fmu_say(f, status, "%s at t = %.17g: the slope of the speed %s jumps forth and back", what,
                          t, name);
    default:
        return kc_fmu_say(f, status, "%s at t = %.17g: a result is not finite", what, t);
    }
}

kc_fmu_status kc_fmu_allow(const kc_fmu *f, const char *function, int modes)
{
    static const char *const names[] = {
        "Instantiated", "Initialization Mode", "Event Mode", "Continuous-Time Mode",
        "Step Mode",    "Terminated",          "Error"};
    int i = 0;
    if (f->mode & modes)
        return KC_FMU_OK;
    while (f->mode >> i > 1)
        i++;
    return kc_fmu_say(f, KC_FMU_ERROR, "%s: not allowed in the state %s", function, names[i]);
}

/* -------------------------------------------------------------------------------------------- evaluation */

void kc_fmu_prepare(kc_fmu *f)
{
    if (f->known & PREPARED)
        return;
    kc_fmu_prepare_as(f, f->model, f->c);
    f->known |= PREPARED;
}

void kc_fmu_prepare_as(const kc_fmu *f, const kc_model *model, double *c)
{
    model->prepare(f->p, c);
    if (KC_FMU_RANK >= 0) /* where fewer rows count around the start than elsewhere */
        c[model->n_prepared - 1] = KC_FMU_RANK;
}

kc_fmu_status kc_fmu_call(kc_fmu *f, kc_kernel *kernel, const char *what, unsigned flag, double *out,
                          size_t n)
{
    if (f->known & flag)
        return KC_FMU_OK;
    kc_fmu_prepare(f);
    return kc_fmu_call_at(f, kernel, f->x, f->c, what, flag, out, n);
}

kc_fmu_status kc_fmu_call_at(kc_fmu *f, kc_kernel *kernel, const double *x, const double *c, const char *what,
                             unsigned flag, double *out, size_t n)
{
    double check = 0.0; /* NaN if any number is not finite */
    f->work[0] = 0.0;
    kernel(f->values[0], x, f->r, c, f->work, out);
    for (size_t i = 0; i < n; i++)
        check += out[i] * 0.0;
    if (f->work[0] != 0.0)
        return kc_fmu_fail(f, KC_FMU_DISCARD, what, f->values[0], (kc_status)f->work[0],
                           (uint32_t)f->work[1]);
    if (check != 0.0)
        return kc_fmu_fail(f, KC_FMU_DISCARD, what, f->values[0], KC_NONFINITE, 0);
    f->known |= flag;
    return KC_FMU_OK;
}

kc_fmu_status kc_fmu_find(kc_fmu *f, unsigned wanted)
{
    kc_fmu_status status = KC_FMU_OK;
    if (wanted & SLOPES)
        status = kc_fmu_call(f, f->model->rhs, "the derivatives of the states", SLOPES, f->xdot, f->n_x);
    if (status == KC_FMU_OK && wanted & OUTPUTS)
        status = kc_fmu_call(f, f->model->outputs, "the outputs", OUTPUTS, f->y, f->model->n_outputs);
    return status;
}

kc_fmu_status kc_fmu_start(kc_fmu *f, double t, double tolerance)
{
    if (!isfinite(t))
        return kc_fmu_say(f, KC_FMU_ERROR, "the start time is not finite");
    f->values[0] = t;
    f->tolerance = tolerance > 0.0 && isfinite(tolerance) ? tolerance : KC_FMU_TOLERANCE;
    f->known &= PREPARED;
    return KC_FMU_OK;
}

kc_fmu_status kc_fmu_get(kc_fmu *f, const uint32_t *references, size_t n, double *values)
{
    unsigned wanted = 0;
    for (size_t i = 0; i < n; i++) {
        if (references[i] >= f->n_values)
            return kc_fmu_say(f, KC_FMU_ERROR, "there is no variable %u", (unsigned)references[i]);
        wanted |= is_in(f, references[i], f->xdot, f->n_x) ? SLOPES : 0;
        wanted |= is_in(f, references[i], f->y, f->model->n_outputs) ? OUTPUTS : 0;
    }
    const kc_fmu_status status = kc_fmu_find(f, wanted);
    for (size_t i = 0; i < n && status == KC_FMU_OK; i++)
        values[i] = f->values[references[i]];
    return status;
}

/* The modes in which a variable may be set. */
static int settable(const kc_fmu *f, uint32_t reference)
{
    const int first = KC_FMU_INSTANTIATED | KC_FMU_INITIALIZING;
    if (is_in(f, reference, f->r, f->model->n_r))
        return first | KC_FMU_EVENT | KC_FMU_CONTINUOUS | KC_FMU_STEPPING;
    if (is_in(f, reference, f->p, f->model->n_p))
        return first | KC_FMU_EVENT | KC_FMU_STEPPING;
    return is_in(f, reference, f->x, f->n_x) || (f->limit && f->values + reference == f->limit) ? first : 0;
}

kc_fmu_status kc_fmu_set(kc_fmu *f, const uint32_t *references, size_t n, const double *values)
{
    for (size_t i = 0; i < n; i++) {
        if (references[i] >= f->n_values)
            return kc_fmu_say(f, KC_FMU_ERROR, "there is no variable %u", (unsigned)references[i]);
        if (!(settable(f, references[i]) & f->mode))
            return kc_fmu_say(f, KC_FMU_ERROR, "variable %u cannot be set here", (unsigned)references[i]);
        if (!isfinite(values[i]))
            return kc_fmu_say(f, KC_FMU_ERROR, "variable %u cannot be set to a value that is not finite",
                              (unsigned)references[i]);
    }
    for (size_t i = 0; i < n; i++) {
        if (f->values[references[i]] == values[i])
            continue;
        f->values[references[i]] = values[i];
        f->known &= is_in(f, references[i], f->p, f->model->n_p) ? 0 : PREPARED;
    }
    return KC_FMU_OK;
}

kc_fmu_status kc_fmu_set_time(kc_fmu *f, double t)
{
    f->known &= f->values[0] == t ? ~0u : PREPARED;
    f->values[0] = t;
    return KC_FMU_OK;
}

static kc_fmu_status check_length(const kc_fmu *f, size_t n)
{
    if (n == f->n_x)
        return KC_FMU_OK;
    return kc_fmu_say(f, KC_FMU_ERROR, "%lu values for %u states", (unsigned long)n, (unsigned)f->n_x);
}

kc_fmu_status kc_fmu_set_states(kc_fmu *f, const double *x, size_t n)
{
    if (check_length(f, n) != KC_FMU_OK)
        return KC_FMU_ERROR;
    memcpy(f->x, x, sizeof(double) * n);
    f->known &= PREPARED;
    return KC_FMU_OK;
}

kc_fmu_status kc_fmu_get_states(kc_fmu *f, double *x, size_t n)
{
    if (check_length(f, n) != KC_FMU_OK)
        return KC_FMU_ERROR;
    memcpy(x, f->x, sizeof(double) * n);
    return KC_FMU_OK;
}

kc_fmu_status kc_fmu_get_slopes(kc_fmu *f, double *xdot, size_t n)
{
    kc_fmu_status status = check_length(f, n);
    if (status == KC_FMU_OK && (status = kc_fmu_find(f, SLOPES)) == KC_FMU_OK)
        memcpy(xdot, f->xdot, sizeof(double) * n);
    return status;
}

/* ------------------------------------------------------------------------------------- copies of a state */

/* As doubles: how many values, whether of co-simulation, mode, tolerance, and the values. */
enum { HEAD = 4 };

size_t kc_fmu_saved_size(const kc_fmu *f)
{
    return sizeof(double) * (HEAD + f->n_values);
}

void *kc_fmu_save(const kc_fmu *f)
{
    double *const saved = malloc(kc_fmu_saved_size(f));
    if (saved == NULL)
        return NULL;
    saved[0] = f->n_values, saved[1] = f->cosimulation, saved[2] = f->mode, saved[3] = f->tolerance;
    memcpy(saved + HEAD, f->values, sizeof(double) * f->n_values);
    return saved;
}

kc_fmu_status kc_fmu_restore(kc_fmu *f, const void *from)
{
    const double *const saved = from;
    if (saved[1] != f->cosimulation)
        return kc_fmu_say(f, KC_FMU_ERROR, "the saved state is that of the other interface");
    f->mode = (int)saved[2], f->tolerance = saved[3];
    memcpy(f->values, saved + HEAD, sizeof(double) * f->n_values);
    f->known = 0;
    return KC_FMU_OK;
}

void *kc_fmu_read(const kc_fmu *f, const void *bytes, size_t size)
{
    double head[HEAD];
    if (size != kc_fmu_saved_size(f))
        return NULL;
    memcpy(head, bytes, sizeof head);
    const int mode = head[2] >= 1.0 && head[2] <= KC_FMU_FAILED ? (int)head[2] : 0;
    if (head[0] != f->n_values || mode == 0 || (mode & (mode - 1)) || !(head[3] > 0.0))
        return NULL;
    void *const saved = malloc(size);
    return saved ? memcpy(saved, bytes, size) : NULL;
}
