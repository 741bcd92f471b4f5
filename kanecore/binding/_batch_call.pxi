# SPDX-License-Identifier: BSD-3-Clause
# One call of a kernel, with any number of states, in lanes and threads; included by _native.pyx.

cdef extern from "threads/kc_threads.h" nogil:
    ctypedef struct kc_job:
        part_function run
        void *work
        int n_parts

    void kc_offer(kc_job *job, int n)
    void kc_take_parts(kc_job *job)
    bint kc_ended(kc_job *job)
    void kc_forget_threads()

ARGUMENTS = ("t", "x", "udot", "r", "p")
"""The operands of a kernel, in the order of `OF_T`, ..."""

cdef enum:
    MOST_LANES = 16
    MOST_DOUBLES = 8        # in the place of a number of each lane
    BROADCAST_AXES = 32     # that NumPy broadcasts
    CACHE = 1 << 15         # numbers that fit into the second cache of common processors
    MOST_THREADS = 1024     # more than the cores of any machine

cdef struct Batch:
    Py_ssize_t n_rows, n_x, n_beyond, n_r, size     # n_beyond: numbers that x goes on with
    Py_ssize_t first                    # the number of the first row
    Py_ssize_t n_failed                 # rows
    int n_dims                          # leading axes
    cnp.npy_intp lengths[MOST_AXES]     # of the leading axes
    cnp.npy_intp index[MOST_AXES]       # current place, a number for each axis
    const char *begin[N_OPERANDS]       # the operands of the first row of all
    const char *at[N_OPERANDS]          # the operands of the row
    bint reads_p                        # otherwise at[OF_P] is not used, and c has the parameters
    bint single                         # whether all numbers are floats
    Py_ssize_t item                     # bytes of a number
    cnp.npy_intp steps[N_OPERANDS][MOST_AXES]   # bytes to the next element of each along each axis
    Py_ssize_t spans[N_OPERANDS]        # bytes to the next number of a row; not the item's where rows lie in columns
    kc_prepare *prepare
    const char *prepared                # the parameters from which c was prepared
    int n_varying
    int varying[N_OPERANDS]             # the operands that vary between rows
    double *state                       # [q, u, udot, lambda, ...]
    double *c
    double *work
    char *results                       # of all rows
    double *out
    unsigned char *status               # a row: a kc_status
    int *number                         # of each row: work[1]
    bint asks                           # whether Ctrl-C was pressed: the thread of the call does
    Ending *ending                      # by Ctrl-C: the rows after it are not done

cdef struct Lanes:
    const kc_lanes *table
    kc_lane_kernel *kernel
    const char *rows[KC_MOST_BLOCKS][N_OPERANDS][MOST_LANES]    # the operands of the rows in the lanes
    double *out[KC_MOST_BLOCKS][MOST_LANES]
    uint32_t undone[KC_MOST_BLOCKS]
    bint varies[N_OPERANDS]             # whether an operand varies between rows
    bint in_one_axis                    # whether all others lie at equal steps, and parameters are not among them
    Py_ssize_t n_blocks                 # in a call
    Py_ssize_t n_doubles                # in the place of a number of each lane
    Py_ssize_t n_x, n_p, n_prepared     # n_x: as many numbers as the kernel reads
    double *t                           # in lanes, block by block, as all that follow
    double *x
    double *r
    double *p
    double *c
    double *work
    double *result
    double *constants                   # row by row, for rows whose constants are prepared
    double *spare                       # the result of lanes without a row
    char *copies                        # of rows that lie in columns, one after another


cdef inline void advance(Batch *b, Py_ssize_t n) noexcept nogil:
    """Move to the operands of the n-th next row, at most to the end of the last axis, which runs fastest."""
    cdef int i, operand, axis = b.n_dims - 1
    while axis >= 0:
        b.index[axis] += n
        for i in range(b.n_varying):
            operand = b.varying[i]
            b.at[operand] += n * b.steps[operand][axis]
        if b.index[axis] < b.lengths[axis]:
            break
        for i in range(b.n_varying):
            operand = b.varying[i]
            b.at[operand] -= b.lengths[axis] * b.steps[operand][axis]
        b.index[axis] = 0
        axis -= 1
        n = 1


