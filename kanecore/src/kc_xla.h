/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kc_xla.h: the part of XLA's binary interface for foreign functions that a function of JAX takes.
 *
 * kanecore is built without JAX, so these are separate declarations.  The interface is stable: XLA supports
 * every version for at least a year, and names and sizes at the front of each structure distinguish versions.
 * tests/test_jax_function.py compares sizes and places with the header of the installed jaxlib,
 * xla/ffi/api/c_api.h.
 */
#ifndef KC_XLA_H
#define KC_XLA_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { KC_XLA_MAJOR = 0, KC_XLA_MINOR = 1 }; /* the oldest version with all of these */
enum { KC_XLA_FLOAT = 11, KC_XLA_DOUBLE = 12 };
enum { KC_XLA_SCALAR = 3, KC_XLA_STRING = 4 };
enum { KC_XLA_METADATA = 1 };
enum { KC_XLA_CANCELLED = 1, KC_XLA_FAILED_PRECONDITION = 9 };

typedef struct kc_xla_extension {
    size_t struct_size;
    int type;
    struct kc_xla_extension *next;
} kc_xla_extension;

typedef struct kc_xla_version {
    size_t struct_size;
    kc_xla_extension *extensions;
    int major, minor;
} kc_xla_version;

/* The query for the version of a function. */
typedef struct kc_xla_metadata {
    kc_xla_extension base;
    struct {
        size_t struct_size;
        kc_xla_version version;
        uint32_t traits;
    } *answer;
} kc_xla_metadata;

typedef struct kc_xla_buffer {
    size_t struct_size;
    kc_xla_extension *extensions;
    int type;
    void *data;
    int64_t rank;
    int64_t *lengths;
} kc_xla_buffer;

/* Arguments, or results. */
typedef struct kc_xla_buffers {
    size_t struct_size;
    kc_xla_extension *extensions;
    int64_t size;
    int *types;
    kc_xla_buffer **at;
} kc_xla_buffers;

typedef struct kc_xla_text {
    const char *at;
    size_t length;
} kc_xla_text;

typedef struct kc_xla_scalar {
    int type;
    void *value;
} kc_xla_scalar;

typedef struct kc_xla_attributes {
    size_t struct_size;
    kc_xla_extension *extensions;
    int64_t size;
    int *types;
    kc_xla_text **names;
    void **at;
} kc_xla_attributes;

typedef struct kc_xla_error_arguments {
    size_t struct_size;
    kc_xla_extension *extensions;
    const char *message;
    int code;
} kc_xla_error_arguments;

typedef struct kc_xla_api {
    size_t struct_size;
    kc_xla_extension *extensions;
    kc_xla_version version;
    const void *internal;
    void *(*new_error)(kc_xla_error_arguments *arguments);
} kc_xla_api;

typedef struct kc_xla_call {
    size_t struct_size;
    kc_xla_extension *extensions;
    const kc_xla_api *api;
    void *context;
    int stage;
    kc_xla_buffers arguments, results;
    kc_xla_attributes attributes;
} kc_xla_call;

/* True if XLA queries the version, as it does before calls; this function then answers. */
static inline int kc_xla_asks(kc_xla_call *call)
{
    kc_xla_metadata *question = (kc_xla_metadata *)call->extensions;
    if (question == NULL || question->base.type != KC_XLA_METADATA)
        return 0;
    question->answer->version.major = KC_XLA_MAJOR;
    question->answer->version.minor = KC_XLA_MINOR;
    return 1;
}

/* An error of XLA, which copies the message. */
static inline void *kc_xla_error(const kc_xla_call *call, int code, const char *message)
{
    kc_xla_error_arguments arguments = {sizeof arguments, NULL, message, code};
    return call->api->new_error(&arguments);
}

/* An attribute of a type by name; NULL: there is none. */
static inline const void *kc_xla_attribute(const kc_xla_call *call, const char *name, int type)
{
    const kc_xla_attributes *given = &call->attributes;
    for (int64_t i = 0; i < given->size; i++) {
        const kc_xla_text *text = given->names[i];
        if (given->types[i] == type && text->length == strlen(name) && !memcmp(text->at, name, text->length))
            return given->at[i];
    }
    return NULL;
}

#endif /* KC_XLA_H */
