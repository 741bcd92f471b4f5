/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kc_interpreter_solvers.h: the solvers, for the interpreter: their structures are filled from lists of
 * members by name, and the functions of emit/runtime take copies of these. kc_interpreter_programs.h includes
 * it.
 */
/* Scratch begins with [accelerations, multipliers]; `evaluate` reads both. */
typedef struct after_motion {
    int n, m; /* accelerations, multipliers */
    kc_function *udot, *multipliers, *evaluate;
} after_motion;

static int follow_motion(const after_motion *s, ARGUMENTS)
{
    const int taken = s->n + s->m;
    int fault = s->udot(t, x, r, c, w + taken, w);
    if (!fault && s->multipliers)
        fault = s->multipliers(t, x, r, c, w + taken, w + s->n);
    return fault ? fault : s->evaluate(GIVEN);
}

/* The short method, else the other; if both lack a pivot the short method names the speed. */
typedef struct short_way {
    kc_function *shortly, *otherwise;
} short_way;

static int go_shortly(const short_way *s, ARGUMENTS)
{
    const int fault = s->shortly(GIVEN);
    if (!KC_UNLIKELY(fault))
        return 0;
    const int other = s->otherwise(GIVEN);
    return fault != KC_NOT_HERE && kc_status_of(other) == KC_SINGULAR ? fault : other;
}

/* Solvers without their own equations. */
#define CALLING(name, type, function)                                                                        \
    static int run_##name(const kc_coded_function *f, ARGUMENTS)                                             \
    {                                                                                                        \
        type s = *(const type *)f->structure;                                                                \
        return function(&s, GIVEN);                                                                          \
    }

/* Solvers with equations: the memory that equations change belongs to the call. */
#define SOLVING(name, type, function)                                                                        \
    static int run_##name(const kc_coded_function *f, ARGUMENTS)                                             \
    {                                                                                                        \
        type s = *(const type *)f->structure;                                                                \
        kc_saddle equations = *(const kc_saddle *)f->equations;                                              \
        const int n = KC_MOST(equations.n, 1), m = KC_MOST(equations.m, 1);                                  \
        int column[n], order[m], place[n], begin[m], end[m];                                                 \
        kc_real peak[m], peak_at[m];                                                                         \
        equations.column = column, equations.order = order, equations.place = place;                         \
        equations.begin = begin, equations.end = end, equations.peak = peak;                                 \
        equations.peak_at = peak_at;                                                                         \
        s.equations = &equations;                                                                            \
        return function(&s, GIVEN);                                                                          \
    }

static int linearize_constrained(kc_linearization *s, ARGUMENTS)
{
    s->solve = kc_solve_equations;
    return kc_linearize(s, GIVEN);
}

static int linearize_free(kc_linearization *s, ARGUMENTS)
{
    s->solve = kc_solve_free;
    return kc_linearize(s, GIVEN);
}

static int multiply_constrained(kc_product *s, ARGUMENTS)
{
    s->solve = kc_solve_with_forces;
    return kc_multiply_generally(s, GIVEN);
}

static int multiply_free(kc_product *s, ARGUMENTS)
{
    s->solve = kc_solve_without_forces;
    return kc_multiply_generally(s, GIVEN);
}

/* Number of rows of G that count, with these constants. */
static int count_rows(kc_closure *s, ARGUMENTS)
{
    (void)t, (void)x, (void)r;
    *out = kc_count(s, c, w);
    return 0;
}

