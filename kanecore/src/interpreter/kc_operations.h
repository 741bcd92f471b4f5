/* Generated from graph/operations.py by kanecore.build.generated_sources. */
/* SPDX-License-Identifier: BSD-3-Clause */
#define KC_OF_GRAPH(OPERATION)                                                                               \
    OPERATION(div, 2, 1)                                                                                     \
    OPERATION(sqrt, 1, 1)                                                                                    \
    OPERATION(select, 3, 1)                                                                                  \
    OPERATION(lt, 2, 1)                                                                                      \
    OPERATION(le, 2, 1)                                                                                      \
    OPERATION(eq, 2, 1)                                                                                      \
    OPERATION(min, 2, 1)                                                                                     \
    OPERATION(max, 2, 1)                                                                                     \
    OPERATION(pow, 2, 1)                                                                                     \
    OPERATION(atan2, 2, 1)                                                                                   \
    OPERATION(sign, 1, 1)                                                                                    \
    OPERATION(abs, 1, 1)                                                                                     \
    OPERATION(floor, 1, 1)                                                                                   \
    OPERATION(tan, 1, 1)                                                                                     \
    OPERATION(asin, 1, 1)                                                                                    \
    OPERATION(acos, 1, 1)                                                                                    \
    OPERATION(atan, 1, 1)                                                                                    \
    OPERATION(sinh, 1, 1)                                                                                    \
    OPERATION(cosh, 1, 1)                                                                                    \
    OPERATION(tanh, 1, 1)                                                                                    \
    OPERATION(asinh, 1, 1)                                                                                   \
    OPERATION(acosh, 1, 1)                                                                                   \
    OPERATION(atanh, 1, 1)                                                                                   \
    OPERATION(exp, 1, 1)                                                                                     \
    OPERATION(log, 1, 1)                                                                                     \
    OPERATION(erf, 1, 1)

#define KC_COMPUTED(DO)                                                                                      \
    DO(div, 2, A / B)                                                                                        \
    DO(sqrt, 1, sqrt(A))                                                                                     \
    DO(select, 3, A != 0.0 ? B : C)                                                                          \
    DO(lt, 2, A < B ? 1.0 : 0.0)                                                                             \
    DO(le, 2, A <= B ? 1.0 : 0.0)                                                                            \
    DO(eq, 2, A == B ? 1.0 : 0.0)                                                                            \
    DO(min, 2, kc_min(A, B))                                                                                 \
    DO(max, 2, kc_max(A, B))                                                                                 \
    DO(pow, 2, pow(A, B))                                                                                    \
    DO(atan2, 2, atan2(A, B))                                                                                \
    DO(sign, 1, kc_sign(A))                                                                                  \
    DO(abs, 1, fabs(A))                                                                                      \
    DO(floor, 1, floor(A))                                                                                   \
    DO(tan, 1, tan(A))                                                                                       \
    DO(asin, 1, asin(A))                                                                                     \
    DO(acos, 1, acos(A))                                                                                     \
    DO(atan, 1, atan(A))                                                                                     \
    DO(sinh, 1, sinh(A))                                                                                     \
    DO(cosh, 1, cosh(A))                                                                                     \
    DO(tanh, 1, tanh(A))                                                                                     \
    DO(asinh, 1, asinh(A))                                                                                   \
    DO(acosh, 1, acosh(A))                                                                                   \
    DO(atanh, 1, atanh(A))                                                                                   \
    DO(exp, 1, exp(A))                                                                                       \
    DO(log, 1, log(A))                                                                                       \
    DO(erf, 1, erf(A))
