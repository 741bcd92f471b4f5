/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kc_player.c: the machine and the integrators for a page, which lays the code of one model into their
 * memory. `python -m kanecore.build.web_player` compiles it to pysrc/kanecore/live/player.wasm.
 *
 * A page calls open_code(), writes parameters, prepares, writes a state, and advances it.  It sees the arrays
 * of `enum view` as they are.  Nothing is freed: a page has one model.
 */
#include "interpreter/kc_interpreter.h"
#include "kc_ode.h"

#include <math.h>
#include <string.h>

#define EXPORT(name) __attribute__((export_name(#name)))
#define MACHINE      kc_machine_plain

/* The page's clock, in milliseconds. */
__attribute__((import_module("env"), import_name("now"))) double now(void);

/* What the code must have been written for: the names of the operations, in order. */
#define KC_NAME_OF(name, operands, results) #name " "
static const char OPERATIONS[] = KC_OPERATIONS(KC_NAME_OF);

/* The sources of this file, see web_player.py. */
EXPORT(sources) const char *sources(void)
{
    return "kanecore player of " KC_SOURCES;
}

/* ------------------------------------------------------------------------------------------------- memory */

extern unsigned char __heap_base;

/* Zeros. */
EXPORT(allocate) void *allocate(size_t n)
{
    enum { ALIGNMENT = 16, PAGE = 65536 };
    static size_t top;
    if (!top)
        top = (size_t)&__heap_base;
    const size_t at = (top + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT, end = at + n;
    const size_t there = __builtin_wasm_memory_size(0) * PAGE;
    if (end > there && __builtin_wasm_memory_grow(0, (end - there + PAGE - 1) / PAGE) == (size_t)-1)
        __builtin_trap();
    top = end;
    return memset((void *)at, 0, n);
}

static double *reals(size_t n)
{
    return allocate(sizeof(double) * (n + 1));
}

/* -------------------------------------------------------------------------------------------------- model */

/* Kernels of a page, by the numbers of live_code.py; a model may lack some. */
enum kernel {
    RHS,
    QDOT,
    FORWARD_DYNAMICS,
    PROJECT,
    KINETIC_ENERGY,
    POTENTIAL_ENERGY,
    POWER,
    POSITIONS,
    ORIENTATIONS,
    JOINT_POSITIONS,
    PARTIAL_VELOCITIES,
    PARTIAL_ANGULAR_VELOCITIES,
    CONFIGURATION_RESIDUAL,
    VELOCITY_RESIDUAL,
    OUTPUTS,
    LINEARIZE,
    RHS_TIME_DERIVATIVE,
    ZDOT,
    N_KERNELS
};

/* The sizes of the model, in the order of the code. */
static struct {
    uint32_t n_q, n_u, n_r, n_p, n_prepared, n_points, n_frames, n_joints, n_outputs, n_configuration,
        n_velocity, n_z;
} size;

/* Arrays that the page reads and writes, by the numbers of machine.js. */
enum view {
    TIME,
    STATE,
    PARAMETERS,
    INPUTS,  /* as sliders hold them */
    APPLIED, /* with motions, signals and feedback */
    PLACES,  /* of points */
    AXES,    /* of frames */
    JOINTS,
    ENERGIES, /* T, U, and the work of loads without a potential since the start */
    POWERS,
    RESIDUALS,
    OUTPUT_VALUES,
    SLOPES,  /* the last right-hand side */
    GAIN,    /* (n_r, n_x) */
    ABOUT,   /* (n_x) */
    GRIP,    /* the held place, in the axes of its body, and the place it is drawn to, in inertial axes */
    SAMPLES, /* (MOST_SAMPLES, 1 + n_x): t and x between the ends of the last run */
    N_VIEWS
};
enum { MOST_SAMPLES = 64 };
static double *view[N_VIEWS];

static kc_machine machine;
static double *prepared, *work, *beyond, *spare, *columns, *signals, *errors;
static uint32_t n_unit, *unit, n_x;
static int has[N_KERNELS];

EXPORT(view_of) double *view_of(int which)
{
    return view[which];
}

/* --------------------------------------------------------------------------------------------------- code */

/* Words of the code that is read, and how much scratch each function takes. */
static const uint32_t *word;
static uint32_t *rooms;
static kc_coded_function *functions;
static int n_callables, broken;

static uint32_t number(void)
{
    return *word++;
}

/* An array, which stands after its length; arrays of doubles begin at multiples of eight bytes. */
static const void *array(size_t bytes, uint32_t *n)
{
    *n = number();
    if (bytes == sizeof(double) && (size_t)word % sizeof(double))
        word++;
    const void *const at = word;
    word += (*n * bytes + 3) / 4;
    return at;
}

static const char *text(void)
{
    uint32_t n;
    return array(1, &n);
}

static const void *read_splines(uint32_t *n)
{
    *n = number();
    char *const splines = allocate(*n * MACHINE.spline);
    for (uint32_t i = 0, length; i < *n; i++) {
        char *const spline = splines + i * MACHINE.spline;
        const uint32_t n_axes = number();
        for (uint32_t axis = 0; axis < n_axes; axis++) {
            const double *const knots = array(sizeof(double), &length);
            MACHINE.fill_axis(spline, (int)axis, knots, (int)length);
        }
        const double *const hermite = array(sizeof(double), &length);
        MACHINE.fill_spline(spline, hermite, (int)number());
    }
    return splines;
}

static uint32_t n_loads(const uint32_t *list)
{
    uint32_t n = 0;
    for (; *list != KC_ARRAYS; list += 2 + list[1])
        n += list[1];
    return n;
}

static uint32_t read_program(kc_coded_function *f, uint32_t n_splines)
{
    uint32_t widest = 0, n;
    f->way = KC_PROGRAM, f->clear = number(), f->width = number(), f->n_parts = (int)number();
    kc_coded_part *const parts = allocate((size_t)f->n_parts * sizeof(kc_coded_part));
    f->parts = parts;
    for (int i = 0; i < f->n_parts; i++) {
        kc_coded_part *const part = parts + i;
        part->constants = array(sizeof(double), &part->n_constants);
        part->loads = array(sizeof(uint32_t), &n);
        part->stores = array(sizeof(uint32_t), &n);
        part->code = array(sizeof(uint16_t), &n);
        const uint32_t made = kc_check_code(part, n_loads(part->loads), n, n_splines);
        broken |= made == 0;
        widest = made > widest ? made : widest;
    }
    return f->width + widest;
}

static int find_way(const char *name)
{
    int i = 0;
    while (MACHINE.ways[i].name && strcmp(MACHINE.ways[i].name, name) != 0)
        i++;
    return i;
}

/* One member of a structure; of a function its number, else -1. */
static int read_member(const kc_coded_way *way, char *structure)
{
    const char *const name = text();
    const kc_coded_member *member = way->members;
    while (member->name && strcmp(member->name, name) != 0)
        member++;
    if (!member->name) {
        broken = 1;
        return -1;
    }
    uint32_t n;
    int called = -1;
    const void *address;
    if (member->kind == KC_NUMBER) {
        *(int *)(void *)(structure + member->offset) = (int)number();
        return -1;
    }
    if (member->kind == KC_FUNCTION) {
        called = (int)number();
        machine.functions[n_callables] = functions + called;
        address = (const void *)MACHINE.functions[n_callables++];
    } else
        address = array(member->kind == KC_REALS ? sizeof(double) : sizeof(int32_t), &n);
    memcpy(structure + member->offset, &address, sizeof(address));
    return called;
}

static uint32_t read_way(kc_coded_function *f, const char *name)
{
    f->way = find_way(name);
    const kc_coded_way *const way = MACHINE.ways + f->way;
    if (!way->name) {
        broken = 1;
        return 0;
    }
    char *const structure = allocate(way->size);
    f->structure = structure;
    if (number()) {
        void *const equations = allocate(MACHINE.equations);
        const uint32_t *const e = word;
        MACHINE.fill_equations(equations, (int)e[0], (int)e[1], (int)e[2], (int)e[3], (int)e[4]);
        f->equations = equations;
        word += 5;
    }
    uint32_t n_sizes, n_instead, behind = 0, most = 0;
    const int *const sizes = array(sizeof(int), &n_sizes);
    const uint32_t *const instead = array(sizeof(uint32_t), &n_instead);
    for (uint32_t left = number(); left && !broken; left--) {
        const int called = read_member(way, structure);
        if (called < 0)
            continue;
        int takes_all = 0;
        for (uint32_t i = 0; i < n_instead; i++)
            takes_all |= instead[i] == (uint32_t)called;
        uint32_t *const room = takes_all ? &most : &behind;
        *room = rooms[called] > *room ? rooms[called] : *room;
    }
    const uint32_t own = (uint32_t)way->room(sizes) + behind;
    return own > most ? own : most;
}

static const kc_coded_function *function_of(uint32_t i)
{
    return i == UINT32_MAX ? NULL : functions + i;
}

/* How many there are. */
static uint32_t read_functions(void)
{
    uint32_t n_splines;
    const void *const splines = read_splines(&n_splines);
    const uint32_t n = number();
    functions = allocate(n * sizeof(kc_coded_function));
    rooms = allocate((n + 1) * sizeof(uint32_t));
    for (uint32_t i = 0; i < n && !broken; i++) {
        const char *const way = text();
        functions[i].splines = splines;
        rooms[i] = *way ? read_way(functions + i, way) : read_program(functions + i, n_splines);
    }
    return n;
}

static void read_kernels(void)
{
    for (uint32_t left = number(); left; left--) {
        const uint32_t kernel = number(), function = number(), before = number(), offset = number(),
                       n = number();
        machine.kernels[kernel] = (kc_coded_kernel){functions + function, function_of(before), offset, n};
        has[kernel] = 1;
    }
    const uint32_t preparing = number(), counting = number();
    machine.prepare = function_of(preparing), machine.counting = function_of(counting);
    machine.n_prepared = size.n_prepared;
    machine.prepare_room = machine.prepare ? rooms[preparing] + 1 : 1;
    if (machine.counting && rooms[counting] > machine.prepare_room)
        machine.prepare_room = rooms[counting];
}

static uint32_t n_work; /* of a kernel */

static void make_room(uint32_t n_functions)
{
    const uint32_t n_r = size.n_r, n_u = size.n_u;
    n_x = size.n_q + n_u + size.n_z;
    n_work = 2;
    for (uint32_t i = 0; i < n_functions; i++)
        n_work = 2 + rooms[i] > n_work ? 2 + rooms[i] : n_work;
    const size_t lengths[N_VIEWS] = {
        [TIME] = 1,
        [STATE] = n_x,
        [PARAMETERS] = size.n_p,
        [INPUTS] = n_r,
        [APPLIED] = n_r,
        [PLACES] = 3 * size.n_points,
        [AXES] = 9 * size.n_frames,
        [JOINTS] = 3 * size.n_joints,
        [ENERGIES] = 3,
        [POWERS] = 1,
        [RESIDUALS] = size.n_configuration + size.n_velocity,
        [OUTPUT_VALUES] = size.n_outputs,
        [SLOPES] = n_x,
        [GAIN] = n_r * n_x,
        [ABOUT] = n_x,
        [GRIP] = 6,
        [SAMPLES] = (size_t)MOST_SAMPLES * (1 + n_x),
    };
    for (int i = 0; i < N_VIEWS; i++)
        view[i] = reals(lengths[i]);
    prepared = reals(size.n_prepared);
    prepared[0] = (double)(size_t)&machine;
    work = reals(n_work);
    beyond = reals(n_x + n_u);
    spare = reals(2 * n_x);
    columns = reals((size_t)3 * n_u);
    signals = reals(n_r), errors = reals(n_x);
}

/* 0; 1 where the code is for another player; 2 where it is no code. */
EXPORT(open_code) int open_code(const uint32_t *code)
{
    word = code;
    if (strcmp(text(), OPERATIONS) != 0)
        return 1;
    memcpy(&size, word, sizeof(size));
    word += sizeof(size) / sizeof(uint32_t);
    uint32_t n;
    unit = (uint32_t *)array(sizeof(uint32_t), &n);
    n_unit = n / 4;
    const uint32_t n_functions = read_functions();
    if (broken)
        return 2;
    read_kernels();
    make_room(n_functions);
    return 0;
}

EXPORT(has_kernel) int has_kernel(int kernel)
{
    return has[kernel];
}

/* --------------------------------------------------------------------------------------------- evaluation */

static int all_finite(const double *a, uint32_t n)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < n; i++)
        sum += 0.0 * a[i];
    return sum == 0.0;
}