CALLING(after_motion, after_motion, follow_motion)
CALLING(short_way, short_way, go_shortly)
CALLING(chain, kc_chain, kc_chain_rule)
CALLING(state_rows, kc_state_rows, kc_add_state_rows)
CALLING(asked, kc_asked, kc_ask)
CALLING(composites, kc_composites, kc_fill_mass_matrix)
CALLING(hessian, kc_hessian, kc_find_hessian)
CALLING(inverse, kc_inversion, kc_invert)
CALLING(matrix_product, kc_matrix_product, kc_multiply_matrix)
CALLING(front_motion, kc_front_motion, kc_accelerate_fronts)
SOLVING(motion, kc_motion, kc_accelerate)
SOLVING(general_motion, kc_motion, kc_accelerate_all)
SOLVING(free_motion, kc_free_motion, kc_accelerate_free)
SOLVING(balance, kc_balance, kc_find_multipliers)
SOLVING(front_balance, kc_front_balance, kc_balance_fronts)
SOLVING(return, kc_return, kc_stabilize)
SOLVING(projection, kc_projection, kc_project)
SOLVING(projection_gradient, kc_projection, kc_project_back)
SOLVING(linearization, kc_linearization, linearize_constrained)
SOLVING(free_linearization, kc_linearization, linearize_free)
SOLVING(reduced_linearization, kc_reduced_linearization, kc_linearize_reduced)
SOLVING(product, kc_factored_product, kc_multiply)
SOLVING(factored_hessian, kc_factored_hessian, kc_factor_hessian)
SOLVING(general_product, kc_product, multiply_constrained)
SOLVING(free_product, kc_product, multiply_free)
SOLVING(forest, kc_forest, kc_linearize_forest)
SOLVING(closure, kc_closure, count_rows)

#define AT(type, member)       offsetof(type, member)
#define NUMBER(type, member)   {#member, KC_NUMBER, AT(type, member)}
#define INTEGERS(type, member) {#member, KC_INTEGERS, AT(type, member)}
#define FUNCTION(type, member) {#member, KC_FUNCTION, AT(type, member)}
#define PART(type, member)     {"parts." #member, KC_FUNCTION, AT(type, parts) + AT(kc_parts, member)}
#define PARTS(type)                                                                                          \
    PART(type, mass_matrix), PART(type, forcing), PART(type, jacobian), PART(type, bias), PART(type, sums)
#define EQUATIONS {"equations", KC_EQUATIONS, 0}
#define NO_MORE   {NULL, KC_NUMBER, 0}
#define FRONTS(type, at)                                                                                     \
    NUMBER(type, at.n_fronts), NUMBER(type, at.n), NUMBER(type, at.numbers), NUMBER(type, at.widest),        \
        NUMBER(type, at.own), NUMBER(type, at.border), NUMBER(type, at.rows), INTEGERS(type, at.sizes),      \
        INTEGERS(type, at.held), INTEGERS(type, at.places), INTEGERS(type, at.row_numbers),                  \
        NUMBER(type, at.correction)

static const kc_coded_member of_after_motion[] = {
    NUMBER(after_motion, n),          NUMBER(after_motion, m),
    FUNCTION(after_motion, udot),     FUNCTION(after_motion, multipliers),
    FUNCTION(after_motion, evaluate), NO_MORE};
static const kc_coded_member of_short_way[] = {FUNCTION(short_way, shortly), FUNCTION(short_way, otherwise),
                                               NO_MORE};
static const kc_coded_member of_chain[] = {
    NUMBER(kc_chain, n_y),    NUMBER(kc_chain, n_q),         NUMBER(kc_chain, n),        NUMBER(kc_chain, k),
    FUNCTION(kc_chain, udot), FUNCTION(kc_chain, linearize), FUNCTION(kc_chain, slopes), NO_MORE};
static const kc_coded_member of_state_rows[] = {
    NUMBER(kc_state_rows, n_z),      NUMBER(kc_state_rows, n_q),
    NUMBER(kc_state_rows, n),        NUMBER(kc_state_rows, k),
    FUNCTION(kc_state_rows, udot),   FUNCTION(kc_state_rows, motion),
    FUNCTION(kc_state_rows, slopes), NO_MORE};
static const kc_coded_member of_asked[] = {NUMBER(kc_asked, n), FUNCTION(kc_asked, result),
                                           FUNCTION(kc_asked, reason), NO_MORE};
static const kc_coded_member of_motion[] = {EQUATIONS,
                                            NUMBER(kc_motion, rank),
                                            NUMBER(kc_motion, eliminated),
                                            INTEGERS(kc_motion, speeds),
                                            INTEGERS(kc_motion, rows),
                                            NUMBER(kc_motion, n_known),
                                            NUMBER(kc_motion, n_residuals),
                                            FUNCTION(kc_motion, fill),
                                            PARTS(kc_motion),
                                            FUNCTION(kc_motion, doubt),
                                            FUNCTION(kc_motion, residuals),
                                            FUNCTION(kc_motion, result),
                                            FUNCTION(kc_motion, otherwise),
                                            NO_MORE};
