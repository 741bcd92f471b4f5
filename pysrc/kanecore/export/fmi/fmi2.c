/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of FMI 2.0, for model exchange and co-simulation, over an instance of kc_fmu.h. */
#include "fmi2Functions.h"
#include "kc_fmu.h"

#include <stdlib.h>
#include <string.h>

typedef struct instance {
    kc_fmu *fmu;
    fmi2CallbackLogger log;
    fmi2ComponentEnvironment environment;
    char *name;
} instance;

/* The instance of a component that may be asked now, else an error. */
#define ALLOWED(modes)                                                                                       \
    instance *const self = component;                                                                        \
    if (self == NULL || kc_fmu_allow(self->fmu, __func__, (modes)) != KC_FMU_OK)                             \
        return fmi2Error;                                                                                    \
    kc_fmu *const fmu = self->fmu

/* The logger takes a format, in which % and # mean something: in names they are doubled. */
static void tell(void *host, kc_fmu_status status, const char *message)
{
    const instance *const self = host;
    char format[2 * KC_FMU_MESSAGE], *to = format;
    if (self->log == NULL)
        return;
    for (; *message; message++) {
        if (*message == '%' || *message == '#')
            *to++ = *message;
        *to++ = *message;
    }
    *to = 0;
    self->log(self->environment, self->name, (fmi2Status)status,
              status == KC_FMU_DISCARD ? "logStatusDiscard" : "logStatusError", format);
}

const char *fmi2GetTypesPlatform(void)
{
    return fmi2TypesPlatform;
}

const char *fmi2GetVersion(void)
{
    return fmi2Version;
}

fmi2Status fmi2SetDebugLogging(fmi2Component component, fmi2Boolean on, size_t n,
                               const fmi2String categories[])
{
    ALLOWED(KC_FMU_ANY);
    (void)fmu, (void)on, (void)n, (void)categories; /* only errors are told, and these always */
    return fmi2OK;
}

fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String token, fmi2String resources,
                              const fmi2CallbackFunctions *functions, fmi2Boolean visible,
                              fmi2Boolean logging)
{
    instance *const self = calloc(1, sizeof *self);
    const size_t length = name ? strlen(name) : 0;
    (void)resources, (void)visible, (void)logging;
    if (self == NULL)
        return NULL;
    if (functions)
        self->log = functions->logger, self->environment = functions->componentEnvironment;
    self->name = malloc(length + 1);
    if (self->name) {
        memcpy(self->name, name ? name : "", length);
        self->name[length] = 0;
        self->fmu = kc_fmu_new(token, type == fmi2CoSimulation, tell, self);
    }
    if (self->fmu == NULL) {
        free(self->name);
        free(self);
        return NULL;
    }
    return self;
}

void fmi2FreeInstance(fmi2Component component)
{
    instance *const self = component;
    if (self == NULL)
        return;
    kc_fmu_free(self->fmu);
    free(self->name);
    free(self);
}

fmi2Status fmi2SetupExperiment(fmi2Component component, fmi2Boolean tolerance_defined, fmi2Real tolerance,
                               fmi2Real start, fmi2Boolean stop_defined, fmi2Real stop)
{
    ALLOWED(KC_FMU_INSTANTIATED);
    (void)stop_defined, (void)stop;
    return (fmi2Status)kc_fmu_start(fmu, start, tolerance_defined ? tolerance : 0.0);
}

fmi2Status fmi2EnterInitializationMode(fmi2Component component)
{
    ALLOWED(KC_FMU_INSTANTIATED);
    fmu->mode = KC_FMU_INITIALIZING;
    return fmi2OK;
}

fmi2Status fmi2ExitInitializationMode(fmi2Component component)
{
    ALLOWED(KC_FMU_INITIALIZING);
    return (fmi2Status)kc_fmu_begin(fmu);
}

fmi2Status fmi2Terminate(fmi2Component component)
{
    ALLOWED(KC_FMU_EVENT | KC_FMU_CONTINUOUS | KC_FMU_STEPPING);
    fmu->mode = KC_FMU_TERMINATED;
    return fmi2OK;
}

fmi2Status fmi2Reset(fmi2Component component)
{
    ALLOWED(KC_FMU_ANY);
    kc_fmu_reset(fmu);
    return fmi2OK;
}

/* ------------------------------------------------------------------------------------------- variables */

fmi2Status fmi2GetReal(fmi2Component component, const fmi2ValueReference references[], size_t n,
                       fmi2Real values[])
{
    ALLOWED(KC_FMU_READABLE);
    return (fmi2Status)kc_fmu_get(fmu, references, n, values);
}

fmi2Status fmi2SetReal(fmi2Component component, const fmi2ValueReference references[], size_t n,
                       const fmi2Real values[])
{
    ALLOWED(KC_FMU_SETTABLE);
    return (fmi2Status)kc_fmu_set(fmu, references, n, values);
}

