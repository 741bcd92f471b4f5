# SPDX-License-Identifier: BSD-3-Clause
# Rigid contacts of a run; included by _motion.pyx. kc_contacts.h has the mathematics.

cdef extern from "contacts/kc_contacts.h" nogil:
    ctypedef struct kc_contacts:
        kc_kernel *rhs
        kc_kernel *mass_matrix
        kc_kernel *forcing
        kc_kernel *qdot
        kc_kernel *zdot
        kc_kernel *jacobian
        kc_kernel *bias
        kc_kernel *project
        const double *c
        uint32_t n_q, n_u, n_z, n_constraints
        kc_kernel *rows
        const double *rows_c
        double *rows_work
        double *values
        uint32_t n, n_rows
        const uint32_t *length
        const uint32_t *placed
        const double *mu
        const double *mu_kin
        const double *least
        int32_t *mode
        double *way
        double now, since, slow
        double *noise
        double *mass
        double *half
        double *free
        uint32_t *begins
        double *h
        double *delassus
        double *start
        double *terms
        double *reference
        double *force
        double *after
        double *sizes
        double *udot
        double *work
        double spread
        int32_t rank, count
    size_t kc_contacts_work(const kc_contacts *k)
    void kc_contacts_at(kc_contacts *k, double t, const double *x, const double *r, double *work, int all)
    void kc_contacts_solve(kc_contacts *k, const double *start, int rubs)
    int kc_contacts_relax(kc_contacts *k, const double *start, double part, int most)
    void kc_contacts_laws(kc_contacts *k, double *g)
    void kc_contacts_pushed(const kc_contacts *k, double *out)
    void kc_contacts_values(kc_contacts *k, double t, const double *x, const double *r, double *work, double *g)
    void kc_contacts_rhs(double t, const double *x, const double *r, const double *c, double *work, double *out)
    void kc_contacts_qdot(double t, const double *x, const double *r, const double *c, double *work, double *out)
    void kc_contacts_project(double t, const double *x, const double *r, const double *c, double *work, double *out)


