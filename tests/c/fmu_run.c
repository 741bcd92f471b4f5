/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs an FMU's C as a simulator does, in model exchange and co-simulation, with states saved and restored.
 * Its sources are compiled with malloc, calloc and free as counted_..., and with sanitizers: this ends where
 * they write beside their memory, lose some, or take some while the model moves.  With -DFMI2 by FMI 2.0,
 * else 3.0.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static long blocks, calls;

void *counted_malloc(size_t size)
{
    blocks++, calls++;
    return malloc(size);
}

void *counted_calloc(size_t n, size_t size)
{
    blocks++, calls++;
    return calloc(n, size);
}

void counted_free(void *p)
{
    blocks -= p != NULL;
    free(p);
}

#include "kanecore.h"
#include "kc_fmu_facts.h"

#define DEMAND(condition)                                                                                    \
    do                                                                                                       \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "line %d: %s\n", __LINE__, #condition);                                          \
            exit(1);                                                                                         \
        }                                                                                                    \
    while (0)

#ifdef FMI2
#include "fmi2Functions.h"
typedef fmi2Component instance;
typedef fmi2FMUstate state;
#define OK                 fmi2OK
#define CALL(name)         fmi2##name
#define GET(i, vr, n, out) fmi2GetReal(i, vr, n, out)
#define SET(i, vr, n, in)  fmi2SetReal(i, vr, n, in)
#define DERIVATIVES        fmi2GetDerivatives
#define SAVE               fmi2GetFMUstate
#define RESTORE            fmi2SetFMUstate
#define FORGET             fmi2FreeFMUstate
#define SIZE               fmi2SerializedFMUstateSize
#define WRITE              fmi2SerializeFMUstate
#define READ               fmi2DeSerializeFMUstate

static instance make(int steps, const char *token)
{
    return fmi2Instantiate("one", steps ? fmi2CoSimulation : fmi2ModelExchange, token, "", NULL, 0, 0);
}

static void begin(instance i)
{
    DEMAND(fmi2SetupExperiment(i, fmi2True, 1e-6, 0.0, fmi2False, 0.0) == OK);
    DEMAND(fmi2EnterInitializationMode(i) == OK);
    DEMAND(fmi2ExitInitializationMode(i) == OK);
}

static int update(instance i)
{
    fmi2EventInfo info;
    DEMAND(fmi2NewDiscreteStates(i, &info) == OK);
    return info.valuesOfContinuousStatesChanged;
}

static int asks(instance i)
{
    fmi2Boolean event, end;
    DEMAND(fmi2CompletedIntegratorStep(i, fmi2True, &event, &end) == OK);
    return event;
}

static int step(instance i, double t, double h)
{
    return fmi2DoStep(i, t, h, fmi2True) == OK;
}

static int derivative(instance i, const unsigned *y, size_t n_y, const unsigned *x, size_t n_x,
                      const double *seed, double *out)
{
    return fmi2GetDirectionalDerivative(i, y, n_y, x, n_x, seed, out) == OK;
}
#else
#include "fmi3Functions.h"
typedef fmi3Instance instance;
typedef fmi3FMUState state;
#define OK                 fmi3OK
#define CALL(name)         fmi3##name
#define GET(i, vr, n, out) fmi3GetFloat64(i, vr, n, out, n)
#define SET(i, vr, n, in)  fmi3SetFloat64(i, vr, n, in, n)
#define DERIVATIVES        fmi3GetContinuousStateDerivatives
#define SAVE               fmi3GetFMUState
#define RESTORE            fmi3SetFMUState
#define FORGET             fmi3FreeFMUState
#define SIZE               fmi3SerializedFMUStateSize
#define WRITE              fmi3SerializeFMUState
#define READ               fmi3DeserializeFMUState

static instance make(int steps, const char *token)
{
    if (steps)
        return fmi3InstantiateCoSimulation("one", token, "", 0, 0, 0, 0, NULL, 0, NULL, NULL, NULL);
    return fmi3InstantiateModelExchange("one", token, "", 0, 0, NULL, NULL);
}

static void begin(instance i)
{
    DEMAND(fmi3EnterInitializationMode(i, fmi3True, 1e-6, 0.0, fmi3False, 0.0) == OK);
    DEMAND(fmi3ExitInitializationMode(i) == OK);
}

static int update(instance i)
{
    fmi3Boolean needs, end, nominals, values, defined;
    double next;
    DEMAND(fmi3UpdateDiscreteStates(i, &needs, &end, &nominals, &values, &defined, &next) == OK);
    return values;
}

static int asks(instance i)
{
    fmi3Boolean event, end;
    DEMAND(fmi3CompletedIntegratorStep(i, fmi3True, &event, &end) == OK);
    return event;
}

static int step(instance i, double t, double h)
{
    fmi3Boolean event, end, early;
    double last;
    return fmi3DoStep(i, t, h, fmi3True, &event, &end, &early, &last) == OK && last == t + h;
}

static int derivative(instance i, const unsigned *y, size_t n_y, const unsigned *x, size_t n_x,
                      const double *seed, double *out)
{
    return fmi3GetDirectionalDerivative(i, y, n_y, x, n_x, seed, n_x, out, n_y) == OK;
}
#endif