/* A kernel, if the model has it; a kc_status. */
static int evaluate(int kernel, double t, const double *x, const double *r, double *w, double *out)
{
    if (!has[kernel])
        return 0;
    w[0] = 0.0;
    MACHINE.kernels[kernel](t, x, r, prepared, w, out);
    return (int)w[0];
}

/* The constants that follow from the parameters. */
EXPORT(prepare) int prepare(void)
{
    MACHINE.prepare(view[PARAMETERS], prepared);
    return all_finite(prepared + 1, size.n_prepared - 1) ? KC_OK : KC_NONFINITE;
}

/* ------------------------------------------------------------------------------------------------- inputs */

/* Inputs that are cubics between knots, and of each whether it is one. */
static uint32_t n_knots;
static const double *knots, *cubics;
static const uint32_t *is_cubic;

/*
 * A prescribed motion that a slider moves: an input and its rates, of which there are n, follow a polynomial
 * in the time since `start`, and after `span` the last rate that it reached there.
 */
typedef struct glide {
    double start, span, coefficients[6];
    int32_t inputs[4]; /* the motion, its rates, -1 */
} glide;
static uint32_t n_glides;
static glide *glides;

static int has_feedback;

EXPORT(set_signals)
void set_signals(uint32_t n, const double *at, const double *coefficients, const uint32_t *which)
{
    n_knots = n, knots = at, cubics = coefficients, is_cubic = which;
}

