/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of FMI 3.0, for model exchange and co-simulation, over an instance of kc_fmu.h. */
#include "fmi3Functions.h"
#include "kc_fmu.h"

typedef struct handle {
    kc_fmu *fmu;
    fmi3LogMessageCallback log;
    fmi3InstanceEnvironment environment;
} handle;

typedef fmi3Instance fmi_instance;
typedef fmi3FMUState fmi_copy;

#define FMI(name)      fmi3##name
#define FMI_COPY(verb) fmi3##verb##FMUState
#define FMI_COPY_SIZE  fmi3SerializedFMUStateSize
#define FMI_READ_COPY  fmi3DeserializeFMUState
#define FMI_GET_SLOPES fmi3GetContinuousStateDerivatives
#include "kc_fmi_functions.h"

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

static fmi3Instance instantiate(fmi3String token, int cosimulation, fmi3InstanceEnvironment environment,
                                fmi3LogMessageCallback log)
{
    handle *const self = calloc(1, sizeof *self);
    if (self)
        self->log = log, self->environment = environment;
    return with_model(self, token, cosimulation, tell);
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
