/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers are floats; what each line says stands in double.h. */
typedef float kc_number;
typedef uint32_t kc_bits;
typedef int32_t kc_integer;
#define KC_LITERAL(literal)  literal##f
#define KC_MATH(function)    function##f
#define KC_EPSILON           FLT_EPSILON
#define KC_LARGEST           FLT_MAX
#define KC_MANTISSA          23
#define KC_EXPONENT          0xff
#define KC_PER_PACK(doubles) (2 * (doubles))

/* A function as kc_model and kc_lanes hold it: there all are functions of doubles. */
#define KC_STORED(type, function) (type *)(void (*)(void))(function)
