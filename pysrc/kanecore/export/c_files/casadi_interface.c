/* SPDX-License-Identifier: BSD-3-Clause */
/* What CasADi asks of each function: numbers, names and sparsities of arguments and results, and scratch. */

#define CA_MOST_ROOM(a, b) ((a) > (b) ? (a) : (b))
enum {
    FIRST_ROOM = NC + NWORK + SLOPES_ROOM,
    ALONG_ROOM = NC + NWORK +
        CA_MOST_ROOM(SLOPES_ROOM, PLACE_ROOM + PACKS_ROOM + 2 * NV + NV * CA_MOST_ROOM(NV, NX)),
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
    CA_OUT int name##_alloc_mem(void)                                                                        \
    {                                                                                                        \
        return 0;                                                                                            \
    }                                                                                                        \
    CA_OUT int name##_init_mem(int mem)                                                                      \
    {                                                                                                        \
        (void)mem;                                                                                           \
        return 0;                                                                                            \
    }                                                                                                        \
    CA_OUT void name##_free_mem(int mem)                                                                     \
    {                                                                                                        \
        (void)mem;                                                                                           \
    }                                                                                                        \
    CA_OUT int name##_checkout(void)                                                                         \
    {                                                                                                        \
        return ca_take_memory();                                                                             \
    }                                                                                                        \
    CA_OUT void name##_release(int mem)                                                                      \
    {                                                                                                        \
        ca_leave_memory(mem);                                                                                \
    }                                                                                                        \
    CA_OUT void name##_incref(void)                                                                          \
    {                                                                                                        \
    }                                                                                                        \
    CA_OUT void name##_decref(void)                                                                          \
    {                                                                                                        \
    }

static const char *const ca_inputs_of[] = {"t",        "x",         "r",         "p",         "out_xdot",
                                           "adj_xdot", "out_adj_t", "out_adj_x", "out_adj_r", "out_adj_p"};
static const char *const ca_inputs_of_jac[] = {"t", "x", "r", "p", "out_xdot"};
static const char *const ca_rates[] = {"xdot"};
static const char *const ca_jac_names[] = {"jac_xdot_t", "jac_xdot_x", "jac_xdot_r", "jac_xdot_p"};
static const char *const ca_adj_names[] = {"adj_t", "adj_x", "adj_r", "adj_p"};
INSERT_NAMES;

CA_FUNCTION(MODEL, 4, 1, FIRST_ROOM, ca_inputs_of, ca_rates, ca_patterns_in, ca_patterns_rates)
CA_FUNCTION(jac_MODEL, 5, 4, FIRST_ROOM, ca_inputs_of_jac, ca_jac_names, ca_patterns_in, ca_patterns_jac)
CA_FUNCTION(jac_adj1_MODEL, 10, 24, SECOND_ROOM, ca_inputs_of, ca_second_names, ca_patterns_in,
            ca_patterns_of_second)

/* Functions of n directions: CasADi finds them by that number in their names. */
static const char *const ca_along_names[] = {
    "t",         "x",         "r",     "p",     "out_xdot", "adj_xdot", "out_adj_t",    "out_adj_x",
    "out_adj_r", "out_adj_p", "fwd_t", "fwd_x", "fwd_r",    "fwd_p",    "fwd_out_xdot", "fwd_adj_xdot"};
static const char *const ca_changes_names[] = {"fwd_adj_t", "fwd_adj_x", "fwd_adj_r", "fwd_adj_p"};

/* Patterns: {rows, columns, 1} is full. */
#define CA_ALONG(n)                                                                                          \
    static const casadi_int ca_t_##n[] = {1, n, 1}, ca_x_##n[] = {NX, n, 1}, ca_r_##n[] = {NR, n, 1};        \
    static const casadi_int ca_p_##n[] = {NP, n, 1}, ca_none_##n[n + 3] = {NX, n};                           \
    static const casadi_int *const ca_along_in_##n[] = {                                                     \
        ca_of_t, ca_of_x, ca_of_r,  ca_of_p,  ca_no_xdot, ca_of_xdot, ca_no_t,     ca_no_x,                  \
        ca_no_r, ca_no_p, ca_t_##n, ca_x_##n, ca_r_##n,   ca_p_##n,   ca_none_##n, ca_x_##n};                \
    static const casadi_int *const ca_adjoint_in_##n[] = {ca_of_t, ca_of_x,    ca_of_r,                      \
                                                          ca_of_p, ca_no_xdot, ca_x_##n};                    \
    static const casadi_int *const ca_along_out_##n[] = {ca_t_##n, ca_x_##n, ca_r_##n, ca_p_##n};            \
    CA_OUT int adj##n##_MODEL(const double **arg, double **res, casadi_int *iw, double *w, int mem)          \
    {                                                                                                        \
        (void)iw;                                                                                            \
        return ca_adjoint(n, arg, res, w, mem);                                                              \
    }                                                                                                        \
    CA_OUT int fwd##n##_adj1_MODEL(const double **arg, double **res, casadi_int *iw, double *w, int mem)     \
    {                                                                                                        \
        (void)iw;                                                                                            \
        return ca_forward_of_adjoint(n, arg, res, w, mem);                                                   \
    }                                                                                                        \
    CA_FUNCTION(adj##n##_MODEL, 6, 4, ALONG_ROOM, ca_inputs_of, ca_adj_names, ca_adjoint_in_##n,             \
                ca_along_out_##n)                                                                            \
    CA_FUNCTION(fwd##n##_adj1_MODEL, 16, 4, ALONG_ROOM, ca_along_names, ca_changes_names, ca_along_in_##n,   \
                ca_along_out_##n)
INSERT_DIRECTIONS;