EXPORT(make_glides) glide *make_glides(uint32_t n)
{
    n_glides = n;
    return glides = allocate(n * sizeof(glide));
}

EXPORT(set_feedback) void set_feedback(int on)
{
    has_feedback = on;
}

/* Value and derivatives of a polynomial of degree 5, as many as there are. */
static void follow(const glide *g, double t, double *r)
{
    const double passed = t - g->start, s = passed > g->span ? g->span : passed;
    double c[6];
    memcpy(c, g->coefficients, sizeof(c));
    double value[3];
    for (int order = 0; order < 3; order++) {
        double sum = 0.0;
        for (int j = 5 - order; j >= 0; j--)
            sum = sum * s + c[j];
        value[order] = sum;
        for (int j = 0; j < 5 - order; j++)
            c[j] = (j + 1) * c[j + 1];
    }
    if (passed > g->span)
        value[0] += (passed - g->span) * value[1];
    for (int order = 0; g->inputs[order] >= 0; order++)
        r[g->inputs[order]] = value[order];
}

static void follow_cubics(double t, double *r)
{
    const kc_signal signal = {.n_r = size.n_r, .n_knots = n_knots, .knots = knots, .coefficients = cubics};
    kc_signal_at(&signal, kc_signal_interval(&signal, t), t, signals);
    for (uint32_t i = 0; i < size.n_r; i++)
        if (is_cubic[i])
            r[i] = signals[i];
}