static const kc_coded_member of_front_motion[] = {
    FRONTS(kc_front_motion, fronts),      NUMBER(kc_front_motion, rank),
    NUMBER(kc_front_motion, eliminated),  NUMBER(kc_front_motion, n_known),
    FUNCTION(kc_front_motion, fill),      FUNCTION(kc_front_motion, result),
    FUNCTION(kc_front_motion, otherwise), NO_MORE};
static const kc_coded_member of_free_motion[] = {EQUATIONS, PARTS(kc_free_motion), NO_MORE};
static const kc_coded_member of_balance[] = {EQUATIONS,
                                             NUMBER(kc_balance, rank),
                                             NUMBER(kc_balance, equal),
                                             FUNCTION(kc_balance, udot),
                                             FUNCTION(kc_balance, fill),
                                             NO_MORE};
static const kc_coded_member of_return[] = {EQUATIONS,
                                            NUMBER(kc_return, rank),
                                            FUNCTION(kc_return, fill),
                                            FRONTS(kc_return, fronts),
                                            NUMBER(kc_return, front_room),
                                            NO_MORE};
#define PROJECTING                                                                                           \
    EQUATIONS, NUMBER(kc_projection, n_q), NUMBER(kc_projection, n_u), NUMBER(kc_projection, n_max),         \
        NUMBER(kc_projection, m_q), NUMBER(kc_projection, m_u), NUMBER(kc_projection, rank),                 \
        NUMBER(kc_projection, n_unit), INTEGERS(kc_projection, unit), FUNCTION(kc_projection, position),     \
        FUNCTION(kc_projection, velocity), FUNCTION(kc_projection, direction),                               \
        FUNCTION(kc_projection, slopes), FRONTS(kc_projection, position_fronts),                             \
        FRONTS(kc_projection, velocity_fronts), NUMBER(kc_projection, front_room)
static const kc_coded_member of_projection[] = {PROJECTING, NO_MORE};
static const kc_coded_member of_projection_gradient[] = {PROJECTING,
                                                         FUNCTION(kc_projection, position_sides),
                                                         FUNCTION(kc_projection, velocity_sides),
                                                         FUNCTION(kc_projection, position_gradient),
                                                         FUNCTION(kc_projection, velocity_gradient),
                                                         NUMBER(kc_projection, n_z),
                                                         NUMBER(kc_projection, n_all),
                                                         NUMBER(kc_projection, weights),
                                                         NO_MORE};
static const kc_coded_member of_matrix_product[] = {
    NUMBER(kc_matrix_product, rows),     NUMBER(kc_matrix_product, columns),
    NUMBER(kc_matrix_product, behind),   NUMBER(kc_matrix_product, gradient),
    FUNCTION(kc_matrix_product, matrix), NO_MORE};
static const kc_coded_member of_inverse[] = {NUMBER(kc_inversion, n), INTEGERS(kc_inversion, parent),
                                             FUNCTION(kc_inversion, mass_matrix), NO_MORE};
static const kc_coded_member of_general_product[] = {EQUATIONS,
                                                     NUMBER(kc_product, rank),
                                                     NUMBER(kc_product, n_kept),
                                                     NUMBER(kc_product, adjoint),
                                                     FUNCTION(kc_product, udot),
                                                     FUNCTION(kc_product, multipliers),
                                                     PARTS(kc_product),
                                                     FUNCTION(kc_product, sides),
                                                     FUNCTION(kc_product, finish),
                                                     NO_MORE};
/* The solver for udot and lambda, and its equations. */
#define OF_MOTION(type)                                                                                      \
    EQUATIONS, NUMBER(type, motion.n_all), NUMBER(type, motion.m_all), NUMBER(type, motion.rank),            \
        NUMBER(type, motion.eliminated), NUMBER(type, motion.n_known), FUNCTION(type, motion.fill),          \
        FUNCTION(type, motion.parts.mass_matrix), FUNCTION(type, motion.parts.forcing),                      \
        FUNCTION(type, motion.parts.jacobian), FUNCTION(type, motion.parts.bias),                            \
        FUNCTION(type, motion.parts.sums), FUNCTION(type, motion.result), FUNCTION(type, motion.forces),     \
        NUMBER(type, motion.sharing), FRONTS(type, motion.fronts)