cdef bint run_row(kc_kernel *f, Batch *b, const char **at, Py_ssize_t i, double *out) noexcept nogil:
    """Call ``f`` for row i with the operands at ``at``, and return whether it failed."""
    cdef double t = number_at(<const double *>at[OF_T], 0, b.single)
    cdef const double *x = <const double *>at[OF_X]
    cdef const double *r = <const double *>at[OF_R]
    if b.n_beyond:
        memcpy(b.state, x, b.n_x * b.item)
        memcpy(shifted(b.state, b.n_x, b.item), at[OF_UDOT], b.n_beyond * b.item)
        x = b.state
    if b.reads_p and at[OF_P] != b.prepared:
        call_prepare(b.prepare, <const double *>at[OF_P], b.c, b.single)
        b.prepared = at[OF_P]
    call_kernel(f, t, x, r, b.c, b.work, out, b.single)
    if (finite_numbers(out, b.size, b.single) or not isfinite(t) or not finite_numbers(r, b.n_r, b.single)
            or not finite_numbers(x, b.n_x + b.n_beyond, b.single)):
        return False
    b.status[i] = <unsigned char>number_at(b.work, 0, b.single) or KC_NONFINITE
    b.number[i] = <int>number_at(b.work, 1, b.single)
    return True


cdef bint stopped(Batch *b, Py_ssize_t before, Py_ssize_t after) noexcept nogil:
    """Test whether Ctrl-C was pressed, once every PATIENCE rows."""
    if b.asks and before // PATIENCE != after // PATIENCE:
        asked_to_end(b.ending)
    return b.ending.told


cdef Py_ssize_t run_rows(kc_kernel *f, Batch *b) noexcept nogil:
    """Call ``f`` row by row and return the number of failed rows.  The operands may be anywhere."""
    cdef Py_ssize_t i, n_failed = 0
    for i in range(b.n_rows):
        n_failed += run_row(f, b, b.at, b.first + i, shifted(b.out, i * b.size, b.item))
        if stopped(b, i, i + 1):
            break
        advance(b, 1)
    return n_failed


cdef void begin_at(Batch *b, Py_ssize_t first, Py_ssize_t n_rows) noexcept nogil:
    """Go to a row; ``n`` rows are to be done."""
    cdef Py_ssize_t rest = first
    cdef int i, operand, axis
    b.first, b.n_rows, b.out = first, n_rows, <double *>(b.results + first * b.size * b.item)
    memcpy(b.at, b.begin, sizeof(b.at))
    for axis in range(b.n_dims - 1, -1, -1):
        b.index[axis] = rest % b.lengths[axis]
        rest = rest // b.lengths[axis]
        for i in range(b.n_varying):
            operand = b.varying[i]
            b.at[operand] += b.index[axis] * b.steps[operand][axis]


cdef bint in_one_axis(Batch *b) noexcept:
    """Join the leading axes if the rows of each varying operand are at equal positive steps."""
    cdef int i, operand, axis, last = b.n_dims - 1
    for i in range(b.n_varying):
        operand = b.varying[i]
        if b.steps[operand][last] <= 0 or b.steps[operand][last] % b.item:
            return False
        for axis in range(last):
            if b.steps[operand][axis] != b.steps[operand][axis + 1] * b.lengths[axis + 1]:
                return False
    for i in range(b.n_varying):
        operand = b.varying[i]
        b.steps[operand][0] = b.steps[operand][last]
    for axis in range(last):
        b.lengths[last] *= b.lengths[axis]
    b.n_dims, b.lengths[0] = 1, b.lengths[last]
    return True


cdef inline const char *row_at(Batch *b, Lanes *l, Py_ssize_t block, int operand, Py_ssize_t lane,
                               const char *at) noexcept nogil:
    """The row itself, or a contiguous copy."""
    cdef char *copy
    cdef Py_ssize_t i, n, before
    if b.spans[operand] == b.item:
        return at
    n = b.n_x if operand == OF_X else b.n_beyond if operand == OF_UDOT else b.n_r
    before = 0 if operand == OF_X else b.n_x if operand == OF_UDOT else l.n_x
    copy = l.copies + ((block * l.table.n_lanes + lane) * (l.n_x + b.n_r) + before) * b.item
    for i in range(n):
        memcpy(copy + i * b.item, at + i * b.spans[operand], b.item)
    return copy


