/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kc_cpu.c: instructions that the processor and the operating system support, by the processor's own answers
 * (Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2A, CPUID).  In a library that zig
 * compiled the builtin __builtin_cpu_supports() gives no answers.
 */
#include "kc_cpu.h"

#if defined(__x86_64__)
#include <cpuid.h>

/* Which registers the operating system keeps, of XMM, YMM, ZMM. */
static unsigned kept_registers(void)
{
    unsigned low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

int kc_cpu_level(void)
{
    enum {
        FMA = 1 << 12,
        OSXSAVE = 1 << 27,
        AVX = 1 << 28,
        AVX2 = 1 << 5,
        BMI2 = 1 << 8,
        YMM = 0x06,
        ZMM = 0xe6
    };
    const unsigned v3 = FMA | OSXSAVE | AVX,
                   wide = 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31; /* F, DQ, BW, VL */
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & v3) != v3)
        return 1;
    const unsigned kept = kept_registers();
    if ((kept & YMM) != YMM || !__get_cpuid_count(7, 0, &a, &b, &c, &d) ||
        (b & (AVX2 | BMI2)) != (AVX2 | BMI2))
        return 1;
    return (kept & ZMM) == ZMM && (b & wide) == wide ? 4 : 3;
}
#else
int kc_cpu_level(void)
{
    return 1;
}
#endif
