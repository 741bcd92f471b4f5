/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions that FMI 2.0 and 3.0 have alike.  fmi2.c and fmi3.c include them once they have defined the
 * names of their version: FMI(name), FMI_COPY(verb), FMI_COPY_SIZE, FMI_READ_COPY, FMI_GET_SLOPES, the types
 * fmi_instance and fmi_copy, and the struct handle that an fmi_instance points to, with a member `fmu`.
 */
#ifndef KC_FMI_FUNCTIONS_H
#define KC_FMI_FUNCTIONS_H

#include "kc_fmu.h"

#include <stdlib.h>
#include <string.h>

/* The instance, if it may be asked now, else an error. */
#define ALLOWED(modes)                                                                                       \
    handle *const self = instance;                                                                           \
    if (self == NULL || kc_fmu_allow(self->fmu, __func__, (modes)) != KC_FMU_OK)                             \
        return FMI(Error);                                                                                   \
    kc_fmu *const fmu = self->fmu

/* An instance of the model, or NULL, after the log was told why. */
static handle *with_model(handle *self, const char *token, int cosimulation, kc_fmu_log *log)
{
    if (self)
        self->fmu = kc_fmu_new(token, cosimulation, log, self);
    if (self && self->fmu)
        return self;
    free(self);
    return NULL;
}

FMI(Status)
FMI(SetDebugLogging)(fmi_instance instance, FMI(Boolean) on, size_t n, const FMI(String) categories[])
{
    ALLOWED(KC_FMU_ANY);
    (void)fmu, (void)on, (void)n, (void)categories; /* only errors are told, and these always */
    return FMI(OK);
}

const char *FMI(GetVersion)(void)
{
    return FMI(Version);
}

void FMI(FreeInstance)(fmi_instance instance)
{
    handle *const self = instance;
    if (self)
        kc_fmu_free(self->fmu);
    free(self);
}

FMI(Status) FMI(ExitInitializationMode)(fmi_instance instance)
{
    ALLOWED(KC_FMU_INITIALIZING);
    return (FMI(Status))kc_fmu_begin(fmu);
}

FMI(Status) FMI(EnterEventMode)(fmi_instance instance)
{
    ALLOWED(KC_FMU_CONTINUOUS | KC_FMU_EVENT);
    fmu->mode = KC_FMU_EVENT;
    return FMI(OK);
}

FMI(Status) FMI(Terminate)(fmi_instance instance)
{
    ALLOWED(KC_FMU_EVENT | KC_FMU_CONTINUOUS | KC_FMU_STEPPING);
    fmu->mode = KC_FMU_TERMINATED;
    return FMI(OK);
}

FMI(Status) FMI(Reset)(fmi_instance instance)
{
    ALLOWED(KC_FMU_ANY);
    kc_fmu_reset(fmu);
    return FMI(OK);
}

/* ------------------------------------------------------------------------------------- copies of the state
 */

FMI(Status) FMI_COPY(Get)(fmi_instance instance, fmi_copy *saved)
{
    ALLOWED(KC_FMU_ALIVE);
    free(*saved); /* NULL, or an older copy, whose memory may be used again */
    *saved = kc_fmu_save(fmu);
    return *saved ? FMI(OK) : (FMI(Status))kc_fmu_say(fmu, KC_FMU_ERROR, "%s: no memory", __func__);
}

FMI(Status) FMI_COPY(Set)(fmi_instance instance, fmi_copy saved)
{
    ALLOWED(KC_FMU_ANY);
    if (saved == NULL)
        return (FMI(Status))kc_fmu_say(fmu, KC_FMU_ERROR, "%s: there is no saved state", __func__);
    return (FMI(Status))kc_fmu_restore(fmu, saved);
}

FMI(Status) FMI_COPY(Free)(fmi_instance instance, fmi_copy *saved)
{
    ALLOWED(KC_FMU_ANY);
    (void)fmu;
    if (saved) {
        free(*saved);
        *saved = NULL;
    }
    return FMI(OK);
}

FMI(Status) FMI_COPY_SIZE(fmi_instance instance, fmi_copy saved, size_t *size)
{
    ALLOWED(KC_FMU_ANY);
    (void)saved;
    *size = kc_fmu_saved_size(fmu);
    return FMI(OK);
}

FMI(Status) FMI_COPY(Serialize)(fmi_instance instance, fmi_copy saved, FMI(Byte) bytes[], size_t size)
{
    ALLOWED(KC_FMU_ANY);
    if (saved == NULL || size < kc_fmu_saved_size(fmu))
        return (FMI(Status))kc_fmu_say(fmu, KC_FMU_ERROR, "%s: no saved state, or too few bytes", __func__);
    memcpy(bytes, saved, kc_fmu_saved_size(fmu));
    return FMI(OK);
}

FMI(Status) FMI_READ_COPY(fmi_instance instance, const FMI(Byte) bytes[], size_t size, fmi_copy *saved)
{
    ALLOWED(KC_FMU_ANY);
    *saved = kc_fmu_read(fmu, bytes, size);
    return *saved ? FMI(OK)
                  : (FMI(Status))kc_fmu_say(fmu, KC_FMU_ERROR, "%s: no state of this model", __func__);
}

/* ------------------------------------------------------------------------------------------ model exchange
 */

FMI(Status) FMI(EnterContinuousTimeMode)(fmi_instance instance)
{
    ALLOWED(KC_FMU_EVENT);
    fmu->mode = KC_FMU_CONTINUOUS;
    return FMI(OK);
}

FMI(Status)
FMI(CompletedIntegratorStep)(fmi_instance instance, FMI(Boolean) no_way_back, FMI(Boolean) * enter_event_mode,
                             FMI(Boolean) * terminate)
{
    ALLOWED(KC_FMU_CONTINUOUS);
    (void)no_way_back;
    *enter_event_mode = kc_fmu_drifted(fmu) ? FMI(True) : FMI(False);
    *terminate = FMI(False);
    return FMI(OK);
}

FMI(Status) FMI(SetTime)(fmi_instance instance, double t)
{
    ALLOWED(KC_FMU_EVENT | KC_FMU_CONTINUOUS);
    return (FMI(Status))kc_fmu_set_time(fmu, t);
}

FMI(Status) FMI(SetContinuousStates)(fmi_instance instance, const double x[], size_t n)
{
    ALLOWED(KC_FMU_CONTINUOUS);
    return (FMI(Status))kc_fmu_set_states(fmu, x, n);
}

FMI(Status) FMI_GET_SLOPES(fmi_instance instance, double xdot[], size_t n)
{
    ALLOWED(KC_FMU_READABLE);
    return (FMI(Status))kc_fmu_get_slopes(fmu, xdot, n);
}

FMI(Status) FMI(GetEventIndicators)(fmi_instance instance, double indicators[], size_t n)
{
    ALLOWED(KC_FMU_READABLE);
    (void)indicators;
    return n ? (FMI(Status))kc_fmu_say(fmu, KC_FMU_ERROR, "%s: there are none", __func__) : FMI(OK);
}

FMI(Status) FMI(GetContinuousStates)(fmi_instance instance, double x[], size_t n)
{
    ALLOWED(KC_FMU_READABLE);
    return (FMI(Status))kc_fmu_get_states(fmu, x, n);
}

FMI(Status) FMI(GetNominalsOfContinuousStates)(fmi_instance instance, double nominals[], size_t n)
{
    ALLOWED(KC_FMU_ALIVE);
    (void)fmu;
    for (size_t i = 0; i < n; i++)
        nominals[i] = 1.0;
    return FMI(OK);
}

#endif
