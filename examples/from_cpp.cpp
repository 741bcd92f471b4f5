// SPDX-License-Identifier: BSD-3-Clause
// A compiled model in C++: this file, the C text of a model, and kanecore.h.
// Drops the model from rest for a tenth of a second from several starts, a thread each.
#include "kanecore.h"

#include <cstddef>
#include <cstdio>
#include <functional>
#include <thread>
#include <vector>

using Numbers = std::vector<double>;

// Table and constants are shared; a thread's work, state and results are its own.
static void fall(const kc_model &m, const Numbers &c, Numbers &x)
{
    const double dt = 1e-3;
    Numbers r(m.n_r), work(m.n_work), xdot(x.size());
    for (int step = 0; step < 100; step++) {
        work[0] = KC_OK;
        m.rhs(step * dt, x.data(), r.data(), c.data(), work.data(), xdot.data());
        if (work[0] != KC_OK)
            return; // xdot is NaN
        for (std::size_t i = 0; i < m.n_u; i++)
            x[m.n_q + i] += dt * xdot[m.n_q + i];
        for (std::size_t i = 0; i < m.n_q; i++)
            x[i] += dt * x[m.n_q + i]; // qdot = u: see KC_QDOT_IS_U
    }
}

int main()
{
    const kc_model &m = *kc_get_model();
    if (m.abi_version != KC_ABI_VERSION)
        return 1;
    Numbers c(m.n_prepared);
    m.prepare(m.p_default, c.data());

    std::vector<Numbers> states(4, Numbers(m.n_q + m.n_u));
    for (std::size_t i = 0; i < states.size(); i++)
        states[i][1] = 0.1 * static_cast<double>(i);
    std::vector<std::thread> threads;
    for (Numbers &x : states)
        threads.emplace_back(fall, std::cref(m), std::cref(c), std::ref(x));
    for (std::thread &thread : threads)
        thread.join();
    for (const Numbers &x : states) {
        for (std::size_t i = 0; i < m.n_q; i++)
            std::printf("%.15g ", x[i]);
        std::printf("\n");
    }
}
