# SPDX-License-Identifier: BSD-3-Clause
# Opening a library and its table; included by _library.pyx.  The content of a table is checked here, and nowhere else.

import json
import os

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
    check_sizes(m)
    check_names(m)
    check_numbers(m)
    check_info(m)
    return 0


cdef int count_kernels(const kc_model *m) noexcept nogil:
    """Number of kernels that a table has room for, negative where it ends before them: an older library's is shorter."""
    cdef Py_ssize_t first = <const char *>first_kernel(m) - <const char *>m
    return <int>min((<Py_ssize_t>m.struct_size - first) // <Py_ssize_t>sizeof(kc_kernel *), N_KERNELS)


cdef int check_sizes(const kc_model *m) except -1:
    """Raise ValueError for a size that no model has, or that does not go with the others."""
    cdef dict sizes = {
        "n_q": m.n_q, "n_u": m.n_u, "n_p": m.n_p, "n_r": m.n_r, "n_prepared": m.n_prepared, "n_work": m.n_work,
        "n_points": m.n_points, "n_frames": m.n_frames, "n_outputs": m.n_outputs, "n_joints": m.n_joints,
        "n_bodies": m.n_bodies, "n_loads": m.n_loads, "n_potentials": m.n_potentials, "n_info": m.n_info,
        "n_unit": m.n_unit,
        "n_constraints": m.n_constraints, "n_configuration": m.n_configuration,
        "n_velocity": m.n_velocity, "n_auxiliary": m.n_auxiliary, "n_q_dependent": m.n_q_dependent,
        "n_u_dependent": m.n_u_dependent, "n_z": m.n_z, "n_reactions": m.n_reactions, "n_shares": m.n_shares,
    }
    for name, size in sizes.items():
        if size > LARGEST:
            raise ValueError(f"{name} is {size}, more than any model has")
    for small, large in (("n_q_dependent", "n_q"), ("n_u_dependent", "n_u"), ("n_velocity", "n_constraints"),
                         ("n_p", "n_prepared")):
        if sizes[small] > sizes[large]:
            raise ValueError(f"{small} is {sizes[small]} and {large} is {sizes[large]}")
    if m.n_constraints and m.n_prepared == m.n_p:
        raise ValueError(f"n_prepared is {m.n_prepared}, which leaves no place for the number of rows that count")
    if 4 * m.n_unit > m.n_q:
        raise ValueError(f"n_unit is {m.n_unit} and n_q is {m.n_q}, and a quaternion has four coordinates")
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
    """Raise ValueError for a missing array of numbers, and for a place that no coordinate or input has."""
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
    """Facts of a library about itself; ValueError if they are no JSON object."""
    cdef Py_ssize_t i
    if m.n_info == 0:
        return {}
    try:
        info = json.loads("".join([text_of("info", m.info[i]) for i in range(m.n_info)]))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"info is no JSON: {error}") from None
    if not isinstance(info, dict):
        raise ValueError("info is no object of JSON")
    return info


cdef bint is_texts(object value):
    return isinstance(value, list) and all([isinstance(item, str) for item in value])


cdef int check_info(const kc_model *m) except -1:
    """Raise ValueError for a member of ``info`` that is read here or by CompiledModel, and is of another kind."""
    info = table_info(m)
    for member, kind in (("left_out", list), ("missing", str), ("massless", str), ("unread", int),
                         ("guess", (int, float))):
        values = info.get(member, {})
        if not (isinstance(values, dict) and all([isinstance(value, kind) for value in values.values()])):
            raise ValueError(f"{member} in info is of the wrong kind")
    if not all([is_texts(names) for names in info.get("left_out", {}).values()]):
        raise ValueError("left_out in info is of the wrong kind")
    for place, value in info.get("guess", {}).items():
        if not (place.isdecimal() and len(place) < 9 and int(place) < m.n_q + m.n_u + m.n_z):
            raise ValueError(f"guess in info names the place {place!r}, and a state has {m.n_q + m.n_u + m.n_z}")
        if not -1e300 < value < 1e300:
            raise ValueError(f"guess in info is {value} at {place}")
    for member in ("inertial", "origin"):
        if not isinstance(info.get(member, ""), str):
            raise ValueError(f"{member} in info is no name")
    for member in ("baked", "generalized", "loads_of_reactions", "reaction_names"):
        if not is_texts(info.get(member, [])):
            raise ValueError(f"{member} in info is of the wrong kind")
    if len(info.get("reaction_names", [])) not in (0, m.n_reactions):
        raise ValueError(f"reaction_names in info are not {m.n_reactions} names")
    names = info.get("configuration_names", [])
    if not is_texts(names) or len(names) not in (0, m.n_configuration):
        raise ValueError(f"configuration_names in info are not {m.n_configuration} names")
    check_places("bodies", info.get("bodies", []), m.n_bodies, [(0, m.n_points), (-1, m.n_frames)])
    kinds, beside = [(0, m.n_points), (0, m.n_frames)], [(0, 2**31), (-1, m.n_bodies)]
    loads = info.get("loads", [])
    check_places("loads", loads, m.n_loads, [(0, 2), (0, 2**31), *beside])
    for load in loads:
        check_places("loads", [load], 1, [(0, 2), kinds[load[0]], *beside])
    check_places("joints", info.get("joints", []), m.n_joints, [(-1, m.n_bodies), (0, m.n_bodies), (0, 2)])
    rates = info.get("coordinate_rates", [])
    check_places("coordinate_rates", [[x] for x in rates] if isinstance(rates, list) else None, m.n_q, [(-1, m.n_u)])
    for member, n in (("roots", m.n_points), ("adrift", m.n_points), ("instant", m.n_points),
                      ("unoriented", m.n_frames), ("namesakes", m.n_frames), ("unlocated", m.n_r)):
        numbers = info.get(member, [])
        if not isinstance(numbers, list):
            raise ValueError(f"{member} in info is no list")
        check_places(member, [[x] for x in numbers], n if member == "roots" else len(numbers), [(0, n)])
    origins = info.get("origins", [])
    if not is_texts(origins) or len(origins) not in (0, m.n_points):
        raise ValueError(f"origins in info are not {m.n_points} names")
    return 0


cdef int check_places(str member, object rows, Py_ssize_t n, list bounds) except -1:
    """Raise ValueError where ``info`` does not hold n rows, or none, of whole numbers between bounds."""
    good = isinstance(rows, list) and len(rows) in (0, n)
    for row in rows if good else []:
        good = good and isinstance(row, list) and len(row) == len(bounds) and all(
            [type(x) is int and low <= x < high for x, (low, high) in zip(row, bounds)])
    if not good:
        raise ValueError(f"{member} in info are not {n} rows of numbers that this model has")
    return 0


cdef tuple decoded(const char *const *names, Py_ssize_t n):
    cdef Py_ssize_t i
    return tuple([names[i].decode("utf-8") for i in range(n)])
