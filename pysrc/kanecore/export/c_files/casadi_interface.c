/* SPDX-License-Identifier: BSD-3-Clause */
/* What CasADi asks of each function: numbers, names and sparsities of arguments and results, and scratch. */

enum {
    FIRST_ROOM = NC + NWORK + SLOPES_ROOM,
    ALONG_ROOM = FIRST_ROOM + PLACE_ROOM + PACKS_ROOM + ROWS_ROOM,
    SECOND_ROOM = ALONG_ROOM + NV * NV
};

#define CA_FUNCTION(name, n_in, n_out, room, inputs, outputs, patterns_in, patterns_out)                     \
    CA_OUT casadi_int name##_n_in(void)                                                                      \
    {                                                                                                        \
        return n_in;                                                                                         \
    }                                                                                                        \
    CA_OUT casadi_int name##_n_out(void)                                                                     \
    {                                                                                                        \
        return n_out;                                                                                        \
    }                                                                                                        \
    CA_OUT const char *name##_name_in(casadi_int i)                                                          \
    {                                                                                                        \
        return inputs[i];                                                                                    \
    }                                                                                                        \
    CA_OUT const char *name##_name_out(casadi_int i)                                                         \
    {                                                                                                        \
        return outputs[i];                                                                                   \
    }                                                                                                        \
    CA_OUT const casadi_int *name##_sparsity_in(casadi_int i)                                                \
    {                                                                                                        \
        return patterns_in[i];                                                                               \
    }                                                                                                        \
    CA_OUT const casadi_int *name##_sparsity_out(casadi_int i)                                               \
    {                                                                                                        \
        return patterns_out[i];                                                                              \
    }                                                                                                        \
    CA_OUT int name##_work(casadi_int *n_arg, casadi_int *n_res, casadi_int *n_iw, casadi_int *n_w)          \
    {                                                                                                        \
        if (n_arg)                                                                                           \
            *n_arg = n_in;                                                                                   \
        if (n_res)                                                                                           \
            *n_res = n_out;                                                                                  \
        if (n_iw)                                                                                            \
            *n_iw = 0;                                                                                       \
        if (n_w)                                                                                             \
            *n_w = room;                                                                                     \
        return 0;                                                                                            \
    }                                                                                                        \
    CA_OUT int name##_checkout(void)                                                                         \
    {                                                                                                        \
        return ca_take_memory();                                                                             \
    }                                                                                                        \
    CA_OUT void name##_release(int mem)                                                                      \
    {                                                                                                        \
        ca_leave_memory(mem);                                                                                \
    }

/* ----- patterns and names, of t, x, r and p each */

#define CA_EACH(name)    name##t, name##x, name##r, name##p
#define CA_NAMES(prefix) prefix "t", prefix "x", prefix "r", prefix "p"

/* n columns, full and empty: numbers of rows and columns, then 1 for all entries, or none in any column. */
#define CA_FULL(n)                                                                                           \
    static const casadi_int ca_full_##n##_t[] = {1, n, 1}, ca_full_##n##_x[] = {NX, n, 1};                   \
    static const casadi_int ca_full_##n##_r[] = {NR, n, 1}, ca_full_##n##_p[] = {NP, n, 1};                  \
    static const casadi_int ca_empty_##n##_x[n + 3] = {NX, n};
#define CA_EMPTY(n)                                                                                          \
    static const casadi_int ca_empty_##n##_t[n + 3] = {1, n}, ca_empty_##n##_r[n + 3] = {NR, n};             \
    static const casadi_int ca_empty_##n##_p[n + 3] = {NP, n};
CA_FULL(1)
CA_EMPTY(1)
static const casadi_int ca_no_slopes_t[1 + 3] = {NX, 1}, ca_no_slopes_x[NX + 3] = {NX, NX};
static const casadi_int ca_no_slopes_r[NR + 3] = {NX, NR}, ca_no_slopes_p[NP + 3] = {NX, NP};

/* Arguments begin with t, x, r, p and xdot. Derivatives of gradients go on with weights and the gradient,
 * derivatives of the Jacobian with its blocks. */