/* r -= K (x - about), with the nearer sign of each quaternion. */
static void feed_back(const double *x, double *r)
{
    double *const error = errors;
    const double *const about = view[ABOUT];
    for (uint32_t i = 0; i < n_x; i++)
        error[i] = x[i] - about[i];
    for (uint32_t k = 0; k < n_unit; k++) {
        const uint32_t *const place = unit + 4 * k;
        double along = 0.0;
        for (int i = 0; i < 4; i++)
            along += x[place[i]] * about[place[i]];
        for (int i = 0; along < 0.0 && i < 4; i++)
            error[place[i]] = -x[place[i]] - about[place[i]];
    }
    for (uint32_t i = 0; i < size.n_r; i++)
        for (uint32_t j = 0; j < n_x; j++)
            r[i] -= view[GAIN][i * n_x + j] * error[j];
}

static int inputs_at(double t, const double *x, double *r, void *context)
{
    (void)context;
    memcpy(r, view[INPUTS], sizeof(double) * size.n_r);
    if (n_knots)
        follow_cubics(t, r);
    for (uint32_t i = 0; i < n_glides; i++)
        follow(glides + i, t, r);
    if (has_feedback)
        feed_back(x, r);
    return 0;
}

/* The next time after t at which inputs are not smooth. */
static double next_corner(double t, double end)
{
    for (uint32_t i = 0; i + 1 < n_knots; i++)
        if (knots[i] > t && knots[i] < end)
            end = knots[i];
    for (uint32_t i = 0; i < n_glides; i++) {
        const double stop = glides[i].start + glides[i].span;
        if (stop > t && stop < end)
            end = stop;
    }
    return end;
}

/* ------------------------------------------------------------------------------- place held by a hand */

static int32_t held_point = -1, held_frame = -1;
static double stiffness, damping;
static double hand_power; /* at the last right-hand side */

/*
 * The held place, and J (n_u, 3), the part of each speed in its velocity, in `columns`.  The place is a
 * point, or lies beside it, fixed in the axes of a frame that turns with the body.
 */
static int hold(double t, const double *x, const double *r, double *w, double *place)
{
    double arm[3] = {0.0, 0.0, 0.0};
    static double *velocities, *turns;
    if (!velocities)
        velocities = reals((size_t)3 * size.n_points * size.n_u),
        turns = reals((size_t)3 * size.n_frames * size.n_u);
    int status = evaluate(POSITIONS, t, x, r, w, view[PLACES]);
    if (!status)
        status = evaluate(PARTIAL_VELOCITIES, t, x, r, w, velocities);
    if (!status && held_frame >= 0) {
        status = evaluate(ORIENTATIONS, t, x, r, w, view[AXES]);
        if (!status)
            status = evaluate(PARTIAL_ANGULAR_VELOCITIES, t, x, r, w, turns);
        const double *const R = view[AXES] + 9 * held_frame, *const local = view[GRIP];
        for (int i = 0; i < 3; i++)
            arm[i] = R[3 * i] * local[0] + R[3 * i + 1] * local[1] + R[3 * i + 2] * local[2];
    }
    for (int i = 0; i < 3; i++)
        place[i] = view[PLACES][3 * held_point + i] + arm[i];
    for (uint32_t k = 0; k < size.n_u; k++) {
        double *const J = columns + 3 * k;
        memcpy(J, velocities + 3 * ((uint32_t)held_point * size.n_u + k), 3 * sizeof(double));
        if (held_frame >= 0) {
            const double *const w_r = turns + 3 * ((uint32_t)held_frame * size.n_u + k);
            J[0] += w_r[1] * arm[2] - w_r[2] * arm[1];
            J[1] += w_r[2] * arm[0] - w_r[0] * arm[2];
            J[2] += w_r[0] * arm[1] - w_r[1] * arm[0];
        }
    }
    return status;
}