static const kc_coded_member of_front_balance[] = {OF_MOTION(kc_front_balance),
                                                   FUNCTION(kc_front_balance, otherwise), NO_MORE};
static const kc_coded_member of_product[] = {OF_MOTION(kc_factored_product),
                                             NUMBER(kc_factored_product, n_kept),
                                             NUMBER(kc_factored_product, adjoint),
                                             FUNCTION(kc_factored_product, sides),
                                             FUNCTION(kc_factored_product, finish),
                                             FUNCTION(kc_factored_product, otherwise),
                                             NO_MORE};
static const kc_coded_member of_hessian[] = {
    NUMBER(kc_hessian, n),        NUMBER(kc_hessian, n_fixed),     NUMBER(kc_hessian, n_inner),
    NUMBER(kc_hessian, n_outer),  INTEGERS(kc_hessian, variables), FUNCTION(kc_hessian, fixed),
    FUNCTION(kc_hessian, column), FUNCTION(kc_hessian, curvature), NO_MORE};
static const kc_coded_member of_factored_hessian[] = {OF_MOTION(kc_factored_hessian),
                                                      NUMBER(kc_factored_hessian, columns.n),
                                                      NUMBER(kc_factored_hessian, columns.n_fixed),
                                                      NUMBER(kc_factored_hessian, columns.n_inner),
                                                      NUMBER(kc_factored_hessian, columns.n_outer),
                                                      INTEGERS(kc_factored_hessian, columns.variables),
                                                      FUNCTION(kc_factored_hessian, columns.fixed),
                                                      FUNCTION(kc_factored_hessian, columns.column),
                                                      FUNCTION(kc_factored_hessian, columns.curvature),
                                                      FUNCTION(kc_factored_hessian, weights),
                                                      FUNCTION(kc_factored_hessian, changes),
                                                      FUNCTION(kc_factored_hessian, otherwise),
                                                      NO_MORE};
static const kc_coded_member of_linearization[] = {EQUATIONS,
                                                   NUMBER(kc_linearization, n_q),
                                                   NUMBER(kc_linearization, rank),
                                                   FUNCTION(kc_linearization, udot),
                                                   FUNCTION(kc_linearization, multipliers),
                                                   FUNCTION(kc_linearization, fill),
                                                   PARTS(kc_linearization),
                                                   FUNCTION(kc_linearization, column),
                                                   NO_MORE};
static const kc_coded_member of_reduced_linearization[] = {
    OF_MOTION(kc_reduced_linearization),           NUMBER(kc_reduced_linearization, k),
    NUMBER(kc_reduced_linearization, n_q),         INTEGERS(kc_reduced_linearization, speeds),
    INTEGERS(kc_reduced_linearization, followers), FUNCTION(kc_reduced_linearization, slopes),
    FUNCTION(kc_reduced_linearization, otherwise), NO_MORE};
static const kc_coded_member of_composites[] = {NUMBER(kc_composites, n), INTEGERS(kc_composites, before),
                                                INTEGERS(kc_composites, speed),
                                                FUNCTION(kc_composites, rates), NO_MORE};
static const kc_coded_member of_forest[] = {EQUATIONS,
                                            NUMBER(kc_forest, n_q),
                                            NUMBER(kc_forest, n),
                                            NUMBER(kc_forest, columns),
                                            NUMBER(kc_forest, trees),
                                            INTEGERS(kc_forest, size),
                                            INTEGERS(kc_forest, n_free),
                                            INTEGERS(kc_forest, width),
                                            INTEGERS(kc_forest, parent),
                                            INTEGERS(kc_forest, first),
                                            INTEGERS(kc_forest, limb_end),
                                            INTEGERS(kc_forest, speed),
                                            INTEGERS(kc_forest, runs),
                                            INTEGERS(kc_forest, run),
                                            INTEGERS(kc_forest, turns),
                                            INTEGERS(kc_forest, turn),
                                            FUNCTION(kc_forest, joints),
                                            FUNCTION(kc_forest, loads),
                                            NUMBER(kc_forest, loaded),
                                            INTEGERS(kc_forest, at),
                                            NUMBER(kc_forest, n_ones),
                                            INTEGERS(kc_forest, ones),
                                            FUNCTION(kc_forest, others),
                                            NUMBER(kc_forest, n_others),
                                            INTEGERS(kc_forest, others_at),
                                            NUMBER(kc_forest, numbers),
                                            NUMBER(kc_forest, room),
                                            NO_MORE};