#define CA_START             CA_EACH(ca_full_1_), ca_empty_1_x
#define CA_START_ADJOINT(n)  CA_START, ca_full_##n##_x, CA_EACH(ca_empty_##n##_)
#define CA_START_FORWARD(n)  CA_START, CA_EACH(ca_full_##n##_), ca_empty_##n##_x
#define CA_START_SLOPES      CA_START, CA_EACH(ca_no_slopes_)
#define CA_NAMES_OF_START    CA_NAMES(""), "out_xdot"
#define CA_NAMES_OF_ADJOINT  CA_NAMES_OF_START, "adj_xdot", CA_NAMES("out_adj_")
#define CA_NAMES_OF_SLOPES   CA_NAMES_OF_START, CA_NAMES("out_jac_xdot_")
#define CA_NAMES_OF_FORWARD  CA_NAMES("fwd_"), "fwd_out_xdot"
#define CA_NAMES_OF_GRADIENT CA_NAMES("adj_"), "adj_out_xdot"

typedef const char *const ca_names[];
typedef const casadi_int *const ca_patterns[];

/* ----- functions */

static ca_names ca_in = {CA_NAMES_OF_ADJOINT}, ca_out = {"xdot"}, ca_out_jac = {CA_NAMES("jac_xdot_")};
static ca_patterns ca_patterns_in = {CA_START_ADJOINT(1)}, ca_patterns_out = {ca_full_1_x};
INSERT_NAMES;
CA_FUNCTION(MODEL, 4, 1, FIRST_ROOM, ca_in, ca_out, ca_patterns_in, ca_patterns_out)
CA_FUNCTION(jac_MODEL, 5, 4, FIRST_ROOM, ca_in, ca_out_jac, ca_patterns_in, ca_patterns_jac)
CA_FUNCTION(jac_adj1_MODEL, 10, 24, SECOND_ROOM, ca_in, ca_second_names, ca_patterns_in,
            ca_patterns_of_second)

static ca_names ca_in_fwd_jac = {CA_NAMES_OF_SLOPES, CA_NAMES_OF_FORWARD};
static ca_names ca_out_fwd_jac = {CA_NAMES("fwd_jac_xdot_")};
static ca_patterns ca_patterns_fwd_jac = {CA_START_SLOPES, CA_START};
CA_FUNCTION(fwd1_jac_MODEL, 14, 4, ALONG_ROOM, ca_in_fwd_jac, ca_out_fwd_jac, ca_patterns_fwd_jac,
            ca_patterns_jac)

static ca_names ca_in_adj_jac = {CA_NAMES_OF_SLOPES, CA_NAMES("adj_jac_xdot_")},
                ca_out_adj = {CA_NAMES_OF_GRADIENT};
static ca_patterns ca_patterns_adj_jac = {CA_START_SLOPES, CA_EACH(ca_pattern_xdot_)};
CA_FUNCTION(adj1_jac_MODEL, 13, 5, ALONG_ROOM, ca_in_adj_jac, ca_out_adj, ca_patterns_adj_jac, ca_patterns_in)

/* CasADi finds functions of n weights, and of n directions, by that number in their names. */
static ca_names ca_in_fwd = {CA_NAMES_OF_START, CA_NAMES("fwd_"), "out_fwd_xdot",
                             CA_NAMES("fwd2_"), "fwd2_out_xdot",  CA_NAMES("fwd2_fwd_")};
static ca_names ca_in_adj_fwd = {CA_NAMES_OF_START, CA_NAMES("fwd_"), "out_fwd_xdot", "adj_fwd_xdot"};
static ca_names ca_in_fwd_adj = {CA_NAMES_OF_ADJOINT, CA_NAMES_OF_FORWARD, "fwd_adj_xdot"};
static ca_names ca_in_adj_adj = {CA_NAMES_OF_ADJOINT, CA_NAMES("adj_adj_")};
static ca_names ca_out_fwd = {"fwd_xdot"}, ca_out_fwd_adj = {CA_NAMES("fwd_adj_")};
static ca_names ca_out_adj_fwd = {CA_NAMES_OF_GRADIENT, CA_NAMES("adj_fwd_")};
static ca_names ca_out_adj_adj = {CA_NAMES_OF_GRADIENT, "adj_adj_xdot"};

#define CA_CALLS(name, n, function)                                                                          \
    CA_OUT int name(const double **arg, double **res, casadi_int *iw, double *w, int mem)                    \
    {                                                                                                        \
        (void)iw;                                                                                            \
        return function(n, arg, res, w, mem);                                                                \
    }