/* udot under a force f on the held place. */
static int push(double t, const double *x, const double *r, double *w, const double *f, double *udot)
{
    memcpy(beyond, x, sizeof(double) * n_x);
    for (uint32_t k = 0; k < size.n_u; k++)
        beyond[n_x + k] = columns[3 * k] * f[0] + columns[3 * k + 1] * f[1] + columns[3 * k + 2] * f[2];
    return evaluate(FORWARD_DYNAMICS, t, beyond, r, w, udot);
}

/*
 * How the held place gives way to forces: `ways` (n_u, 3), the changes of udot by unit forces, M^-1 J'
 * projected to the constraints, and J M^-1 J' (3, 3).
 */
static int compliance(double *ways, double A[3][3])
{
    const double none[3] = {0.0, 0.0, 0.0}, t = view[TIME][0];
    double place[3];
    double *const at_rest = spare, *const pushed = spare + n_x;
    int status = hold(t, view[STATE], view[APPLIED], work, place);
    if (!status)
        status = push(t, view[STATE], view[APPLIED], work, none, at_rest);
    for (int i = 0; i < 3 && !status; i++) {
        const double force[3] = {i == 0, i == 1, i == 2};
        status = push(t, view[STATE], view[APPLIED], work, force, pushed);
        for (int j = 0; j < 3; j++)
            A[i][j] = 0.0;
        for (uint32_t k = 0; k < size.n_u; k++) {
            ways[3 * k + (uint32_t)i] = pushed[k] - at_rest[k];
            for (int j = 0; j < 3; j++)
                A[i][j] += columns[3 * k + (uint32_t)j] * (pushed[k] - at_rest[k]);
        }
    }
    return status;
}

static double *ways_of_grip(void)
{
    static double *ways;
    return ways ? ways : (ways = reals((size_t)3 * size.n_u));
}

/*
 * Hold a place, a point or beside it in the axes of a frame, by a spring and a damper between it and the
 * place in view[GRIP]: the mass that is felt there would swing on them with the angular frequency and the
 * damping ratio.  A point below 0 lets go.
 */
EXPORT(grab) int grab(int32_t point, int32_t frame, double frequency, double ratio)
{
    held_point = point, held_frame = frame;
    if (point < 0)
        return 0;
    double A[3][3];
    const int status = compliance(ways_of_grip(), A);
    const double most = fmax(A[0][0], fmax(A[1][1], A[2][2]));
    double sum = 0.0;
    int n = 0;
    for (int i = 0; i < 3; i++)
        if (A[i][i] > 1e-9 * most)
            sum += A[i][i], n++;
    if (status || !(sum > 0.0)) {
        held_point = -1;
        return status;
    }
    const double mass = n / sum;
    stiffness = mass * frequency * frequency, damping = 2.0 * ratio * mass * frequency;
    return 0;
}

/* x-dot with the force of the hand. */
static void right_hand_side(double t, const double *x, const double *r, const double *c, double *w,
                            double *out)
{
    hand_power = 0.0;
    if (held_point < 0) {
        MACHINE.kernels[RHS](t, x, r, c, w, out);
        return;
    }
    double place[3], force[3];
    int status = hold(t, x, r, w, place);
    for (int i = 0; i < 3; i++) {
        double speed = 0.0;
        for (uint32_t k = 0; k < size.n_u; k++)
            speed += columns[3 * k + (uint32_t)i] * x[size.n_q + k];
        force[i] = stiffness * (view[GRIP][3 + i] - place[i]) - damping * speed;
        hand_power += force[i] * speed;
    }
    if (!status)
        status = evaluate(QDOT, t, x, r, w, out);
    if (!status)
        status = push(t, x, r, w, force, out + size.n_q);
    if (!status && size.n_z)
        status = evaluate(ZDOT, t, x, r, w, out + size.n_q + size.n_u);
    w[0] = status;
}

