# SPDX-License-Identifier: BSD-3-Clause
# Hessians of weights · xdot of one state: changes of its gradient along units, as many side by side as there are lanes;
# included by _native.pyx.

cdef void spread(Py_ssize_t lanes, Py_ssize_t n, const double *a, double *to) noexcept nogil:
    """The same numbers in all lanes."""
    cdef Py_ssize_t i, lane
    for i in range(n):
        for lane in range(lanes):
            to[i * lanes + lane] = a[i]


cdef bint changes_in_lanes(Model m, int k, const Arguments *at, double *hessian) except -1:
    """A row of the Hessian for each unit, in lanes; False if a lane has no result."""
    cdef Lanes l
    cdef Py_ssize_t n = m.size[k], lanes = m.lanes.n_lanes, first = 0, begin = m.n_x + n_beyond(m, k) - n
    cdef Py_ssize_t i, lane, b, blocks
    cdef uint32_t undone[KC_MOST_BLOCKS]
    cdef bint done = True
    cdef double *x
    cdef double *memory = allocate(lane_room(m, k))
    place_lanes(m, k, memory, &l)
    for i in range(l.n_blocks * lanes):
        l.t[i] = at.t
    spread(lanes, m.n_prepared, at.c, l.c)
    for b in range(l.n_blocks):
        spread(lanes, l.n_x, at.x, l.x + b * lanes * l.n_x)
        spread(lanes, m.n_r, at.r, l.r + b * lanes * m.n_r)
    while first < n and done:
        blocks = min(<Py_ssize_t>l.n_blocks, (n - first + lanes - 1) // lanes)
        for b in range(blocks):
            x = l.x + (b * l.n_x + begin) * lanes
            memset(x, 0, n * lanes * sizeof(double))
            for lane in range(lanes):
                x[min(first + b * lanes + lane, n - 1) * lanes + lane] = 1.0    # spare lanes take the last one
        l.kernel(<uint32_t>blocks, l.t, l.x, l.r, l.c, l.work, l.result, undone)
        for b in range(blocks):
            done = done and not undone[b]
            for lane in range(min(lanes, n - first - b * lanes)):
                for i in range(n):
                    hessian[(first + b * lanes + lane) * n + i] = l.result[(b * n + i) * lanes + lane]
        first += blocks * lanes
    PyMem_Free(memory)
    return done


cdef bint changes_in_turn(Model m, int k, const Arguments *at, double *hessian) except -1:
    """The same, one unit after the other; ``at.x`` is `state`."""
    cdef Py_ssize_t n = m.size[k], i
    cdef double *direction = m.state + m.n_x + n_beyond(m, k) - n
    for i in range(n):
        memset(direction, 0, n * sizeof(double))
        direction[i] = 1.0
        m.work[0] = 0.0
        m.kernels[k](at.t, at.x, at.r, at.c, m.work, hessian + i * n)
        if m.work[0] != 0.0:
            return False
    return True


cdef object hessian_at_once(Model m, object t, object x, object weights, object r, object p):
    """`rhs_hessian` of one state in plain arrays; None for others, and where the kernel has no result."""
    cdef int k = K_RHS_GRADIENT_CHANGE
    cdef Py_ssize_t n = m.size[k], i, j
    cdef cnp.npy_intp shape[2]
    cdef double *to = m.state + m.n_x
    cdef double *h
    cdef Arguments at
    if weights is None or m.kernels[k] == NULL or m.single or not plain(m, k, t, x, r, p, &at):
        return None
    if not (put(&to, None, m.n_u + m.n_constraints) and put(&to, weights, m.n_x)):
        return None
    memcpy(m.state, at.x, m.n_x * sizeof(double))
    memset(to, 0, n * sizeof(double))
    at.x = m.state
    shape[0] = shape[1] = n
    hessian = cnp.PyArray_EMPTY(2, shape, cnp.NPY_DOUBLE, 0)
    h = data(hessian)
    if n > 1:
        m.open_lanes(k)
    if m.lane_kernels[k] == NULL or n < 2 or not changes_in_lanes(m, k, &at, h):
        if not changes_in_turn(m, k, &at, h):
            return None
    if not all_finite(h, n * n):
        return None
    for i in range(n):
        for j in range(i):
            h[i * n + j] = h[j * n + i] = 0.5 * (h[i * n + j] + h[j * n + i])
    return hessian
