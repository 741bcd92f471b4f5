/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of FMI 2.0, for model exchange and co-simulation, over an instance of kc_fmu.h. */
#include "fmi2Functions.h"
#include "kc_fmu.h"

typedef struct handle {
    kc_fmu *fmu;
    fmi2CallbackLogger log;
    fmi2ComponentEnvironment environment;
    char name[]; /* which the logger takes */
} handle;

typedef fmi2Component fmi_instance;
typedef fmi2FMUstate fmi_copy;

#define FMI(name)      fmi2##name
#define FMI_COPY(verb) fmi2##verb##FMUstate
#define FMI_COPY_SIZE  fmi2SerializedFMUstateSize
#define FMI_READ_COPY  fmi2DeSerializeFMUstate
#define FMI_GET_SLOPES fmi2GetDerivatives
#include "kc_fmi_functions.h"

/* The logger takes a format, in which % and # mean something: in names they are doubled. */
static void tell(void *host, kc_fmu_status status, const char *message)
{
    const handle *const self = host;
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

fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String token, fmi2String resources,
                              const fmi2CallbackFunctions *functions, fmi2Boolean visible,
                              fmi2Boolean logging)
{
    const size_t length = name ? strlen(name) : 0;
    handle *const self = calloc(1, sizeof *self + length + 1);
    (void)resources, (void)visible, (void)logging;
    if (self && functions)
        self->log = functions->logger, self->environment = functions->componentEnvironment;
    if (self && name)
        memcpy(self->name, name, length);
    return with_model(self, token, type == fmi2CoSimulation, tell);
}

fmi2Status fmi2SetupExperiment(fmi2Component instance, fmi2Boolean tolerance_defined, fmi2Real tolerance,
                               fmi2Real start, fmi2Boolean stop_defined, fmi2Real stop)
{
    ALLOWED(KC_FMU_INSTANTIATED);
    (void)stop_defined, (void)stop;
    return (fmi2Status)kc_fmu_start(fmu, start, tolerance_defined ? tolerance : 0.0);
}

fmi2Status fmi2EnterInitializationMode(fmi2Component instance)
{
    ALLOWED(KC_FMU_INSTANTIATED);
    fmu->mode = KC_FMU_INITIALIZING;
    return fmi2OK;
}

/* ------------------------------------------------------------------------------------------- variables */

fmi2Status fmi2GetReal(fmi2Component instance, const fmi2ValueReference references[], size_t n,
                       fmi2Real values[])
{
    ALLOWED(KC_FMU_READABLE);
    return (fmi2Status)kc_fmu_get(fmu, references, n, values);
}

fmi2Status fmi2SetReal(fmi2Component instance, const fmi2ValueReference references[], size_t n,
                       const fmi2Real values[])
{
    ALLOWED(KC_FMU_SETTABLE);
    return (fmi2Status)kc_fmu_set(fmu, references, n, values);
}

/* All variables are real: of other types there is nothing to get or set. */
#define NONE_OF_TYPE(function, type)                                                                         \
    fmi2Status function(fmi2Component instance, const fmi2ValueReference references[], size_t n,             \
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

fmi2Status fmi2GetDirectionalDerivative(fmi2Component instance, const fmi2ValueReference unknowns[],
                                        size_t n_unknowns, const fmi2ValueReference knowns[], size_t n_knowns,
                                        const fmi2Real seed[], fmi2Real result[])
{
    ALLOWED(KC_FMU_READABLE);
    return (fmi2Status)kc_fmu_derivative(fmu, 0, unknowns, n_unknowns, knowns, n_knowns, seed, result);
}

/* -------------------------------------------------------------------------------------- model exchange */

fmi2Status fmi2NewDiscreteStates(fmi2Component instance, fmi2EventInfo *info)
{
    int changed;
    ALLOWED(KC_FMU_EVENT);
    const kc_fmu_status status = kc_fmu_settle(fmu, &changed);
    *info = (fmi2EventInfo){fmi2False, fmi2False, fmi2False, changed ? fmi2True : fmi2False, fmi2False, 0.0};
    return (fmi2Status)status;
}

/* -------------------------------------------------------------------------------------- co-simulation */

fmi2Status fmi2DoStep(fmi2Component instance, fmi2Real t, fmi2Real h, fmi2Boolean no_way_back)
{
    ALLOWED(KC_FMU_STEPPING);
    (void)no_way_back;
    return (fmi2Status)kc_fmu_advance(fmu, t, h);
}

fmi2Status fmi2SetRealInputDerivatives(fmi2Component instance, const fmi2ValueReference references[],
                                       size_t n, const fmi2Integer orders[], const fmi2Real values[])
{
    ALLOWED(KC_FMU_STEPPING);
    (void)references, (void)orders, (void)values;
    return n ? (fmi2Status)kc_fmu_say(fmu, KC_FMU_ERROR, "%s: inputs are held", __func__) : fmi2OK;
}

fmi2Status fmi2GetRealOutputDerivatives(fmi2Component instance, const fmi2ValueReference references[],
                                        size_t n, const fmi2Integer orders[], fmi2Real values[])
{
    ALLOWED(KC_FMU_STEPPING);
    (void)references, (void)orders, (void)values;
    return n ? (fmi2Status)kc_fmu_say(fmu, KC_FMU_ERROR, "%s: there are none", __func__) : fmi2OK;
}

fmi2Status fmi2CancelStep(fmi2Component instance)
{
    ALLOWED(KC_FMU_ANY);
    return (fmi2Status)kc_fmu_say(fmu, KC_FMU_ERROR, "%s: no step is under way", __func__);
}

fmi2Status fmi2GetStatus(fmi2Component instance, const fmi2StatusKind kind, fmi2Status *value)
{
    ALLOWED(KC_FMU_ANY);
    (void)fmu, (void)kind, (void)value;
    return fmi2Discard; /* steps are never pending */
}

fmi2Status fmi2GetRealStatus(fmi2Component instance, const fmi2StatusKind kind, fmi2Real *value)
{
    ALLOWED(KC_FMU_ANY);
    if (kind != fmi2LastSuccessfulTime)
        return fmi2Discard;
    *value = fmu->values[0];
    return fmi2OK;
}

fmi2Status fmi2GetIntegerStatus(fmi2Component instance, const fmi2StatusKind kind, fmi2Integer *value)
{
    ALLOWED(KC_FMU_ANY);
    (void)fmu, (void)kind, (void)value;
    return fmi2Discard;
}

fmi2Status fmi2GetBooleanStatus(fmi2Component instance, const fmi2StatusKind kind, fmi2Boolean *value)
{
    ALLOWED(KC_FMU_ANY);
    (void)fmu;
    if (kind != fmi2Terminated)
        return fmi2Discard;
    *value = fmi2False;
    return fmi2OK;
}

fmi2Status fmi2GetStringStatus(fmi2Component instance, const fmi2StatusKind kind, fmi2String *value)
{
    ALLOWED(KC_FMU_ANY);
    (void)fmu, (void)kind, (void)value;
    return fmi2Discard;
}
