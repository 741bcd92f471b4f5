/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of FMI 3.0, for model exchange and co-simulation, over an instance of kc_fmu.h. */
#include "fmi3Functions.h"
#include "kc_fmu.h"

#include <stdlib.h>
#include <string.h>

typedef struct handle {
    kc_fmu *fmu;
    fmi3LogMessageCallback log;
    fmi3InstanceEnvironment environment;
} handle;

/* The instance, if it may be asked now, else an error. */
#define ALLOWED(modes)                                                                                       \
    handle *const self = instance;                                                                           \
    if (self == NULL || kc_fmu_allow(self->fmu, __func__, (modes)) != KC_FMU_OK)                             \
        return fmi3Error;                                                                                    \
    kc_fmu *const fmu = self->fmu

/* What no instance of this FMU can do. */
#define REFUSED(why)                                                                                         \
    ALLOWED(KC_FMU_ANY);                                                                                     \
    return (fmi3Status)kc_fmu_say(fmu, KC_FMU_ERROR, "%s: %s", __func__, (why))

static void tell(void *host, kc_fmu_status status, const char *message)
{
    const handle *const self = host;
    if (self->log)
        self->log(self->environment, (fmi3Status)status,
                  status == KC_FMU_DISCARD ? "logStatusDiscard" : "logStatusError", message);
}

/* Whether the numbers of values and references agree. */
static int agree(const kc_fmu *fmu, const char *function, size_t n, size_t n_values)
{
    if (n == n_values)
        return 1;
    kc_fmu_say(fmu, KC_FMU_ERROR, "%s: %lu values for %lu references", function, (unsigned long)n_values,
               (unsigned long)n);
    return 0;
}

const char *fmi3GetVersion(void)
{
    return fmi3Version;
}

fmi3Status fmi3SetDebugLogging(fmi3Instance instance, fmi3Boolean on, size_t n, const fmi3String categories[])
{
    ALLOWED(KC_FMU_ANY);
    (void)fmu, (void)on, (void)n, (void)categories; /* only errors are told, and these always */
    return fmi3OK;
}

static fmi3Instance instantiate(fmi3String token, int cosimulation, fmi3InstanceEnvironment environment,
                                fmi3LogMessageCallback log)
{
    handle *const self = calloc(1, sizeof *self);
    if (self == NULL)
        return NULL;
    self->log = log, self->environment = environment;
    self->fmu = kc_fmu_new(token, cosimulation, tell, self);
    if (self->fmu)
        return self;
    free(self);
    return NULL;
}

fmi3Instance fmi3InstantiateModelExchange(fmi3String name, fmi3String token, fmi3String resources,
                                          fmi3Boolean visible, fmi3Boolean logging,
                                          fmi3InstanceEnvironment environment, fmi3LogMessageCallback log)
{
    (void)name, (void)resources, (void)visible, (void)logging;
    return instantiate(token, 0, environment, log);
}

fmi3Instance fmi3InstantiateCoSimulation(fmi3String name, fmi3String token, fmi3String resources,
                                         fmi3Boolean visible, fmi3Boolean logging, fmi3Boolean event_mode,
                                         fmi3Boolean early_return, const fmi3ValueReference intermediate[],
                                         size_t n_intermediate, fmi3InstanceEnvironment environment,
                                         fmi3LogMessageCallback log, fmi3IntermediateUpdateCallback update)
{
    (void)name, (void)resources, (void)visible, (void)logging, (void)early_return;
    (void)intermediate, (void)n_intermediate, (void)update;
    if (event_mode) { /* hasEventMode is false */
        if (log)
            log(environment, fmi3Error, "logStatusError", "co-simulation of this FMU has no event mode");
        return NULL;
    }
    return instantiate(token, 1, environment, log);
}

fmi3Instance fmi3InstantiateScheduledExecution(fmi3String name, fmi3String token, fmi3String resources,
                                               fmi3Boolean visible, fmi3Boolean logging,
                                               fmi3InstanceEnvironment environment,
                                               fmi3LogMessageCallback log, fmi3ClockUpdateCallback update,
                                               fmi3LockPreemptionCallback lock,
                                               fmi3UnlockPreemptionCallback unlock)
{
    (void)name, (void)token, (void)resources, (void)visible, (void)logging, (void)update, (void)lock,
        (void)unlock;
    if (log)
        log(environment, fmi3Error, "logStatusError", "this FMU is not for scheduled execution");
    return NULL;
}

