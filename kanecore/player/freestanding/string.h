/* SPDX-License-Identifier: BSD-3-Clause */
/* string.h: what the machine and the integrators call; kc_freestanding.c defines it. */
#ifndef KC_FREESTANDING_STRING_H
#define KC_FREESTANDING_STRING_H

#include <stddef.h>

void *memcpy(void *restrict to, const void *restrict from, size_t n);
void *memset(void *to, int byte, size_t n);
int memcmp(const void *a, const void *b, size_t n);
int strcmp(const char *a, const char *b);

#endif