static double *doubles(size_t n)
{
    double *const p = calloc(n + 1, sizeof *p); /* never none */
    DEMAND(p != NULL);
    return p;
}

/* Explicit Euler through all calls of model exchange. */
static void exchange(const kc_model *m)
{
    const size_t n = m->n_q + m->n_u + m->n_z, n_all = 1 + 2 * n + m->n_r + m->n_outputs + m->n_p;
    unsigned *const vr = calloc(n_all, sizeof *vr);
    double *const x = doubles(n), *const slopes = doubles(n), *const all = doubles(n_all),
                  *const seed = doubles(n_all);
    const unsigned none = 9999;
    int events = 0;
    const instance i = make(0, KC_FMU_TOKEN);
    DEMAND(i && vr && make(0, "another") == NULL);
    for (size_t k = 0; k < n_all; k++)
        vr[k] = (unsigned)k, seed[k] = 1.0;
    begin(i);
    update(i);
    DEMAND(CALL(EnterContinuousTimeMode)(i) == OK);
    const long before = calls;
    for (int k = 0; k < 200; k++) {
        DEMAND(CALL(SetTime)(i, 1e-3 * k) == OK);
        DEMAND(DERIVATIVES(i, slopes, n) == OK && CALL(GetContinuousStates)(i, x, n) == OK);
        for (size_t j = 0; j < n; j++)
            x[j] += 1e-3 * slopes[j];
        DEMAND(CALL(SetContinuousStates)(i, x, n) == OK);
        DEMAND(GET(i, vr, n_all, all) == OK);
        if (asks(i)) {
            DEMAND(CALL(EnterEventMode)(i) == OK);
            events += update(i);
            DEMAND(CALL(EnterContinuousTimeMode)(i) == OK);
        }
    }
    DEMAND(events > 0 || !(m->n_constraints || m->n_unit));
    /* all unknowns, by all knowns but slopes and outputs */
    const unsigned *const inputs = vr + 1 + 2 * n, *const parameters = inputs + m->n_r + m->n_outputs;
    DEMAND(derivative(i, vr + 1 + n, n, vr, 1 + n, seed, all) &&
           derivative(i, vr + 1 + n, n, inputs, m->n_r, seed, all));
    DEMAND(derivative(i, inputs + m->n_r, m->n_outputs, parameters, m->n_p, seed, all));
    DEMAND(!derivative(i, vr, 1, vr + 1, 1, seed, all) && !derivative(i, vr + 1 + n, 1, &none, 1, seed, all));
    DEMAND(calls == before);
    DEMAND(CALL(Terminate)(i) == OK && CALL(Reset)(i) == OK);
    CALL(FreeInstance)(i);
    free(vr), free(x), free(slopes), free(all), free(seed);
}

static void steps(const kc_model *m)
{
    const size_t n = m->n_q + m->n_u + m->n_z;
    unsigned *const vr = calloc(n, sizeof *vr);
    double *const x = doubles(n), *const again = doubles(n);
    state saved = NULL, copy = NULL;
    size_t size;
    const instance i = make(1, KC_FMU_TOKEN);
    DEMAND(i && vr);
    for (size_t k = 0; k < n; k++)
        vr[k] = 1 + (unsigned)k;
    begin(i);
    const long before = calls;
    for (int k = 0; k < 20; k++)
        DEMAND(step(i, 0.01 * k, 0.01 * (k + 1) - 0.01 * k));
    DEMAND(calls == before);
    DEMAND(SAVE(i, &saved) == OK && SAVE(i, &saved) == OK && SIZE(i, saved, &size) == OK);
    unsigned char *const bytes = calloc(size, 1);
    DEMAND(bytes && WRITE(i, saved, (void *)bytes, size) == OK);
    DEMAND(step(i, 0.2, 0.1) && GET(i, vr, n, x) == OK);
    DEMAND(READ(i, (void *)bytes, size, &copy) == OK && RESTORE(i, copy) == OK);
    DEMAND(step(i, 0.2, 0.1) && GET(i, vr, n, again) == OK);
    for (size_t k = 0; k < n; k++)
        DEMAND(isfinite(x[k]) && x[k] == again[k]);
    state none = NULL;
    DEMAND(FORGET(i, &copy) == OK && READ(i, (void *)bytes, size - 8, &none) != OK && none == NULL);
    DEMAND(!step(i, 7.0, 0.1) && !step(i, 0.3, 0.0) && !step(i, 0.3, NAN));
    bytes[0] ^= 1;
    DEMAND(READ(i, (void *)bytes, size, &none) != OK && none == NULL);
    DEMAND(FORGET(i, &saved) == OK && saved == NULL);
    CALL(FreeInstance)(i);
    CALL(FreeInstance)(NULL);
    free(vr), free(x), free(again), free(bytes);
}

int main(void)
{
    const kc_model *const m = kc_get_model();
    exchange(m);
    steps(m);
    DEMAND(blocks == 0);
    return 0;
}
