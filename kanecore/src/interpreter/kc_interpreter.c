/* SPDX-License-Identifier: BSD-3-Clause */
/* kc_interpreter.c: the interpreter for the extension's processors, the choice between it and the faster one,
 * and the check of code. */
#define KC_THIS_KIND kc_machine_plain
#include "kc_interpreter_programs.h"

#include "kc_cpu.h"

const kc_machine_kind *kc_this_machine(void)
{
#if defined(__x86_64__) && defined(__GNUC__)
    return kc_cpu_level() >= 3 ? &kc_machine_fused : &kc_machine_plain;
#else
    return &kc_machine_plain;
#endif
}

#define KC_FACTS(name, operands, results) {#name, operands, results},
const kc_operation kc_operations[] = {KC_OPERATIONS(KC_FACTS){NULL, 0, 0}};

/* True if the n operands at k are registers below `made`. */
static int are_made(const uint16_t *k, int n, uint32_t made)
{
    int good = 1;
    for (int i = 0; i < n; i++)
        good = good && k[i] < made;
    return good;
}

/* The length of the `apply` at k, 0 if it is wrong. */
static size_t length_of_apply(const uint16_t *k, size_t room, uint32_t made, uint32_t n_splines)
{
    if (room < 3 || k[0] >= n_splines || k[1] < 1 || k[1] > 2)
        return 0;
    const size_t orders = (size_t)k[1] * k[2];
    if (room < 3 + orders + k[1] || !are_made(k + 3 + orders, k[1], made))
        return 0;
    return 3 + orders + k[1];
}

uint32_t kc_check_code(const kc_coded_part *part, uint32_t n_loads, size_t n, uint32_t n_splines)
{
    const uint16_t *k = part->code, *const end = k + n;
    uint32_t made = part->n_constants + n_loads;
    while (end - k >= 2 && k[0] < KC_N_OPERATIONS) {
        const int operation = k[0], times = k[1];
        const kc_operation facts = kc_operations[operation];
        const int registers = operation == KC_OP_pivot        ? 2
                              : operation == KC_OP_half_power ? 1
                                                              : facts.operands;
        k += 2;
        if (operation == KC_OP_end)
            return made;
        for (int i = 0; i < times; i++) {
            const int apply = operation == KC_OP_apply;
            const size_t room = (size_t)(end - k);
            const size_t length = apply ? length_of_apply(k, room, made, n_splines) : (size_t)facts.operands;
            if (length == 0 || length > room || (!apply && !are_made(k, registers, made)))
                return 0;
            made += apply ? k[2] : (uint32_t)facts.results;
            k += length;
        }
    }
    return 0;
}