static const kc_coded_member of_closure[] = {EQUATIONS,
                                             NUMBER(kc_closure, n_q),
                                             NUMBER(kc_closure, n_u),
                                             NUMBER(kc_closure, n_r),
                                             NUMBER(kc_closure, m_q),
                                             NUMBER(kc_closure, m_u),
                                             NUMBER(kc_closure, m),
                                             NUMBER(kc_closure, n_unit),
                                             NUMBER(kc_closure, linear),
                                             INTEGERS(kc_closure, unit),
                                             {"guess", KC_REALS, AT(kc_closure, guess)},
                                             FUNCTION(kc_closure, configuration),
                                             FUNCTION(kc_closure, slopes),
                                             FUNCTION(kc_closure, velocity),
                                             FUNCTION(kc_closure, jacobian),
                                             FUNCTION(kc_closure, sizes),
                                             FUNCTION(kc_closure, weights),
                                             NO_MORE};

#define ROOM(name, expression)                                                                               \
    static int room_of_##name(const int *s)                                                                  \
    {                                                                                                        \
        return (void)s, (expression);                                                                        \
    }

ROOM(after_motion, s[0] + s[1])
ROOM(short_way, 0)
ROOM(chain, KC_CHAIN_ROOM(s[0], s[1], s[2], s[3]))
ROOM(state_rows, KC_STATE_ROWS_ROOM(s[0], s[1], s[2]))
ROOM(asked, KC_ASKED_ROOM(s[0]))
ROOM(motion, KC_MOTION_ROOM(s[0], s[1], s[2], s[3]))
ROOM(front_motion, KC_FRONT_MOTION_ROOM(s[0], s[1], s[2], s[3], s[4]))
ROOM(free_motion, KC_FREE_MOTION_ROOM(s[0]))
ROOM(balance, KC_BALANCE_ROOM(s[0], s[1]))
ROOM(front_balance, KC_FRONT_BALANCE_ROOM(s[0], s[1], s[2], s[3], s[4]))
ROOM(return, KC_RETURN_ROOM(s[0], s[1], s[2]))
ROOM(projection, KC_PROJECTION_ROOM(s[0], s[1], s[2], s[3], s[4]))
ROOM(projection_gradient, KC_PROJECTION_GRADIENT_ROOM(s[0], s[1], s[2], s[3], s[4], s[5], s[6]))
ROOM(inverse, KC_INVERSE_ROOM(s[0]))
ROOM(matrix_product, KC_MATRIX_PRODUCT_ROOM(s[0], s[1]))
ROOM(product, KC_FACTORED_PRODUCT_ROOM(s[0], s[1], s[2], s[3], s[4], s[5]))
ROOM(general_product, KC_PRODUCT_ROOM(s[0], s[1], s[2]))
ROOM(hessian, KC_HESSIAN_ROOM(s[0]))
ROOM(factored_hessian, KC_FACTORED_HESSIAN_ROOM(s[0], s[1]))
ROOM(linearization, KC_LINEARIZATION_ROOM(s[0], s[1], s[2], s[3]))
ROOM(reduced_linearization, KC_REDUCED_LINEARIZATION_ROOM(s[0], s[1], s[2], s[3], s[4], s[5], s[6]))
ROOM(composites, KC_COMPOSITES_ROOM(s[0]))
ROOM(forest, KC_FOREST_ROOM(s[0], s[1], s[2], s[3], s[4]))
ROOM(closure, KC_COUNT_ROOM(s[0], s[1], s[2], s[3], s[4]))
