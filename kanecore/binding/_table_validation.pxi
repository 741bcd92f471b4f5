# SPDX-License-Identifier: BSD-3-Clause
# Opening a library and its table; included by _library.pyx.  The content of tables is checked only here.

import os

from kanecore.binding.table_checks import LARGEST, check_info, check_sizes, read_info

cdef extern from "kc_loader.h":
    const kc_model *kc_open_model(const char *path, char *message, size_t size)

cdef const kc_model *open_table(object path) except NULL:
    """The table of the library at ``path``, after a check of its version and content."""
    cdef char words[1024]
    cdef const kc_model *m
    path = os.path.abspath(path)
    m = kc_open_model(os.fsencode(path), words, sizeof(words))
    if m == NULL:
        message = words.decode("utf-8", "replace")
        raise ImportError(f"cannot open the compiled model {path}: {message}", path=path)
    if m.abi_version != KC_ABI_VERSION:
        raise ImportError(
            f"the compiled model {path} has a table of version {m.abi_version}, this kanecore reads version "
            f"{ABI_VERSION}: compile the model again (`kanecore cache --clear` forgets old ones), or install its "
            "wheel for this version of kanecore", path=path)
    if count_kernels(m) < 0:
        raise ImportError(
            f"the compiled model {path} has a table of {m.struct_size} bytes, which is no whole table of version "
            f"{ABI_VERSION}: compile the model again", path=path)
    try:
        check_table(m)
    except ValueError as error:
        raise ImportError(f"the compiled model {path} has a table that cannot be right: {error}: compile the model again",
                          path=path) from None
    return m


cdef int check_table(const kc_model *m) except -1:
    """Raise ValueError for an invalid table."""
    sizes = sizes_of(m)
    check_sizes(sizes)
    check_flags(m)
    check_names(m)
    check_numbers(m)
    check_info(table_info(m), sizes)
    return 0


cdef int count_kernels(const kc_model *m) noexcept nogil:
    """Number of kernels in a table, which is shorter in an older library; negative if the table ends before them."""
    cdef Py_ssize_t first = <const char *>first_kernel(m) - <const char *>m
    return <int>min((<Py_ssize_t>m.struct_size - first) // <Py_ssize_t>sizeof(kc_kernel *), N_KERNELS)


cdef dict sizes_of(const kc_model *m):
    """Sizes by name."""
    return {
        "n_q": m.n_q, "n_u": m.n_u, "n_p": m.n_p, "n_r": m.n_r, "n_prepared": m.n_prepared, "n_work": m.n_work,
        "n_points": m.n_points, "n_frames": m.n_frames, "n_outputs": m.n_outputs, "n_joints": m.n_joints,
        "n_bodies": m.n_bodies, "n_loads": m.n_loads, "n_potentials": m.n_potentials, "n_info": m.n_info,
        "n_unit": m.n_unit,
        "n_constraints": m.n_constraints, "n_configuration": m.n_configuration,
        "n_velocity": m.n_velocity, "n_auxiliary": m.n_auxiliary, "n_q_dependent": m.n_q_dependent,
        "n_u_dependent": m.n_u_dependent, "n_z": m.n_z, "n_reactions": m.n_reactions, "n_shares": m.n_shares,
    }


cdef int check_flags(const kc_model *m) except -1:
    """Raise ValueError for flags that are impossible, or inconsistent with the sizes."""
    if m.flags & ~<uint32_t>(KC_QDOT_IS_U | KC_SINGLE):
        raise ValueError(f"flags is {m.flags}, and no model has all of these")
    if m.flags & KC_QDOT_IS_U and m.n_q != m.n_u:
        raise ValueError(f"flags says qdot = u, and n_q is {m.n_q}, n_u is {m.n_u}")
    return 0


cdef int check_names(const kc_model *m) except -1:
    """Raise ValueError for a name that is missing or no text, and for a list of the wrong length."""
    if m.name == NULL:
        raise ValueError("name is NULL")
    text_of("name", m.name)
    check_list("info", m.info, m.n_info)
    check_list("q_names", m.q_names, m.n_q)
    check_list("u_names", m.u_names, m.n_u)
    check_list("z_names", m.z_names, m.n_z)
    check_list("p_names", m.p_names, m.n_p)
    check_list("r_names", m.r_names, m.n_r)
    check_list("point_names", m.point_names, m.n_points)
    check_list("frame_names", m.frame_names, m.n_frames)
    check_list("output_names", m.output_names, m.n_outputs)
    check_list("joint_names", m.joint_names, m.n_joints)
    check_list("body_names", m.body_names, m.n_bodies)
    check_list("constraint_names", m.constraint_names, m.n_constraints)
    return 0


cdef int check_list(str member, const char *const *names, Py_ssize_t n) except -1:
    cdef Py_ssize_t i
    if names == NULL:
        if n:
            raise ValueError(f"{member} is NULL, and not {n} names")
        return 0
    for i in range(n):
        if names[i] == NULL:
            raise ValueError(f"{member} ends after {i} names of {n}")
        text_of(f"{member}[{i}]", names[i])
    if names[n] != NULL:
        raise ValueError(f"{member} does not end with NULL after {n} names")
    return 0


cdef str text_of(str member, const char *text):
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError:
        raise ValueError(f"{member} is not UTF-8") from None


cdef int check_numbers(const kc_model *m) except -1:
    """Raise ValueError for a missing array of numbers, or a place beyond the coordinates or inputs."""
    cdef Py_ssize_t i
    for member, absent in (("p_default", m.n_p and m.p_default == NULL), ("r_default", m.n_r and m.r_default == NULL),
                           ("unit", m.n_unit and m.unit == NULL)):
        if absent:
            raise ValueError(f"{member} is NULL")
    for i in range(4 * m.n_unit):
        if m.unit[i] >= m.n_q:
            raise ValueError(f"unit[{i}] is {m.unit[i]} and n_q is {m.n_q}")
    if m.r_rates != NULL:
        for i in range(m.n_r):
            if not -1 <= m.r_rates[i] < <Py_ssize_t>m.n_r:
                raise ValueError(f"r_rates[{i}] is {m.r_rates[i]} and n_r is {m.n_r}")
    return 0


cdef object table_info(const kc_model *m):
    """Facts of a library about itself."""
    cdef Py_ssize_t i
    return read_info([text_of("info", m.info[i]) for i in range(m.n_info)])


cdef tuple decoded(const char *const *names, Py_ssize_t n):
    cdef Py_ssize_t i
    return tuple([names[i].decode("utf-8") for i in range(n)])
