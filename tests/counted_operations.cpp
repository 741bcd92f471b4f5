// SPDX-License-Identifier: BSD-3-Clause
// A number that counts what is done with it, in place of `double` in exported C.
#include <cfloat>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

static long operations;

struct counted {
    double v;
    counted() = default;
    constexpr counted(double x) : v(x) {}
    template <class I>
        requires(__is_integral(I))
    constexpr counted(I x) : v((double)x)
    {
    }
    explicit operator int() const { return (int)v; }
};

#define BINARY(o)                                                                                            \
    inline counted operator o(counted a, counted b)                                                          \
    {                                                                                                        \
        operations++;                                                                                        \
        return counted(a.v o b.v);                                                                           \
    }                                                                                                        \
    inline counted &operator o##=(counted &a, counted b)                                                     \
    {                                                                                                        \
        return a = a o b;                                                                                    \
    }
#define COMPARISON(o)                                                                                        \
    inline bool operator o(counted a, counted b)                                                             \
    {                                                                                                        \
        operations++;                                                                                        \
        return a.v o b.v;                                                                                    \
    }
#define OF_LIBM(f)                                                                                           \
    inline counted f(counted a)                                                                              \
    {                                                                                                        \
        operations++;                                                                                        \
        return counted(std::f(a.v));                                                                         \
    }
BINARY(+)
BINARY(-)
BINARY(*)
BINARY(/)
COMPARISON(<)
COMPARISON(>)
COMPARISON(<=)
COMPARISON(>=)
COMPARISON(==)
COMPARISON(!=)
OF_LIBM(sqrt)
OF_LIBM(fabs)
OF_LIBM(tan)
OF_LIBM(tanh)
inline counted operator-(counted a)
{
    return counted(-a.v);
}

#define double counted
#include "model.c"

// The most that each kernel takes at random states, with the parameters of the model, with random ones, some
// of which are zero or negative, and at x = 0.
typedef int kernel(counted, const counted *, const counted *, const counted *, counted *, counted *);

static struct {
    const char *name;
    kernel *call;
    long most;
} kernels[] = {KERNELS};

static counted random_number()
{
    return counted((rand() % 2001 - 1000) / 500.0);
}

int main()
{
    static counted c[m_n_prepared], work[m_n_work], out[10000], x[200], r[m_n_r + 1], p[m_n_p + 1];
    long prepare = 0;
    for (int trial = 0; trial < 400; trial++) {
        const int kind = trial % 4;
        for (int i = 0; i < m_n_p; i++)
            p[i] = kind == 0 ? m_p_default[i] : kind == 2 && rand() % 3 == 0 ? counted(0) : random_number();
        for (counted &number : x)
            number = kind == 3 ? counted(0) : random_number();
        for (counted &number : r)
            number = random_number();
        operations = 0;
        m_prepare(p, c);
        prepare = prepare > operations ? prepare : operations;
        for (auto &each : kernels) {
            operations = 0;
            each.call(counted(0.3), x, r, c, work, out);
            each.most = each.most > operations ? each.most : operations;
        }
    }
    printf("prepare %ld\n", prepare);
    for (const auto &each : kernels)
        printf("%s %ld\n", each.name, each.most);
}
