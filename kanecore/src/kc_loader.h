/* SPDX-License-Identifier: BSD-3-Clause */
/* kc_loader.h: opening a compiled model's shared library. */
#ifndef KC_LOADER_H
#define KC_LOADER_H

#include <stddef.h>

#include "kanecore.h"

/*
 * Opens the library at `path` (UTF-8) and returns the result of its kc_get_model().  The library stays open
 * as long as the process lives, since kernels' addresses are given out and may be used at any time.  On
 * failure returns NULL, with the system's own message in `message` (at most `size` bytes, terminated).
 * `_table_validation.pxi` checks the table.
 */
const kc_model *kc_open_model(const char *path, char *message, size_t size);

#endif /* KC_LOADER_H */