cdef void take_rows(Batch *b, Lanes *l, Py_ssize_t block, Py_ssize_t done) noexcept nogil:
    """Places of the operands and results of the next rows, a lane each; further lanes repeat the last row."""
    cdef int i, operand, last = b.n_dims - 1
    cdef Py_ssize_t lane = 0, n, k, n_lanes = l.table.n_lanes, n_rows = min(b.n_rows - done, <Py_ssize_t>l.table.n_lanes)
    while lane < n_rows:
        n = min(n_rows - lane, b.lengths[last] - b.index[last])
        for i in range(b.n_varying):
            operand = b.varying[i]
            for k in range(n):
                l.rows[block][operand][lane + k] = row_at(b, l, block, operand, lane + k, b.at[operand] + k * b.steps[operand][last])
        advance(b, n)
        lane += n
    for lane in range(n_lanes):
        l.out[block][lane] = shifted(b.out, (done + lane) * b.size, b.item) if lane < n_rows else l.spare
    for lane in range(n_rows, n_lanes):
        for operand in range(N_OPERANDS):
            l.rows[block][operand][lane] = l.rows[block][operand][n_rows - 1]


cdef inline void gather(Lanes *l, Py_ssize_t block, int operand, Py_ssize_t n, double *to) noexcept nogil:
    l.table.gather(<uint32_t>n, <const double *const *>l.rows[block][operand], to)


cdef void fill_block(Batch *b, Lanes *l, Py_ssize_t block, bint varying) noexcept nogil:
    """Gather the operands of a block: the varying ones, or the constant ones."""
    cdef Py_ssize_t n = l.n_doubles
    if l.varies[OF_T] == varying:
        gather(l, block, OF_T, 1, l.t + block * n)
    if l.varies[OF_X] == varying:
        gather(l, block, OF_X, b.n_x, l.x + block * l.n_x * n)
    if b.n_beyond and l.varies[OF_UDOT] == varying:
        gather(l, block, OF_UDOT, b.n_beyond, l.x + (block * l.n_x + b.n_x) * n)
    if l.varies[OF_R] == varying:
        gather(l, block, OF_R, b.n_r, l.r + block * b.n_r * n)
    if l.varies[OF_P] == varying and block == 0:
        prepare_lanes(b, l)


cdef void fill_in_common(Batch *b, Lanes *l, Py_ssize_t n_blocks) noexcept nogil:
    """Places and numbers of the operands common to all rows."""
    cdef int operand
    cdef Py_ssize_t lane, block
    for block in range(n_blocks):
        for operand in range(N_OPERANDS):
            for lane in range(<Py_ssize_t>l.table.n_lanes):
                l.rows[block][operand][lane] = b.at[operand]
        fill_block(b, l, block, False)


