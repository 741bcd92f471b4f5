/* SPDX-License-Identifier: BSD-3-Clause */
/* kc_cpu.h: which instruction level of a prebuilt model this processor runs. */
#ifndef KC_CPU_H
#define KC_CPU_H

/*
 * The highest x86-64 level that the processor and the operating system support: 4 (AVX-512 F, DQ, VL,
 * BW), 3 (AVX2, FMA, BMI2), else 1; 1 on other processors.
 */
int kc_cpu_level(void);

#endif /* KC_CPU_H */