/* All variables are real: of other types there is nothing to get or set. */
#define NONE_OF_TYPE(function, type)                                                                         \
    fmi2Status function(fmi2Component component, const fmi2ValueReference references[], size_t n,            \
                        type values[])                                                                       \
    {                                                                                                        \
        ALLOWED(KC_FMU_ALIVE);                                                                               \
        (void)references, (void)values;                                                                      \
        return n ? (fmi2Status)kc_fmu_say(fmu, KC_FMU_ERROR, "%s: all variables are real", __func__)         \
                 : fmi2OK;                                                                                   \
    }
NONE_OF_TYPE(fmi2GetInteger, fmi2Integer)
NONE_OF_TYPE(fmi2GetBoolean, fmi2Boolean)
NONE_OF_TYPE(fmi2GetString, fmi2String)
NONE_OF_TYPE(fmi2SetInteger, const fmi2Integer)
NONE_OF_TYPE(fmi2SetBoolean, const fmi2Boolean)
NONE_OF_TYPE(fmi2SetString, const fmi2String)

fmi2Status fmi2GetDirectionalDerivative(fmi2Component component, const fmi2ValueReference unknowns[],
                                        size_t n_unknowns, const fmi2ValueReference knowns[], size_t n_knowns,
                                        const fmi2Real seed[], fmi2Real result[])
{
    ALLOWED(KC_FMU_READABLE);
    return (fmi2Status)kc_fmu_derivative(fmu, 0, unknowns, n_unknowns, knowns, n_knowns, seed, result);
}

/* ---------------------------------------------------------------------------------- copies of the state */

fmi2Status fmi2GetFMUstate(fmi2Component component, fmi2FMUstate *saved)
{
    ALLOWED(KC_FMU_ALIVE);
    free(*saved); /* NULL, or an older copy, whose memory may be used again */
    *saved = kc_fmu_save(fmu);
    return *saved ? fmi2OK : (fmi2Status)kc_fmu_say(fmu, KC_FMU_ERROR, "%s: no memory", __func__);
}

fmi2Status fmi2SetFMUstate(fmi2Component component, fmi2FMUstate saved)
{
    ALLOWED(KC_FMU_ANY);
    if (saved == NULL)
        return (fmi2Status)kc_fmu_say(fmu, KC_FMU_ERROR, "%s: there is no saved state", __func__);
    return (fmi2Status)kc_fmu_restore(fmu, saved);
}

fmi2Status fmi2FreeFMUstate(fmi2Component component, fmi2FMUstate *saved)
{
    ALLOWED(KC_FMU_ANY);
    (void)fmu;
    if (saved) {
        free(*saved);
        *saved = NULL;
    }
    return fmi2OK;
}

fmi2Status fmi2SerializedFMUstateSize(fmi2Component component, fmi2FMUstate saved, size_t *size)
{
    ALLOWED(KC_FMU_ANY);
    (void)saved;
    *size = kc_fmu_saved_size(fmu);
    return fmi2OK;
}

fmi2Status fmi2SerializeFMUstate(fmi2Component component, fmi2FMUstate saved, fmi2Byte bytes[], size_t size)
{
    ALLOWED(KC_FMU_ANY);
    if (saved == NULL || size < kc_fmu_saved_size(fmu))
        return (fmi2Status)kc_fmu_say(fmu, KC_FMU_ERROR, "%s: no saved state, or too few bytes", __func__);
    memcpy(bytes, saved, kc_fmu_saved_size(fmu));
    return fmi2OK;
}

fmi2Status fmi2DeSerializeFMUstate(fmi2Component component, const fmi2Byte bytes[], size_t size,
                                   fmi2FMUstate *saved)
{
    ALLOWED(KC_FMU_ANY);
    *saved = kc_fmu_read(fmu, bytes, size);
    return *saved ? fmi2OK
                  : (fmi2Status)kc_fmu_say(fmu, KC_FMU_ERROR, "%s: no state of this model", __func__);
}

/* -------------------------------------------------------------------------------------- model exchange */

fmi2Status fmi2EnterEventMode(fmi2Component component)
{
    ALLOWED(KC_FMU_CONTINUOUS | KC_FMU_EVENT);
    fmu->mode = KC_FMU_EVENT;
    return fmi2OK;
}

fmi2Status fmi2NewDiscreteStates(fmi2Component component, fmi2EventInfo *info)
{
    int changed;
    ALLOWED(KC_FMU_EVENT);
    const kc_fmu_status status = kc_fmu_settle(fmu, &changed);
    *info = (fmi2EventInfo){fmi2False, fmi2False, fmi2False, changed ? fmi2True : fmi2False, fmi2False, 0.0};
    return (fmi2Status)status;
}

fmi2Status fmi2EnterContinuousTimeMode(fmi2Component component)
{
    ALLOWED(KC_FMU_EVENT);
    fmu->mode = KC_FMU_CONTINUOUS;
    return fmi2OK;
}

