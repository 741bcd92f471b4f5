/* SPDX-License-Identifier: BSD-3-Clause */
/* kc_cpu.c: what the processor and the operating system support, asked of the compiler's builtin. */
#include "kc_cpu.h"

int kc_cpu_level(void)
{
#if defined(__x86_64__)
    /* the builtin asks the operating system (xgetbv) too */
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("bmi2"))
        return 1;
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512dq") ||
        !__builtin_cpu_supports("avx512vl") || !__builtin_cpu_supports("avx512bw"))
        return 3;
    return 4;
#else
    return 1;
#endif
}