void fmi3FreeInstance(fmi3Instance instance)
{
    handle *const self = instance;
    if (self)
        kc_fmu_free(self->fmu);
    free(self);
}

fmi3Status fmi3EnterInitializationMode(fmi3Instance instance, fmi3Boolean tolerance_defined,
                                       fmi3Float64 tolerance, fmi3Float64 start, fmi3Boolean stop_defined,
                                       fmi3Float64 stop)
{
    ALLOWED(KC_FMU_INSTANTIATED);
    (void)stop_defined, (void)stop;
    const kc_fmu_status status = kc_fmu_start(fmu, start, tolerance_defined ? tolerance : 0.0);
    if (status == KC_FMU_OK)
        fmu->mode = KC_FMU_INITIALIZING;
    return (fmi3Status)status;
}

fmi3Status fmi3ExitInitializationMode(fmi3Instance instance)
{
    ALLOWED(KC_FMU_INITIALIZING);
    return (fmi3Status)kc_fmu_begin(fmu);
}

fmi3Status fmi3EnterEventMode(fmi3Instance instance)
{
    ALLOWED(KC_FMU_CONTINUOUS | KC_FMU_EVENT);
    fmu->mode = KC_FMU_EVENT;
    return fmi3OK;
}

fmi3Status fmi3Terminate(fmi3Instance instance)
{
    ALLOWED(KC_FMU_EVENT | KC_FMU_CONTINUOUS | KC_FMU_STEPPING);
    fmu->mode = KC_FMU_TERMINATED;
    return fmi3OK;
}

fmi3Status fmi3Reset(fmi3Instance instance)
{
    ALLOWED(KC_FMU_ANY);
    kc_fmu_reset(fmu);
    return fmi3OK;
}

/* ------------------------------------------------------------------------------------------- variables */

fmi3Status fmi3GetFloat64(fmi3Instance instance, const fmi3ValueReference references[], size_t n,
                          fmi3Float64 values[], size_t n_values)
{
    ALLOWED(KC_FMU_READABLE);
    if (!agree(fmu, __func__, n, n_values))
        return fmi3Error;
    return (fmi3Status)kc_fmu_get(fmu, references, n, values);
}

fmi3Status fmi3SetFloat64(fmi3Instance instance, const fmi3ValueReference references[], size_t n,
                          const fmi3Float64 values[], size_t n_values)
{
    ALLOWED(KC_FMU_SETTABLE);
    if (!agree(fmu, __func__, n, n_values))
        return fmi3Error;
    return (fmi3Status)kc_fmu_set(fmu, references, n, values);
}

/* All variables are of type Float64: of other types there is nothing to get or set. */
#define NONE_OF_TYPE(function, type)                                                                         \
    fmi3Status function(fmi3Instance instance, const fmi3ValueReference references[], size_t n,              \
                        type values[], size_t n_values)                                                      \
    {                                                                                                        \
        ALLOWED(KC_FMU_ALIVE);                                                                               \
        (void)references, (void)values, (void)n_values;                                                      \
        return n ? (fmi3Status)kc_fmu_say(fmu, KC_FMU_ERROR, "%s: all variables are Float64", __func__)      \
                 : fmi3OK;                                                                                   \
    }