/* The slopes at the state, in view[SLOPES]. */
EXPORT(evaluate_slopes) int evaluate_slopes(void)
{
    inputs_at(view[TIME][0], view[STATE], view[APPLIED], NULL);
    work[0] = 0.0;
    right_hand_side(view[TIME][0], view[STATE], view[APPLIED], prepared, work, view[SLOPES]);
    return (int)work[0];
}

/* ------------------------------------------------------------------------------------------- the state */

/* Bring the state to the unit spheres and the constraints; where that fails it is as it was. */
EXPORT(project) int project(void)
{
    double *const x = spare;
    inputs_at(view[TIME][0], view[STATE], view[APPLIED], NULL);
    memcpy(x, view[STATE], sizeof(double) * n_x);
    int status = (int)kc_normalize(n_unit, unit, x);
    if (!status && has[PROJECT]) {
        double *const nearest = spare + n_x;
        status = evaluate(PROJECT, view[TIME][0], x, view[APPLIED], work, nearest);
        memcpy(x, nearest, sizeof(double) * n_x);
        if (!status)
            status = (int)kc_normalize(n_unit, unit, x);
    }
    if (!status && !all_finite(x, n_x))
        status = KC_NONFINITE;
    if (!status)
        memcpy(view[STATE], x, sizeof(double) * n_x);
    return status;
}

/* All that a picture and plots show at the state. */
EXPORT(pose) int pose(void)
{
    static const int KERNELS[] = {POSITIONS,        ORIENTATIONS,           JOINT_POSITIONS,   KINETIC_ENERGY,
                                  POTENTIAL_ENERGY, CONFIGURATION_RESIDUAL, VELOCITY_RESIDUAL, OUTPUTS};
    double *const results[] = {view[PLACES],
                               view[AXES],
                               view[JOINTS],
                               view[ENERGIES],
                               view[ENERGIES] + 1,
                               view[RESIDUALS],
                               view[RESIDUALS] + size.n_configuration,
                               view[OUTPUT_VALUES]};
    const double t = view[TIME][0];
    int status = evaluate_slopes();
    for (int i = 0; i < 8 && !status; i++)
        status = evaluate(KERNELS[i], t, view[STATE], view[APPLIED], work, results[i]);
    if (!status && has[POWER]) {
        memcpy(beyond, view[STATE], sizeof(double) * n_x);
        memcpy(beyond + n_x, view[SLOPES] + size.n_q, sizeof(double) * size.n_u);
        status = evaluate(POWER, t, beyond, view[APPLIED], work, view[POWERS]);
        view[POWERS][0] += hand_power;
    }
    return status;
}

/* l = (A + bound I)^-1 e, by Cramer's rule. */
static void solve(double A[3][3], const double *e, double *l)
{
    const double bound = 1e-6 * (A[0][0] + A[1][1] + A[2][2]);
    double B[3][3];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            B[i][j] = A[i][j] + (i == j ? bound : 0.0);
    double minors[3][3], determinant = 0.0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const int a = (i + 1) % 3, b = (i + 2) % 3, c = (j + 1) % 3, d = (j + 2) % 3;
            minors[i][j] = B[a][c] * B[b][d] - B[a][d] * B[b][c];
        }
    for (int j = 0; j < 3; j++)
        determinant += B[0][j] * minors[0][j];
    for (int j = 0; j < 3; j++)
        l[j] = determinant != 0.0
                   ? (minors[0][j] * e[0] + minors[1][j] * e[1] + minors[2][j] * e[2]) / determinant
                   : 0.0;
}

/*
 * Move the held place towards the one in view[GRIP], by the least change in the metric of the masses that the
 * constraints allow, and bring all to rest there.  Where the constraints are not reached again nothing moves.
 */
EXPORT(drag) int drag(void)
{
    double A[3][3], place[3], e[3], l[3];
    double *const x = view[STATE], *const ways = ways_of_grip(), *const there = spare,
                  *const rate = spare + n_x;
    memset(x + size.n_q, 0, sizeof(double) * size.n_u);
    int status = compliance(ways, A);
    if (!status)
        status = hold(view[TIME][0], x, view[APPLIED], work, place);
    if (status)
        return status;
    for (int i = 0; i < 3; i++)
        e[i] = view[GRIP][3 + i] - place[i];
    solve(A, e, l);
    memcpy(beyond, x, sizeof(double) * n_x);
    if ((status = evaluate(QDOT, view[TIME][0], beyond, view[APPLIED], work, there)))
        return status;
    for (uint32_t k = 0; k < size.n_u; k++)
        beyond[size.n_q + k] = ways[3 * k] * l[0] + ways[3 * k + 1] * l[1] + ways[3 * k + 2] * l[2];
    if ((status = evaluate(QDOT, view[TIME][0], beyond, view[APPLIED], work, rate)))
        return status;
    for (uint32_t i = 0; i < size.n_q; i++) {
        beyond[i] = x[i];
        x[i] += rate[i] - there[i];
    }
    status = project();
    if (status)
        memcpy(x, beyond, sizeof(double) * size.n_q);
    return status;
}