/* Changes of a gradient along n directions. */
#define CA_CHANGES(n)                                                                                        \
    static ca_patterns ca_patterns_v_##n = {CA_EACH(ca_full_##n##_)};                                        \
    static ca_patterns ca_patterns_in_fwd_adj_##n = {CA_START_ADJOINT(1), CA_EACH(ca_full_##n##_),           \
                                                     ca_empty_##n##_x, ca_full_##n##_x};                     \
    CA_CALLS(fwd##n##_adj1_MODEL, n, ca_forward_of_adjoint)                                                  \
    CA_FUNCTION(fwd##n##_adj1_MODEL, 16, 4, ALONG_ROOM, ca_in_fwd_adj, ca_out_fwd_adj,                       \
                ca_patterns_in_fwd_adj_##n, ca_patterns_v_##n)

/* Changes of xdot along n directions, and their derivatives; gradients of n weights. */
#define CA_ALONG(n)                                                                                          \
    static ca_patterns ca_patterns_in_fwd_##n = {CA_START_FORWARD(n), CA_START, CA_EACH(ca_full_##n##_)};    \
    static ca_patterns ca_patterns_in_adj_fwd_##n = {CA_START_FORWARD(n), ca_full_##n##_x};                  \
    static ca_patterns ca_patterns_in_adj_##n = {CA_START_ADJOINT(n)};                                       \
    static ca_patterns ca_patterns_x_##n = {ca_full_##n##_x};                                                \
    static ca_patterns ca_patterns_out_adj_fwd_##n = {CA_START, CA_EACH(ca_full_##n##_)};                    \
    CA_CALLS(fwd##n##_MODEL, n, ca_forward)                                                                  \
    CA_FUNCTION(fwd##n##_MODEL, 9, 1, FIRST_ROOM, ca_in_fwd, ca_out_fwd, ca_patterns_in_fwd_##n,             \
                ca_patterns_x_##n)                                                                           \
    CA_CALLS(fwd1_fwd##n##_MODEL, n, ca_forward_of_products)                                                 \
    CA_FUNCTION(fwd1_fwd##n##_MODEL, 19, 1, ALONG_ROOM, ca_in_fwd, ca_out_fwd, ca_patterns_in_fwd_##n,       \
                ca_patterns_x_##n)                                                                           \
    CA_CALLS(adj1_fwd##n##_MODEL, n, ca_adjoint_of_products)                                                 \
    CA_FUNCTION(adj1_fwd##n##_MODEL, 11, 9, ALONG_ROOM, ca_in_adj_fwd, ca_out_adj_fwd,                       \
                ca_patterns_in_adj_fwd_##n, ca_patterns_out_adj_fwd_##n)                                     \
    CA_CALLS(adj##n##_MODEL, n, ca_adjoint)                                                                  \
    CA_FUNCTION(adj##n##_MODEL, 6, 4, ALONG_ROOM, ca_in, ca_out_adj, ca_patterns_in_adj_##n,                 \
                ca_patterns_v_##n)

/* Derivatives of gradients of n > 1 weights. */
#define CA_OF_ADJOINTS(n)                                                                                    \
    static ca_patterns ca_patterns_fwd_##n = {CA_START_ADJOINT(n), CA_START, ca_full_##n##_x};               \
    CA_CALLS(fwd1_adj##n##_MODEL, n, ca_forward_of_adjoints)                                                 \
    CA_FUNCTION(fwd1_adj##n##_MODEL, 16, 4, ALONG_ROOM, ca_in_fwd_adj, ca_out_fwd_adj, ca_patterns_fwd_##n,  \
                ca_patterns_v_##n)                                                                           \
    static ca_patterns ca_patterns_adj_##n = {CA_START_ADJOINT(n), CA_EACH(ca_full_##n##_)};                 \
    static ca_patterns ca_patterns_adj_out_##n = {CA_START, ca_full_##n##_x};                                \
    CA_CALLS(adj1_adj##n##_MODEL, n, ca_adjoint_of_adjoints)                                                 \
    CA_FUNCTION(adj1_adj##n##_MODEL, 14, 6, ALONG_ROOM, ca_in_adj_adj, ca_out_adj_adj, ca_patterns_adj_##n,  \
                ca_patterns_adj_out_##n)

CA_CHANGES(1)
CA_ALONG(1)
INSERT_DIRECTIONS;