cdef inline void gather_blocks(Batch *b, Lanes *l, Py_ssize_t n_blocks, int operand, Py_ssize_t n, double *to,
                               Py_ssize_t length) noexcept nogil:
    if l.varies[operand]:
        l.table.gather_blocks(<uint32_t>n_blocks, <uint32_t>n, <const double *>b.at[operand],
                              b.steps[operand][0] // b.item, b.spans[operand] // b.item, to, <uint32_t>length)


cdef void fill_blocks(Batch *b, Lanes *l, Py_ssize_t n_blocks) noexcept nogil:
    """The varying operands, for rows at equal steps."""
    gather_blocks(b, l, n_blocks, OF_T, 1, l.t, 1)
    gather_blocks(b, l, n_blocks, OF_X, b.n_x, l.x, l.n_x)
    if b.n_beyond:
        gather_blocks(b, l, n_blocks, OF_UDOT, b.n_beyond, l.x + b.n_x * l.n_doubles, l.n_x)
    gather_blocks(b, l, n_blocks, OF_R, b.n_r, l.r, b.n_r)


cdef void prepare_lanes(Batch *b, Lanes *l) noexcept nogil:
    """The constants in the lanes of the first block: a common set, or each row's own."""
    cdef const double *constants[MOST_LANES]
    cdef int lane, n_lanes = l.table.n_lanes
    if b.reads_p and l.table.prepare != NULL:
        gather(l, 0, OF_P, l.n_p, l.p)
        l.table.prepare(l.p, l.c)   # of lanes, with arrays of either type
        return
    for lane in range(n_lanes):
        constants[lane] = b.c
        if b.reads_p:
            constants[lane] = shifted(l.constants, lane * l.n_prepared, b.item)
            if lane and l.rows[0][OF_P][lane] == l.rows[0][OF_P][lane - 1]:
                constants[lane] = constants[lane - 1]
            else:
                call_prepare(b.prepare, <const double *>l.rows[0][OF_P][lane], <double *>constants[lane], b.single)
    l.table.gather(<uint32_t>l.n_prepared, <const double *const *>constants, l.c)


cdef Py_ssize_t run_undone(kc_kernel *f, Batch *b, Lanes *l, Py_ssize_t block, Py_ssize_t done) noexcept nogil:
    """Call ``f`` for the rows of a block that fail or are not finite, and return the number of failed rows."""
    cdef Py_ssize_t n_failed = 0
    cdef int lane
    if l.undone[block] == 0:
        return 0
    for lane in range(<int>l.table.n_lanes):
        if l.undone[block] >> lane & 1 and done + lane < b.n_rows:
            n_failed += run_lane(f, b, l, block, lane, done + lane)
    return n_failed


cdef bint run_lane(kc_kernel *f, Batch *b, Lanes *l, Py_ssize_t block, int lane, Py_ssize_t row) noexcept nogil:
    """The row of a lane, by a single call."""
    cdef const char *at[N_OPERANDS]
    cdef int operand
    for operand in range(N_OPERANDS):
        at[operand] = l.rows[block][operand][lane]
    return run_row(f, b, at, b.first + row, l.out[block][lane])


cdef Py_ssize_t run_lanes(kc_kernel *f, Batch *b, Lanes *l) noexcept nogil:
    """Call ``f`` for several rows at once."""
    cdef Py_ssize_t done = 0, n_failed = 0, n_blocks, block, n_lanes = l.table.n_lanes
    cdef Py_ssize_t most = 1 if l.varies[OF_P] else l.n_blocks
    cdef Py_ssize_t n_whole = b.n_rows // n_lanes - 1 if l.in_one_axis else 0   # blocks that another follows
    cdef bint whole
    fill_in_common(b, l, min(most, (b.n_rows + n_lanes - 1) // n_lanes))
    while done < b.n_rows:
        whole = done < n_whole * n_lanes
        n_blocks = min(most, n_whole - done // n_lanes if whole else (b.n_rows - done + n_lanes - 1) // n_lanes)
        if whole:
            fill_blocks(b, l, n_blocks)
        else:
            for block in range(n_blocks):
                take_rows(b, l, block, done + block * n_lanes)
                fill_block(b, l, block, True)
        l.kernel(<uint32_t>n_blocks, l.t, l.x, l.r, l.c, l.work, l.result, l.undone)
        if whole:
            l.table.scatter_blocks(<uint32_t>n_blocks, <uint32_t>b.size, l.result, shifted(b.out, done * b.size, b.item))
            if any_undone(l, n_blocks):
                for block in range(n_blocks):
                    take_rows(b, l, block, done + block * n_lanes)
            else:
                advance(b, n_blocks * n_lanes)
        else:
            for block in range(n_blocks):
                l.table.scatter(<uint32_t>b.size, l.result + block * b.size * l.n_doubles, l.out[block])
        for block in range(n_blocks):
            n_failed += run_undone(f, b, l, block, done + block * n_lanes)
        if stopped(b, done, done + n_blocks * n_lanes):
            break
        done += n_blocks * n_lanes
    return n_failed


cdef inline bint any_undone(Lanes *l, Py_ssize_t n_blocks) noexcept nogil:
    cdef Py_ssize_t block
    for block in range(n_blocks):
        if l.undone[block]:
            return True
    return False


cdef int check_out(object out, tuple shape, list operands, object dtype) except -1:
    """Raise unless C may write a result of this shape into ``out`` while it reads ``operands``."""
    if not isinstance(out, np.ndarray):
        raise TypeError(f"out must be an ndarray, got {type(out).__name__}")
    if out.dtype != dtype or not cnp.PyArray_ISNOTSWAPPED(out):
        raise TypeError(f"out must be of dtype {dtype}, got {out.dtype}")
    if out.shape != shape:
        raise ValueError(f"out has shape {out.shape}, expected {shape}")
    if not (cnp.PyArray_IS_C_CONTIGUOUS(out) and cnp.PyArray_ISALIGNED(out)):
        raise ValueError("out must be C-contiguous and aligned")
    if not cnp.PyArray_ISWRITEABLE(out):
        raise ValueError("out is read-only")
    for name, operand in zip(ARGUMENTS, operands):
        if operand is not None and may_overlap(out, operand):
            raise ValueError(f"out may not overlap {name}")
    return 0


cdef bint may_overlap(object a, object b) noexcept:
    """Test whether the memory of two arrays, from lowest to highest number, has bytes in common."""
    cdef const char *low[2]
    cdef const char *end[2]
    cdef int i, axis
    cdef Py_ssize_t reach
    for i in range(2):
        array = b if i else a
        low[i] = end[i] = <const char *>cnp.PyArray_DATA(array)
        for axis in range(cnp.PyArray_NDIM(array)):
            if cnp.PyArray_DIM(array, axis) == 0:
                return False
            reach = (cnp.PyArray_DIM(array, axis) - 1) * cnp.PyArray_STRIDE(array, axis)
            if reach > 0:
                end[i] += reach
            else:
                low[i] += reach
        end[i] += item_size(array)
    return low[0] < end[1] and low[1] < end[0]


cdef tuple leading_axes(list operands, str beyond):
    """The shape to which the leading axes of the operands broadcast; ``beyond`` names the vectors after x, in errors.
    """
    if cnp.PyArray_NDIM(operands[OF_T]) == 0 and 1 < cnp.PyArray_NDIM(operands[OF_X]) <= BROADCAST_AXES:
        if operands[OF_UDOT] is None and operands[OF_R] is None and operands[OF_P] is None:     # rows of x alone
            return operands[OF_X].shape[:cnp.PyArray_NDIM(operands[OF_X]) - 1]
    leading = [a if a is None else a.shape[:a.ndim - (i > 0)] for i, a in enumerate(operands)]
    different = {axes for axes in leading if axes}
    if len(different) == 0:
        return ()
    if len(different) == 1 and len(next(iter(different))) <= BROADCAST_AXES:    # the usual case, without broadcasting
        return different.pop()
    try:
        return broadcast_shapes(*[axes for axes in leading if axes is not None])
    except ValueError as error:
        shapes = ", ".join([f"{name} {axes}" for name, axes in zip(("t", "x", beyond, "r", "p"), leading) if axes])
        raise ValueError(f"leading axes do not broadcast: {shapes}: {error}") from None


cdef Py_ssize_t numbers_of_block(Model m, int k) noexcept:
    """Count of the numbers of each lane of a block: t, x, r, work and result."""
    return 1 + m.n_x + n_beyond(m, k) + m.n_r + m.n_lane_work + m.size[k]


cdef Py_ssize_t blocks_of(Model m, int k) noexcept:
    """Number of blocks in a call of kernel k, so that their numbers fit into the cache."""
    return max(1, min(KC_MOST_BLOCKS, CACHE // (numbers_of_block(m, k) * MOST_DOUBLES)))


cdef Py_ssize_t lane_room(Model m, int k) noexcept:
    """Room that `place_lanes` takes, in doubles."""
    cdef Py_ssize_t in_lanes = blocks_of(m, k) * numbers_of_block(m, k) + m.n_p + 2 * m.n_prepared
    cdef Py_ssize_t copies = blocks_of(m, k) * (m.n_x + n_beyond(m, k) + m.n_r)
    return MOST_DOUBLES * (in_lanes + copies) + m.size[k] + ALIGNMENT // <Py_ssize_t>sizeof(double)


cdef void place_lanes(Model m, int k, double *memory, Lanes *l) noexcept:
    """Lanes for kernel k, with contiguous arrays."""
    cdef Py_ssize_t lane, n = m.lanes.n_lanes * m.item // sizeof(double), blocks = blocks_of(m, k)
    l.table, l.kernel, l.n_p, l.n_prepared = m.lanes, m.lane_kernels[k], m.n_p, m.n_prepared
    l.n_blocks, l.n_doubles, l.n_x = blocks, n, m.n_x + n_beyond(m, k)
    l.t = <double *>((<uintptr_t>memory + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT)
    l.x = l.t + blocks * n
    l.r = l.x + blocks * n * l.n_x
    l.p = l.r + blocks * n * m.n_r
    l.c = l.p + n * m.n_p
    l.work = l.c + n * m.n_prepared
    l.result = l.work + blocks * n * m.n_lane_work
    l.constants = l.result + blocks * n * m.size[k]
    l.spare = l.constants + n * m.n_prepared
    l.copies = <char *>(l.spare + m.size[k])
    for lane in range(m.lanes.n_lanes):
        m.place_addresses(shifted(l.constants, lane * m.n_prepared, m.item))


cdef struct Worker:         # data of a thread; numbers follow
    Batch batch
    Lanes lanes

cdef struct Call:           # with many states, which threads share in parts
    kc_kernel *kernel
    bint in_lanes
    Py_ssize_t n_rows, n_parts
    char *workers
    Py_ssize_t n_bytes      # of each


cdef inline Worker *worker_of(Call *call, Py_ssize_t thread) noexcept nogil:
    return <Worker *>(call.workers + thread * call.n_bytes)


cdef inline Py_ssize_t bound(Call *call, Py_ssize_t part) noexcept nogil:
    """The first row of a part; each but the last fills lanes."""
    return call.n_rows if part == call.n_parts else call.n_rows * part // call.n_parts // MOST_LANES * MOST_LANES


cdef void run_part(void *shared, int thread, int part) noexcept nogil:
    """Call the kernel for the rows of a part."""
    cdef Call *call = <Call *>shared
    cdef Worker *worker = worker_of(call, thread)
    cdef Batch *batch = &worker.batch
    cdef Py_ssize_t first = bound(call, part), end = bound(call, part + 1)
    if batch.ending.told or end == first:
        return
    begin_at(batch, first, end - first)
    if call.in_lanes:
        batch.n_failed += run_lanes(call.kernel, batch, &worker.lanes)
    else:
        batch.n_failed += run_rows(call.kernel, batch)


def _forget_threads():
    """Reset in a forked child, which has no other threads."""
    kc_forget_threads()


if hasattr(os, "register_at_fork"):     # not on Windows
    os.register_at_fork(after_in_child=_forget_threads)


cdef int share_parts(part_function run, void *work, int n_parts, int threads, Ending *ending) except -1:
    """Do all parts of a work, on at most ``n`` threads, without the GIL; raise the exception of Ctrl-C."""
    cdef kc_job job
    cdef int part
    with nogil:
        if min(threads, n_parts) < 2:
            for part in range(n_parts):
                run(work, 0, part)
        else:
            job.run, job.work, job.n_parts = run, work, n_parts
            kc_offer(&job, min(threads, n_parts) - 1)
            kc_take_parts(&job)
            while not kc_ended(&job):
                asked_to_end(ending)
    if ending.error != NULL:
        raise taken_exception(&ending.error)
    return 0


cdef int thread_count(object threads) except -1:
    """Largest number of threads of a call."""
    if isinstance(threads, bool) or not hasattr(threads, "__index__"):
        raise TypeError(f"threads is {threads!r}; it must be a whole number: how many, or -1 for one a core")
    n = threads.__index__()
    if n != -1 and n < 1:
        raise ValueError(f"threads is {n}; it must be at least 1, or -1 for one a core")
    if n > 0:
        return min(n, MOST_THREADS)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cython.final
cdef class Evaluation:
    """A call with any number of states: its operands, and the outcome of each."""

    cdef Model model
    cdef int k
    cdef list operands              # in the order of ARGUMENTS; None if one value is for all rows
    cdef Block inputs, parameters   # default operands
    cdef tuple shape                # leading axes
    cdef object result
    cdef object status, numbers     # of each state: the result of run_row
    cdef int threads
    cdef bint in_columns            # whether rows of an operand do, whose numbers then lie apart

    cdef int read(self, object t, object x, object udot, object r, object p) except -1:
        """Convert and check the arguments."""
        cdef Model m = self.model
        self.operands = [real_array("t", t, m.dtype), self.rows("state", "x", x, m.n_x), None, None, None]
        if reads_udot(self.k):      # a continuation with multipliers is already an array of doubles
            self.operands[OF_UDOT] = self.rows("udot", "udot", udot, m.n_u) if n_beyond(m, self.k) == m.n_u else numbers(udot, m.dtype)
        sets = None if p is None else m.names.rows("parameter", p, None, self.k)
        if sets is None:
            self.parameters = m.resolve_parameters(None, self.k)
        elif m.are_current(sets):
            self.parameters = m.parameter_block
        else:
            self.operands[OF_P] = sets
        if r is None:
            self.inputs = m.resolve_inputs(None)
        else:
            self.operands[OF_R] = self.rows("input", "r", r, m.n_r)
        self.shape = leading_axes(self.operands, "udot" if n_beyond(m, self.k) == m.n_u else "direction or weights")
        return 0

    cdef object rows(self, str kind, str argument, object values, Py_ssize_t n):
        """Rows of n numbers, as from `Names.rows`; many rows in columns, which lanes can read, are not copied."""
        cdef Model m = self.model
        cdef int last
        if type(values) is list:
            values = real_array(argument, values, m.dtype)
        last = cnp.PyArray_NDIM(values) - 1 if cnp.PyArray_CheckExact(values) else -1
        if last < 0 or cnp.PyArray_DIM(values, last) != n:
            return m.names.rows(kind, values)     # others, and the errors
        if is_ready(values, m.dtype):
            return values
        if (last == 1 and cnp.PyArray_STRIDE(values, 0) == m.item and cnp.PyArray_DIM(values, 0) >= m.rows_for_lanes
                and cnp.PyArray_ISBEHAVED_RO(values) and values.dtype == m.dtype):
            self.in_columns = True
            return values
        return m.names.rows(kind, values)

    cdef int write_to(self, object out) except -1:
        """Write results to ``out``, after a check, or to a new array for None."""
        cdef Model m = self.model
        cdef int axis
        shape = self.shape + tuple([m.dims[self.k][axis] for axis in range(m.n_dims[self.k])])
        if out is None:
            self.result = np.empty(shape, dtype=m.dtype)
        else:
            check_out(out, shape, self.operands, m.dtype)
            self.result = out
        return 0

    cdef object wide(self, int i):
        """Operand i with all the leading axes."""
        a = self.operands[i]
        return np.broadcast_to(a, self.shape + a.shape[a.ndim - (i > 0):])

    cdef Py_ssize_t run(self) except -1:
        """Call the kernel for every state; return the number of failures."""
        cdef Py_ssize_t n_parts, i
        cdef cnp.npy_intp n_rows = 1
        for i in self.shape:
            n_rows *= i
        self.status = cnp.PyArray_ZEROS(1, &n_rows, cnp.NPY_UINT8)
        self.numbers = cnp.PyArray_EMPTY(1, &n_rows, cnp.NPY_INT)
        if n_rows >= self.model.rows_for_lanes:
            self.model.open_lanes(self.k)
        if self.in_columns and not self.in_lanes(n_rows):
            self.operands = [a if a is None else numbers(a, self.model.dtype) for a in self.operands]
        n_parts = min(<Py_ssize_t>self.threads * PARTS_OF_A_THREAD, n_rows // ROWS_OF_A_PART)
        return self.run_parts(n_rows, 1 if self.threads == 1 else max(n_parts, 1))

    cdef bint in_lanes(self, Py_ssize_t n_rows) noexcept:
        return n_rows > 1 and self.model.lane_kernels[self.k] != NULL and self.model.size[self.k] > 0

    cdef Py_ssize_t run_parts(self, Py_ssize_t n_rows, Py_ssize_t n_parts) except -1:
        """Call the kernel for all rows, with separate memory for each thread; return the number of failures."""
        cdef Model m = self.model
        cdef Call call
        cdef Ending ending
        cdef Py_ssize_t i, room, n_failed = 0, n_threads = min(self.threads, n_parts)
        call.kernel, call.n_rows, call.n_parts, call.in_lanes = m.kernels[self.k], n_rows, n_parts, self.in_lanes(n_rows)
        room = m.n_state + m.n_prepared + m.n_work + (lane_room(m, self.k) if call.in_lanes else 0)
        call.n_bytes = sizeof(Worker) + room * sizeof(double)
        call.workers = <char *>allocate(n_threads * call.n_bytes // <Py_ssize_t>sizeof(double))
        try:
            ending.told, ending.error = False, NULL
            for i in range(n_threads):
                self.equip(worker_of(&call, i), &ending, call.in_lanes)
            worker_of(&call, 0).batch.asks = True
            if n_rows > 1:
                share_parts(run_part, &call, <int>n_parts, <int>n_threads, &ending)
            else:       # the GIL is kept
                run_part(&call, 0, 0)
            for i in range(n_threads):
                n_failed += worker_of(&call, i).batch.n_failed
        finally:
            PyMem_Free(call.workers)
        return n_failed

    cdef int equip(self, Worker *worker, Ending *ending, bint in_lanes) except -1:
        """Memory of a thread: operands, results and scratch."""
        cdef Model m = self.model
        cdef Batch *batch = &worker.batch
        cdef Lanes *lanes = &worker.lanes
        cdef int i
        batch.state = <double *>(worker + 1)
        batch.asks, batch.ending = False, ending
        self.find_steps(batch)
        self.fill(batch)
        if in_lanes:
            for i in range(N_OPERANDS):
                lanes.varies[i] = False
            for i in range(batch.n_varying):
                lanes.varies[batch.varying[i]] = True
            place_lanes(m, self.k, batch.work + m.n_work, lanes)
            lanes.in_one_axis = not lanes.varies[OF_P] and in_one_axis(batch)
        return 0

    cdef int find_steps(self, Batch *batch) except -1:
        """The lengths and steps of the leading axes."""
        cdef int i, axis, offset
        batch.n_dims, batch.n_varying = len(self.shape), 0
        for axis in range(batch.n_dims - 1, -1, -1):
            batch.lengths[axis] = self.shape[axis]
        for i in range(N_OPERANDS):
            a, varies = self.operands[i], False
            batch.spans[i] = self.model.item
            if self.in_columns and i in (OF_X, OF_UDOT, OF_R) and a is not None:
                batch.spans[i] = cnp.PyArray_STRIDE(a, cnp.PyArray_NDIM(a) - 1)
            offset = 0 if a is None else batch.n_dims - (cnp.PyArray_NDIM(a) - (i > 0))
            for axis in range(batch.n_dims):
                batch.steps[i][axis] = 0
                if a is not None and axis >= offset and cnp.PyArray_DIM(a, axis - offset) != 1:
                    batch.steps[i][axis] = cnp.PyArray_STRIDE(a, axis - offset)
                    varies = True
            if varies:
                batch.varying[batch.n_varying] = i
                batch.n_varying += 1
        return 0

    cdef int fill(self, Batch *batch) except -1:
        """Fill in operands and results of the batch, without the lengths and steps of its axes."""
        cdef Model m = self.model
        cdef Py_ssize_t i
        batch.n_x, batch.n_beyond, batch.n_r, batch.size = m.n_x, n_beyond(m, self.k), m.n_r, m.size[self.k]
        batch.single, batch.item = m.single, m.item
        batch.c = batch.state + m.n_state
        batch.work = batch.c + m.n_prepared
        batch.prepare, batch.prepared = m.table.prepare, NULL
        batch.reads_p = self.operands[OF_P] is not None
        for i in range(N_OPERANDS):
            batch.begin[i] = <const char *>batch.state
            if self.operands[i] is not None:
                batch.begin[i] = <const char *>cnp.PyArray_DATA(self.operands[i])
        if self.inputs is not None:
            batch.begin[OF_R] = <const char *>self.inputs.read
        m.place_addresses(batch.c)
        if self.parameters is not None:
            memcpy(batch.c, self.parameters.read, m.n_prepared * m.item)
        batch.results = <char *>data(self.result)
        batch.status = <unsigned char *>cnp.PyArray_DATA(self.status)
        batch.number = <int *>cnp.PyArray_DATA(self.numbers)
        batch.n_failed = 0
        return 0

    cdef int settle(self) except -1:
        """Count lost rows of G again, for each state; raise for the first state that still fails."""
        cdef Model m = self.model
        cdef Arguments at
        cdef Outcome outcome
        for number in np.flatnonzero(self.status == KC_LOST):
            owners = self.arguments(number, &at)
            outcome.status, outcome.number = self.status[number], self.numbers[number]
            if recounted(m, self.k, &at, shifted(data(self.result), number * m.size[self.k], m.item), &outcome):
                outcome.status = KC_OK
            self.status[number] = outcome.status
        failed = np.flatnonzero(self.status)
        singular = np.flatnonzero((self.status == KC_SINGULAR) | (self.status == KC_LOST))
        if len(failed):
            number = singular[0] if len(singular) else failed[0]
            owners = self.arguments(number, &at)
            outcome.status, outcome.number = self.status[number], self.numbers[number]
            single = not self.shape
            raise failure(m, self.k, outcome, &at, None if single else failed, None if single else self.result)
        return 0

    cdef tuple arguments(self, object number, Arguments *at):
        """The arguments of a state, in ``at``, valid as long as the returned object lives."""
        cdef Block inputs, parameters
        where = np.unravel_index(number, self.shape)
        row = [None if a is None else np.ascontiguousarray(self.wide(i)[where]) for i, a in enumerate(self.operands)]
        inputs = self.model.resolve_inputs(row[OF_R])
        parameters = self.model.resolve_parameters(row[OF_P], self.k)
        x = row[OF_X] if row[OF_UDOT] is None else np.concatenate([row[OF_X], row[OF_UDOT]])
        at.t, at.x, at.r, at.c = row[OF_T].item(), data(x), inputs.read, parameters.read
        return x, inputs, parameters
