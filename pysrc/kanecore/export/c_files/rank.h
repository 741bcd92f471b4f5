/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * c[n_prepared - 1] is the number of rows of G that count, their rank at states on the constraints. `prepare`
 * finds it from the parameters alone. On a part of the states where the rank is another one functions return
 * `lost`, or treat rows as redundant: put the right number there.
 */