/* ----------------------------------------------------------------------------------------------- the run */

static double deadline, longest;
static uint64_t n_evaluations;

static int is_late(void *context)
{
    (void)context;
    return now() > deadline;
}

/* The work of loads without a potential, and of the hand, in a step: the power at the five nodes of Gauss
 * that `energy_drift` takes. */
static void add_work(const kc_step *step)
{
    static const double NODES[] = {0.04691007703066802, 0.23076534494715845, 0.5, 0.7692346550528415,
                                   0.9530899229693319};
    static const double WEIGHTS[] = {0.11846344252809454, 0.23931433524968324, 0.28444444444444444,
                                     0.23931433524968324, 0.11846344252809454};
    static double *x, *r, *slopes, *w;
    if (!x)
        x = reals(n_x + size.n_u), r = reals(size.n_r), slopes = reals(n_x), w = reals(n_work);
    kc_system free = *step->system;
    kc_step inside = *step;
    free.project = NULL, inside.system = &free;
    for (int i = 0; i < 5; i++) {
        const double t = step->t + NODES[i] * step->h;
        double power = 0.0;
        if (kc_interpolate(&inside, NODES[i], x, NULL))
            return;
        inputs_at(t, x, r, NULL);
        w[0] = 0.0;
        right_hand_side(t, x, r, prepared, w, slopes);
        memcpy(x + n_x, slopes + size.n_q, sizeof(double) * size.n_u);
        if (w[0] != 0.0 || evaluate(POWER, t, x, r, w, &power))
            return;
        view[ENERGIES][2] += WEIGHTS[i] * step->h * (power + hand_power);
    }
}

/*
 * Events: the last outputs are [values of the events, values that their resets give to the state].
 */
typedef struct watched {
    int32_t direction, terminal, first, n_places; /* `first` counts from the value of the first event */
} watched;
static const watched *all_watched;
static const int32_t *places_of_resets;
static kc_events events;
static double *event_values, *event_work;
static uint32_t n_further, *n_found;
static int has_ended;

EXPORT(set_events)
void set_events(uint32_t n, const watched *each, const int *directions, const int *stops,
                const int32_t *places)
{
    all_watched = each, places_of_resets = places, n_further = n;
    for (uint32_t i = 0; i < n; i++)
        n_further += (uint32_t)each[i].n_places;
    events.n = n, events.direction = directions, events.stops = stops;
    event_values = reals(size.n_outputs), event_work = reals(n_work);
    n_found = allocate((n + 1) * sizeof(uint32_t));
}

static int further_outputs(double t, const double *x, const double *r)
{
    return evaluate(OUTPUTS, t, x, r, event_work, event_values);
}

static int values_of_events(double t, const double *x, const double *r, double *g, void *context)
{
    (void)context;
    const int status = further_outputs(t, x, r);
    memcpy(g, event_values + (size.n_outputs - n_further), sizeof(double) * events.n);
    return status;
}

static int found_event(uint32_t i, double t, double *x, void *context)
{
    const watched *const e = all_watched + i;
    const int32_t *places = places_of_resets;
    for (uint32_t k = 0; k < i; k++)
        places += all_watched[k].n_places;
    if (e->n_places) {
        inputs_at(t, x, view[APPLIED], NULL);
        if (further_outputs(t, x, view[APPLIED]))
            return KC_END;
        for (int k = 0; k < e->n_places; k++)
            x[places[k]] = event_values[size.n_outputs - n_further + (uint32_t)(e->first + k)];
    }
    n_found[i]++;
    if (e->terminal > 0 && n_found[i] >= (uint32_t)e->terminal)
        has_ended = 1;
    if (has_ended || is_late(context))
        return KC_END;
    return e->n_places ? KC_CHANGED : KC_GO_ON;
}

/* Events count from here: a motion begins. */
EXPORT(forget_events) void forget_events(void)
{
    has_ended = 0;
    for (uint32_t i = 0; i < events.n; i++)
        n_found[i] = 0;
}