#define NONE_OF_TYPES(type)                                                                                  \
    NONE_OF_TYPE(fmi3Get##type, fmi3##type)                                                                  \
    NONE_OF_TYPE(fmi3Set##type, const fmi3##type)
NONE_OF_TYPES(Float32)
NONE_OF_TYPES(Int8)
NONE_OF_TYPES(UInt8)
NONE_OF_TYPES(Int16)
NONE_OF_TYPES(UInt16)
NONE_OF_TYPES(Int32)
NONE_OF_TYPES(UInt32)
NONE_OF_TYPES(Int64)
NONE_OF_TYPES(UInt64)
NONE_OF_TYPES(Boolean)
NONE_OF_TYPES(String)

fmi3Status fmi3GetBinary(fmi3Instance instance, const fmi3ValueReference references[], size_t n,
                         size_t sizes[], fmi3Binary values[], size_t n_values)
{
    (void)references, (void)n, (void)sizes, (void)values, (void)n_values;
    REFUSED("all variables are Float64");
}

fmi3Status fmi3SetBinary(fmi3Instance instance, const fmi3ValueReference references[], size_t n,
                         const size_t sizes[], const fmi3Binary values[], size_t n_values)
{
    (void)references, (void)n, (void)sizes, (void)values, (void)n_values;
    REFUSED("all variables are Float64");
}

static const char NO_CLOCKS[] = "there are no clocks";

fmi3Status fmi3GetClock(fmi3Instance instance, const fmi3ValueReference references[], size_t n,
                        fmi3Clock values[])
{
    (void)references, (void)n, (void)values;
    REFUSED(NO_CLOCKS);
}

fmi3Status fmi3SetClock(fmi3Instance instance, const fmi3ValueReference references[], size_t n,
                        const fmi3Clock values[])
{
    (void)references, (void)n, (void)values;
    REFUSED(NO_CLOCKS);
}

fmi3Status fmi3GetIntervalDecimal(fmi3Instance instance, const fmi3ValueReference references[], size_t n,
                                  fmi3Float64 intervals[], fmi3IntervalQualifier qualifiers[])
{
    (void)references, (void)n, (void)intervals, (void)qualifiers;
    REFUSED(NO_CLOCKS);
}

fmi3Status fmi3GetIntervalFraction(fmi3Instance instance, const fmi3ValueReference references[], size_t n,
                                   fmi3UInt64 counters[], fmi3UInt64 resolutions[],
                                   fmi3IntervalQualifier qualifiers[])
{
    (void)references, (void)n, (void)counters, (void)resolutions, (void)qualifiers;
    REFUSED(NO_CLOCKS);
}

fmi3Status fmi3GetShiftDecimal(fmi3Instance instance, const fmi3ValueReference references[], size_t n,
                               fmi3Float64 shifts[])
{
    (void)references, (void)n, (void)shifts;
    REFUSED(NO_CLOCKS);
}

fmi3Status fmi3GetShiftFraction(fmi3Instance instance, const fmi3ValueReference references[], size_t n,
                                fmi3UInt64 counters[], fmi3UInt64 resolutions[])
{
    (void)references, (void)n, (void)counters, (void)resolutions;
    REFUSED(NO_CLOCKS);
}

fmi3Status fmi3SetIntervalDecimal(fmi3Instance instance, const fmi3ValueReference references[], size_t n,
                                  const fmi3Float64 intervals[])
{
    (void)references, (void)n, (void)intervals;
    REFUSED(NO_CLOCKS);
}

fmi3Status fmi3SetIntervalFraction(fmi3Instance instance, const fmi3ValueReference references[], size_t n,
                                   const fmi3UInt64 counters[], const fmi3UInt64 resolutions[])
{
    (void)references, (void)n, (void)counters, (void)resolutions;
    REFUSED(NO_CLOCKS);
}

fmi3Status fmi3SetShiftDecimal(fmi3Instance instance, const fmi3ValueReference references[], size_t n,
                               const fmi3Float64 shifts[])
{
    (void)references, (void)n, (void)shifts;
    REFUSED(NO_CLOCKS);
}

fmi3Status fmi3SetShiftFraction(fmi3Instance instance, const fmi3ValueReference references[], size_t n,
                                const fmi3UInt64 counters[], const fmi3UInt64 resolutions[])
{
    (void)references, (void)n, (void)counters, (void)resolutions;
    REFUSED(NO_CLOCKS);
}

fmi3Status fmi3ActivateModelPartition(fmi3Instance instance, fmi3ValueReference clock, fmi3Float64 t)
{
    (void)clock, (void)t;
    REFUSED(NO_CLOCKS);
}

fmi3Status fmi3GetNumberOfVariableDependencies(fmi3Instance instance, fmi3ValueReference reference, size_t *n)
{
    (void)reference, (void)n;
    REFUSED("dependencies stand in the model description");
}

fmi3Status fmi3GetVariableDependencies(fmi3Instance instance, fmi3ValueReference dependent, size_t elements[],
                                       fmi3ValueReference independents[], size_t other_elements[],
                                       fmi3DependencyKind kinds[], size_t n)
{
    (void)dependent, (void)elements, (void)independents, (void)other_elements, (void)kinds, (void)n;
    REFUSED("dependencies stand in the model description");
}

fmi3Status fmi3GetDirectionalDerivative(fmi3Instance instance, const fmi3ValueReference unknowns[],
                                        size_t n_unknowns, const fmi3ValueReference knowns[], size_t n_knowns,
                                        const fmi3Float64 seed[], size_t n_seed, fmi3Float64 result[],
                                        size_t n_result)
{
    ALLOWED(KC_FMU_READABLE);
    if (!agree(fmu, __func__, n_knowns, n_seed) || !agree(fmu, __func__, n_unknowns, n_result))
        return fmi3Error;
    return (fmi3Status)kc_fmu_derivative(fmu, 0, unknowns, n_unknowns, knowns, n_knowns, seed, result);
}

fmi3Status fmi3GetAdjointDerivative(fmi3Instance instance, const fmi3ValueReference unknowns[],
                                    size_t n_unknowns, const fmi3ValueReference knowns[], size_t n_knowns,
                                    const fmi3Float64 seed[], size_t n_seed, fmi3Float64 result[],
                                    size_t n_result)
{
    ALLOWED(KC_FMU_READABLE);
    if (!agree(fmu, __func__, n_unknowns, n_seed) || !agree(fmu, __func__, n_knowns, n_result))
        return fmi3Error;
    return (fmi3Status)kc_fmu_derivative(fmu, 1, unknowns, n_unknowns, knowns, n_knowns, seed, result);
}

/* ---------------------------------------------------------------------------------- copies of the state */

fmi3Status fmi3GetFMUState(fmi3Instance instance, fmi3FMUState *saved)
{
    ALLOWED(KC_FMU_ALIVE);
    free(*saved); /* NULL, or an older copy, whose memory may be used again */
    *saved = kc_fmu_save(fmu);
    return *saved ? fmi3OK : (fmi3Status)kc_fmu_say(fmu, KC_FMU_ERROR, "%s: no memory", __func__);
}

fmi3Status fmi3SetFMUState(fmi3Instance instance, fmi3FMUState saved)
{
    ALLOWED(KC_FMU_ANY);
    if (saved == NULL)
        return (fmi3Status)kc_fmu_say(fmu, KC_FMU_ERROR, "%s: there is no saved state", __func__);
    return (fmi3Status)kc_fmu_restore(fmu, saved);
}

fmi3Status fmi3FreeFMUState(fmi3Instance instance, fmi3FMUState *saved)
{
    ALLOWED(KC_FMU_ANY);
    (void)fmu;
    if (saved) {
        free(*saved);
        *saved = NULL;
    }
    return fmi3OK;
}

fmi3Status fmi3SerializedFMUStateSize(fmi3Instance instance, fmi3FMUState saved, size_t *size)
{
    ALLOWED(KC_FMU_ANY);
    (void)saved;
    *size = kc_fmu_saved_size(fmu);
    return fmi3OK;
}

fmi3Status fmi3SerializeFMUState(fmi3Instance instance, fmi3FMUState saved, fmi3Byte bytes[], size_t size)
{
    ALLOWED(KC_FMU_ANY);
    if (saved == NULL || size < kc_fmu_saved_size(fmu))
        return (fmi3Status)kc_fmu_say(fmu, KC_FMU_ERROR, "%s: no saved state, or too few bytes", __func__);
    memcpy(bytes, saved, kc_fmu_saved_size(fmu));
    return fmi3OK;
}

fmi3Status fmi3DeserializeFMUState(fmi3Instance instance, const fmi3Byte bytes[], size_t size,
                                   fmi3FMUState *saved)
{
    ALLOWED(KC_FMU_ANY);
    *saved = kc_fmu_read(fmu, bytes, size);
    return *saved ? fmi3OK
                  : (fmi3Status)kc_fmu_say(fmu, KC_FMU_ERROR, "%s: no state of this model", __func__);
}

/* ------------------------------------------------------------------------------- modes and model exchange */

fmi3Status fmi3EnterConfigurationMode(fmi3Instance instance)
{
    REFUSED("there are no structural parameters");
}

fmi3Status fmi3ExitConfigurationMode(fmi3Instance instance)
{
    REFUSED("there are no structural parameters");
}

fmi3Status fmi3EvaluateDiscreteStates(fmi3Instance instance)
{
    ALLOWED(KC_FMU_INITIALIZING | KC_FMU_EVENT);
    (void)fmu; /* there are none */
    return fmi3OK;
}

fmi3Status fmi3UpdateDiscreteStates(fmi3Instance instance, fmi3Boolean *needs_update, fmi3Boolean *terminate,
                                    fmi3Boolean *nominals_changed, fmi3Boolean *values_changed,
                                    fmi3Boolean *next_defined, fmi3Float64 *next)
{
    int changed;
    ALLOWED(KC_FMU_EVENT);
    const kc_fmu_status status = kc_fmu_settle(fmu, &changed);
    *needs_update = *terminate = *nominals_changed = *next_defined = fmi3False;
    *values_changed = changed ? fmi3True : fmi3False;
    *next = 0.0;
    return (fmi3Status)status;
}

fmi3Status fmi3EnterContinuousTimeMode(fmi3Instance instance)
{
    ALLOWED(KC_FMU_EVENT);
    fmu->mode = KC_FMU_CONTINUOUS;
    return fmi3OK;
}

fmi3Status fmi3CompletedIntegratorStep(fmi3Instance instance, fmi3Boolean no_way_back,
                                       fmi3Boolean *enter_event_mode, fmi3Boolean *terminate)
{
    ALLOWED(KC_FMU_CONTINUOUS);
    (void)no_way_back;
    *enter_event_mode = kc_fmu_drifted(fmu) ? fmi3True : fmi3False;
    *terminate = fmi3False;
    return fmi3OK;
}

fmi3Status fmi3SetTime(fmi3Instance instance, fmi3Float64 t)
{
    ALLOWED(KC_FMU_EVENT | KC_FMU_CONTINUOUS);
    return (fmi3Status)kc_fmu_set_time(fmu, t);
}

fmi3Status fmi3SetContinuousStates(fmi3Instance instance, const fmi3Float64 x[], size_t n)
{
    ALLOWED(KC_FMU_CONTINUOUS);
    return (fmi3Status)kc_fmu_set_states(fmu, x, n);
}

fmi3Status fmi3GetContinuousStateDerivatives(fmi3Instance instance, fmi3Float64 xdot[], size_t n)
{
    ALLOWED(KC_FMU_READABLE);
    return (fmi3Status)kc_fmu_get_slopes(fmu, xdot, n);
}

fmi3Status fmi3GetEventIndicators(fmi3Instance instance, fmi3Float64 indicators[], size_t n)
{
    ALLOWED(KC_FMU_READABLE);
    (void)indicators;
    return n ? (fmi3Status)kc_fmu_say(fmu, KC_FMU_ERROR, "%s: there are none", __func__) : fmi3OK;
}

fmi3Status fmi3GetContinuousStates(fmi3Instance instance, fmi3Float64 x[], size_t n)
{
    ALLOWED(KC_FMU_READABLE);
    return (fmi3Status)kc_fmu_get_states(fmu, x, n);
}

fmi3Status fmi3GetNominalsOfContinuousStates(fmi3Instance instance, fmi3Float64 nominals[], size_t n)
{
    ALLOWED(KC_FMU_ALIVE);
    (void)fmu;
    for (size_t i = 0; i < n; i++)
        nominals[i] = 1.0;
    return fmi3OK;
}

fmi3Status fmi3GetNumberOfEventIndicators(fmi3Instance instance, size_t *n)
{
    ALLOWED(KC_FMU_ALIVE);
    (void)fmu;
    *n = 0;
    return fmi3OK;
}

fmi3Status fmi3GetNumberOfContinuousStates(fmi3Instance instance, size_t *n)
{
    ALLOWED(KC_FMU_ALIVE);
    *n = fmu->n_x;
    return fmi3OK;
}

/* -------------------------------------------------------------------------------------- co-simulation */

fmi3Status fmi3EnterStepMode(fmi3Instance instance)
{
    REFUSED("co-simulation of this FMU has no event mode");
}

fmi3Status fmi3GetOutputDerivatives(fmi3Instance instance, const fmi3ValueReference references[], size_t n,
                                    const fmi3Int32 orders[], fmi3Float64 values[], size_t n_values)
{
    (void)references, (void)n, (void)orders, (void)values, (void)n_values;
    REFUSED("there are none");
}

fmi3Status fmi3DoStep(fmi3Instance instance, fmi3Float64 t, fmi3Float64 h, fmi3Boolean no_way_back,
                      fmi3Boolean *needs_event, fmi3Boolean *terminate, fmi3Boolean *early_return,
                      fmi3Float64 *last)
{
    ALLOWED(KC_FMU_STEPPING);
    (void)no_way_back;
    *needs_event = *terminate = *early_return = fmi3False;
    const kc_fmu_status status = kc_fmu_advance(fmu, t, h);
    *last = fmu->values[0];
    return (fmi3Status)status;
}