cdef class Contacts:
    """The rigid contacts of a model, for C: modes, and the motion by them.

    Parameters
    ----------
    model : Model
    rows : Model
        Its outputs are the numbers that kc_contacts.h calls `values`.
    lengths : sequence of int
        Rows of each contact, 1 to 3.
    placed : sequence of int
        Of each contact: 1 if its gap is a place, and no speed; plus 2 if it is no law that it is not negative.
    mu, mu_kin : sequence of float
        Friction coefficients at rest and in slip.
    p : array_like
        Parameters of the run.
    rank : int
        As for `integrate`.

    Attributes
    ----------
    mode, directions, noise : ndarray, (n,), (n, 2), (n,)
        To be set: 0 open, 1 closed, 2 sliding, 3 held; directions of slip, and the slips that have them since they are zero with
        rounding.
    gaps, gap_terms, speeds, speed_terms, matrix, delassus, start, terms : ndarray
        Results of `at`.
    force, after, sizes : ndarray, (n_constraints + n_rows,)
        Results of `solve`.
    least : ndarray, (n,)
        Least normal forces of `relax`.
    reference : ndarray, (n_constraints + n_rows,)
        Forces from which those of redundant rows are to differ least.
    """

    cdef kc_contacts k
    cdef Model model
    cdef object owned, room
    cdef double *scratch
    cdef readonly object mode, directions, noise, least, gaps, gap_terms, speeds, speed_terms, matrix, delassus, start, terms
    cdef readonly object reference, force, after, sizes, udot, free

    def __init__(self, Model model, Model rows, lengths, placed, mu, mu_kin, p, Py_ssize_t rank=-1):
        cdef kc_contacts *k = &self.k
        length, places = np.array(lengths, dtype=np.uint32), np.array(placed, dtype=np.uint32)
        coefficients = np.array([mu, mu_kin], dtype=np.float64)
        n, n_rows, n_u = len(length), int(length.sum()), model.n_u
        m = model.n_constraints + n_rows
        k.rhs, k.mass_matrix, k.forcing = model.kernel(K_RHS), model.kernel(K_MASS_MATRIX), model.kernel(K_FORCING)
        k.qdot = model.kernel(K_QDOT)
        if model.n_z:
            k.zdot = model.kernel(K_ZDOT)
        if model.n_constraints:
            k.jacobian, k.bias = model.kernel(K_CONSTRAINT_JACOBIAN), model.kernel(K_CONSTRAINT_BIAS)
        if model.n_configuration + model.n_velocity > 0:
            k.project = model.kernel(K_PROJECT)
        k.rows = rows.kernel(K_OUTPUTS)
        k.n_q, k.n_u, k.n_z = <uint32_t>model.n_q, <uint32_t>model.n_u, <uint32_t>model.n_z
        k.n_constraints, k.n, k.n_rows = <uint32_t>model.n_constraints, <uint32_t>n, <uint32_t>n_rows
        self.mode, self.directions, self.noise = np.zeros(n, dtype=np.int32), np.zeros((n, 2)), np.zeros(n)
        self.least = np.zeros(n)
        values = np.zeros(2 * n + n_rows * (3 + n_u))
        self.gaps, self.gap_terms = values[:n], values[n:2 * n]
        self.speeds, self.speed_terms, _ = values[2 * n:2 * n + 3 * n_rows].reshape(3, n_rows)
        self.matrix = values[2 * n + 3 * n_rows:].reshape(n_rows, n_u)
        mass, half, self.free, h = np.zeros((n_u, n_u)), np.zeros(n_u), np.zeros(n_u), np.zeros((m, n_u))
        begins = np.zeros(n_u, dtype=np.uint32)
        self.delassus, self.udot = np.zeros((m, m)), np.zeros(n_u)
        self.start, self.terms, self.force, self.after, self.sizes, self.reference = np.zeros((6, m))
        c, c_of_rows = constants_of(model, p, rank), constants_of(rows, p, -1)
        rows_work, work = np.zeros(rows.n_work), np.zeros(kc_contacts_work(k))
        self.room = np.zeros(model.n_work)
        self.owned = length, places, coefficients, values, mass, half, h, c, c_of_rows, rows_work, work, rows, begins
        k.c, k.rows_c = data(c), data(c_of_rows)
        k.rows_work, k.values = data(rows_work), data(values)
        k.length, k.mode = <const uint32_t *>cnp.PyArray_DATA(length), <int32_t *>cnp.PyArray_DATA(self.mode)
        k.mu, k.mu_kin = data(coefficients), data(coefficients[1])
        k.noise, k.least = data(self.noise), data(self.least)
        k.way, k.mass, k.half, k.free = data(self.directions), data(mass), data(half), data(self.free)
        k.h, k.delassus, k.start, k.terms = data(h), data(self.delassus), data(self.start), data(self.terms)
        k.force, k.after, k.sizes, k.udot = data(self.force), data(self.after), data(self.sizes), data(self.udot)
        k.placed = <const uint32_t *>cnp.PyArray_DATA(places)
        k.begins = <uint32_t *>cnp.PyArray_DATA(begins)
        k.work, k.reference = data(work), data(self.reference)
        self.model, self.scratch = model, data(self.room)

    @property
    def since(self):
        """The time since which the modes hold."""
        return self.k.since

    @since.setter
    def since(self, double t):
        self.k.since = t

    @property
    def slow(self):
        """The speed up to which a slip that begins or ends in space keeps its direction."""
        return self.k.slow

    @slow.setter
    def slow(self, double speed):
        self.k.slow = speed

    @property
    def spread(self):
        """Part of the right sides that contradicts dependent rows, of the last `solve`."""
        return self.k.spread

    @property
    def dependent(self):
        """Number of rows that depend on others, of the last `solve`."""
        return self.k.count - self.k.rank

    cdef void values(self, double t, const double *x, const double *r, double *g) noexcept nogil:
        kc_contacts_values(&self.k, t, x, r, self.scratch, g)

    def at(self, double t, x, r):
        """Evaluate the model and all rows at a state."""
        kc_contacts_at(&self.k, t, data(x), data(r), self.scratch, 1)
        if self.scratch[0] != 0.0:
            raise ModelError(f"the mass matrix of {self.model.name!r} is not positive definite at t = {t!r}, which "
                             "contacts need")

    def solve(self, start):
        """Compute `force`, `after` and `sizes` for right sides (n_constraints + n_rows,), by the modes."""
        kc_contacts_solve(&self.k, data(start), 1)

    def relax(self, start, double part, int most):
        """Improve `force` by projections, with a part of the friction; the number of sweeps, 0 if they did not suffice."""
        return kc_contacts_relax(&self.k, data(start), part, most)

    def held(self, start):
        """As `solve` without friction."""
        kc_contacts_solve(&self.k, data(start), 0)

    def laws(self):
        """Two functions of each contact, (n, 2), after `at` and `solve`: negative if its mode breaks a law."""
        out = np.empty((self.k.n, 2))
        kc_contacts_laws(&self.k, data(out))
        return out

    def pushed(self):
        """M⁻¹ times the generalized forces of `force`, (n_u,)."""
        out = np.empty(self.k.n_u)
        kc_contacts_pushed(&self.k, data(out))
        return out

    def rhs(self, double t, x, r):
        """The derivative of a state in the modes, (n_x,)."""
        out = np.empty(self.model.n_x)
        self.scratch[0] = 0.0
        kc_contacts_rhs(t, data(x), data(r), <const double *>&self.k, self.scratch, data(out))
        return out

    def projected(self, double t, x, r):
        """The nearest state at which closed contacts are closed, and do not slip where they stick."""
        out = np.empty(self.model.n_x)
        self.scratch[0] = 0.0
        kc_contacts_project(t, data(x), data(r), <const double *>&self.k, self.scratch, data(out))
        return out