/* T + U, for what a jump of the state does to it. */
static double energy(double t, const double *x)
{
    double T = 0.0, U = 0.0;
    inputs_at(t, x, view[APPLIED], NULL);
    evaluate(KINETIC_ENERGY, t, x, view[APPLIED], work, &T);
    evaluate(POTENTIAL_ENERGY, t, x, view[APPLIED], work, &U);
    return T + U;
}

/* States at equal times within a run, from the interpolants of its steps: they are not on the constraints. */
static double first_sample, sample_spacing;
static uint32_t n_samples, n_wanted;

static void take_samples(const kc_step *step)
{
    kc_system free = *step->system;
    kc_step inside = *step;
    free.project = NULL, inside.system = &free;
    for (; n_samples < n_wanted; n_samples++) {
        const double t = first_sample + n_samples * sample_spacing;
        double *const sample = view[SAMPLES] + (size_t)n_samples * (1 + n_x);
        sample[0] = t;
        if (t >= step->end || kc_interpolate(&inside, (t - step->t) / step->h, sample + 1, NULL))
            return;
    }
}

EXPORT(samples_taken) uint32_t samples_taken(void)
{
    return n_samples;
}

static int accept(const kc_step *step, void *context)
{
    longest = fmax(longest, step->h);
    if (step->h != 0.0)
        take_samples(step);
    if (has[POWER] && has[KINETIC_ENERGY]) {
        if (step->h != 0.0)
            add_work(step);
        else
            view[ENERGIES][2] += energy(step->end, step->x1) - energy(step->end, step->x0);
    }
    return is_late(context);
}

/* How many right-hand sides have been evaluated. */
EXPORT(evaluations) double evaluations(void)
{
    return (double)n_evaluations;
}

/* The next step begins anew, after a change of the state. */
EXPORT(forget_step) void forget_step(void)
{
    longest = 0.0;
}

static kc_kernel *kernel_or_null(int kernel)
{
    return has[kernel] ? MACHINE.kernels[kernel] : NULL;
}

/*
 * Advance the state to time `end`, or as far as the clock allows.  `fixed` is the step of methods that do not
 * choose it, `between` the number of samples that are taken within.  A kc_status, of which KC_STOPPED does
 * not come out, or ENDED.
 */
enum { ENDED = 100 }; /* by an event */

EXPORT(advance)
int advance(double end, const char *method, double fixed, double rtol, double atol, double until,
            uint32_t between)
{
    static double *tolerances, *run_work;
    static size_t n_run_work;
    const kc_signal signal = {.n_r = size.n_r, .call = inputs_at};
    const kc_system system = {
        .rhs = right_hand_side,
        .qdot = kernel_or_null(QDOT),
        .n_q = size.n_q,
        .n_u = size.n_u,
        .n_z = size.n_z,
        .n_work = n_work,
        .c = prepared,
        .signal = &signal,
        .n_unit = n_unit,
        .unit = unit,
        .project = kernel_or_null(PROJECT),
        .linearize = kernel_or_null(LINEARIZE),
        .rhs_time_derivative = kernel_or_null(RHS_TIME_DERIVATIVE),
        .interrupted = is_late,
    };
    const kc_method *const chosen = kc_find_method(method);
    const size_t needed = kc_ode_work(&system, chosen);
    if (needed > n_run_work)
        run_work = reals(needed), n_run_work = needed;
    if (!tolerances)
        tolerances = reals(n_x);
    for (uint32_t i = 0; i < n_x; i++)
        tolerances[i] = atol;
    if (events.n && !events.work) {
        events.work = reals(kc_events_work(&system, events.n));
        events.values = values_of_events, events.found = found_event;
    }
    deadline = until;
    double *const t = view[TIME];
    n_samples = 0, n_wanted = between < MOST_SAMPLES ? between : MOST_SAMPLES;
    sample_spacing = (end - *t) / (n_wanted + 1.0), first_sample = *t + sample_spacing;
    int status = KC_OK;
    while (status == KC_OK && *t < end) {
        const double stop = next_corner(*t, end);
        const int adaptive = kc_is_adaptive(chosen);
        const kc_plan plan = {.method = chosen,
                              .t0 = *t,
                              .t1 = stop,
                              .step = adaptive ? fmin(longest, stop - *t) : fmin(fixed, stop - *t),
                              .rtol = rtol,
                              .atol = tolerances,
                              .max_step = stop - *t,
                              .accept = accept,
                              .events = events.n ? &events : NULL};
        kc_stats stats;
        longest = 0.0;
        status = (int)kc_integrate(&system, &plan, view[STATE], run_work, &stats);
        n_evaluations += stats.evaluations;
        *t = stats.t;
        if (status == KC_STOPPED)
            return has_ended ? ENDED : KC_OK;
    }
    return status;
}
