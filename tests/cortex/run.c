/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The test of an exported model on a Cortex-M without an operating system: where it begins, and what prints,
 * by semihosting. Of each function of the model a line tells how many bytes of stack a call took, and how
 * many instructions: QEMU counts an instruction as a nanosecond (-icount shift=0), and SysTick ticks at 25
 * MHz.
 */
#define QUIET
#define main compare /* that of the exported test */
#include "test/test.c"
#undef main

#include <stdint.h>

extern uint32_t data_begin, data_end, data_image, bss_begin, bss_end, stack_top;

enum { PAINT = 256 * 1024, CALLS = 100, INSTRUCTIONS_PER_TICK = 40 };
#define SYSTICK_CONTROL (*(volatile uint32_t *)0xe000e010)
#define SYSTICK_RELOAD  (*(volatile uint32_t *)0xe000e014)
#define SYSTICK_VALUE   (*(volatile uint32_t *)0xe000e018)
#define COPROCESSORS    (*(volatile uint32_t *)0xe000ed88)

static int semihost(int operation, const void *argument)
{
    register int r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

static void print(const char *text)
{
    semihost(0x04, text);
}

static void print_number(uint32_t n)
{
    char text[12], *at = text + 11;
    *at = 0;
    do
        *--at = (char)('0' + n % 10);
    while (n /= 10);
    print(at);
}

/* What a call leaves unpainted below its caller, in bytes. */
static __attribute__((noinline)) uint32_t stack_of(const test *each)
{
    uintptr_t top;
    __asm__ volatile("mov %0, sp" : "=r"(top));
    volatile uint8_t *const bottom = (volatile uint8_t *)(top - PAINT);
    for (int i = 0; i < PAINT; i++)
        bottom[i] = 0xa5;
    each->call(each->t, each->x, each->r, c, work, out);
    int first = 0;
    while (first < PAINT && bottom[first] == 0xa5)
        first++;
    return (uint32_t)(PAINT - first);
}

static uint32_t instructions_of(const test *each)
{
    SYSTICK_RELOAD = 0xffffff, SYSTICK_VALUE = 0, SYSTICK_CONTROL = 5;
    const uint32_t begin = SYSTICK_VALUE;
    for (int i = 0; i < CALLS; i++)
        each->call(each->t, each->x, each->r, c, work, out);
    return ((begin - SYSTICK_VALUE) & 0xffffff) * INSTRUCTIONS_PER_TICK / CALLS;
}

static void leave(int failed)
{
    const uint32_t reason = failed ? 0x20024 : 0x20026; /* run-time error; application exit */
    semihost(0x18, (const void *)(uintptr_t)reason);
    for (;;) {
    }
}

void reset(void);
void fault(void);

void reset(void)
{
    COPROCESSORS |= 0xf << 20; /* floating-point numbers */
    __asm__ volatile("dsb\n isb");
    const uint32_t *from = &data_image;
    for (uint32_t *to = &data_begin; to < &data_end;)
        *to++ = *from++;
    for (uint32_t *to = &bss_begin; to < &bss_end;)
        *to++ = 0;
    const int count = compare();
    for (const test *each = tests; each->name; each++) {
        print(each->name);
        print(" stack ");
        print_number(stack_of(each));
        print(" instructions ");
        print_number(instructions_of(each));
        print("\n");
    }
    print(count ? "wrong\n" : "right\n");
    leave(count);
}

void fault(void)
{
    print("fault\n");
    leave(1);
}

__attribute__((section(".vectors"), used)) static void (*const vectors[16])(void) = {
    (void (*)(void))(uintptr_t)&stack_top, reset, fault, fault, fault, fault, fault};
