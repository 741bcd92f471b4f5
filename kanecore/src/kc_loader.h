/* SPDX-License-Identifier: BSD-3-Clause */
/* kc_loader.h: opening a compiled model's shared library. */
#ifndef KC_LOADER_H
#define KC_LOADER_H

#include <stddef.h>

#include "kanecore.h"

/*
 * Opens the library at `path` (UTF-8) and returns what its kc_get_model() returns.  The library
 * stays open as long as the process lives: kernels' addresses are handed out, so nobody could say
 * when the last one is forgotten.  On failure returns NULL, with the system's own words in
 * `message` (at most `size` bytes, terminated).  The table is not looked into: that is
 * `_table_validation.pxi`'s part.
 */
const kc_model *kc_open_model(const char *path, char *message, size_t size);

#endif /* KC_LOADER_H */