fmi2Status fmi2CompletedIntegratorStep(fmi2Component component, fmi2Boolean no_way_back,
                                       fmi2Boolean *enter_event_mode, fmi2Boolean *terminate)
{
    ALLOWED(KC_FMU_CONTINUOUS);
    (void)no_way_back;
    *enter_event_mode = kc_fmu_drifted(fmu) ? fmi2True : fmi2False;
    *terminate = fmi2False;
    return fmi2OK;
}

fmi2Status fmi2SetTime(fmi2Component component, fmi2Real t)
{
    ALLOWED(KC_FMU_EVENT | KC_FMU_CONTINUOUS);
    return (fmi2Status)kc_fmu_set_time(fmu, t);
}

fmi2Status fmi2SetContinuousStates(fmi2Component component, const fmi2Real x[], size_t n)
{
    ALLOWED(KC_FMU_CONTINUOUS);
    return (fmi2Status)kc_fmu_set_states(fmu, x, n);
}

fmi2Status fmi2GetDerivatives(fmi2Component component, fmi2Real xdot[], size_t n)
{
    ALLOWED(KC_FMU_READABLE);
    return (fmi2Status)kc_fmu_get_slopes(fmu, xdot, n);
}

fmi2Status fmi2GetEventIndicators(fmi2Component component, fmi2Real indicators[], size_t n)
{
    ALLOWED(KC_FMU_READABLE);
    (void)indicators;
    return n ? (fmi2Status)kc_fmu_say(fmu, KC_FMU_ERROR, "%s: there are none", __func__) : fmi2OK;
}

fmi2Status fmi2GetContinuousStates(fmi2Component component, fmi2Real x[], size_t n)
{
    ALLOWED(KC_FMU_READABLE);
    return (fmi2Status)kc_fmu_get_states(fmu, x, n);
}

fmi2Status fmi2GetNominalsOfContinuousStates(fmi2Component component, fmi2Real nominals[], size_t n)
{
    ALLOWED(KC_FMU_ALIVE);
    (void)fmu;
    for (size_t i = 0; i < n; i++)
        nominals[i] = 1.0;
    return fmi2OK;
}

/* -------------------------------------------------------------------------------------- co-simulation */

fmi2Status fmi2DoStep(fmi2Component component, fmi2Real t, fmi2Real h, fmi2Boolean no_way_back)
{
    ALLOWED(KC_FMU_STEPPING);
    (void)no_way_back;
    return (fmi2Status)kc_fmu_advance(fmu, t, h);
}

fmi2Status fmi2SetRealInputDerivatives(fmi2Component component, const fmi2ValueReference references[],
                                       size_t n, const fmi2Integer orders[], const fmi2Real values[])
{
    ALLOWED(KC_FMU_STEPPING);
    (void)references, (void)orders, (void)values;
    return n ? (fmi2Status)kc_fmu_say(fmu, KC_FMU_ERROR, "%s: inputs are held", __func__) : fmi2OK;
}

fmi2Status fmi2GetRealOutputDerivatives(fmi2Component component, const fmi2ValueReference references[],
                                        size_t n, const fmi2Integer orders[], fmi2Real values[])
{
    ALLOWED(KC_FMU_STEPPING);
    (void)references, (void)orders, (void)values;
    return n ? (fmi2Status)kc_fmu_say(fmu, KC_FMU_ERROR, "%s: there are none", __func__) : fmi2OK;
}

fmi2Status fmi2CancelStep(fmi2Component component)
{
    ALLOWED(KC_FMU_ANY);
    return (fmi2Status)kc_fmu_say(fmu, KC_FMU_ERROR, "%s: no step is under way", __func__);
}

fmi2Status fmi2GetStatus(fmi2Component component, const fmi2StatusKind kind, fmi2Status *value)
{
    ALLOWED(KC_FMU_ANY);
    (void)fmu, (void)kind, (void)value;
    return fmi2Discard; /* steps are never pending */
}

fmi2Status fmi2GetRealStatus(fmi2Component component, const fmi2StatusKind kind, fmi2Real *value)
{
    ALLOWED(KC_FMU_ANY);
    if (kind != fmi2LastSuccessfulTime)
        return fmi2Discard;
    *value = fmu->values[0];
    return fmi2OK;
}

fmi2Status fmi2GetIntegerStatus(fmi2Component component, const fmi2StatusKind kind, fmi2Integer *value)
{
    ALLOWED(KC_FMU_ANY);
    (void)fmu, (void)kind, (void)value;
    return fmi2Discard;
}

fmi2Status fmi2GetBooleanStatus(fmi2Component component, const fmi2StatusKind kind, fmi2Boolean *value)
{
    ALLOWED(KC_FMU_ANY);
    (void)fmu;
    if (kind != fmi2Terminated)
        return fmi2Discard;
    *value = fmi2False;
    return fmi2OK;
}

fmi2Status fmi2GetStringStatus(fmi2Component component, const fmi2StatusKind kind, fmi2String *value)
{
    ALLOWED(KC_FMU_ANY);
    (void)fmu, (void)kind, (void)value;
    return fmi2Discard;
}
