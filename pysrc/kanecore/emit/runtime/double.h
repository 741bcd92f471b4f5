/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers are doubles. */
typedef double kc_number;
typedef uint64_t kc_bits; /* as many bits, without a sign and with one */
typedef int64_t kc_integer;
#define KC_LITERAL(literal)  literal
#define KC_MATH(function)    function /* of libm */
#define KC_EPSILON           DBL_EPSILON
#define KC_LARGEST           DBL_MAX
#define KC_MANTISSA          52        /* bits behind the point; those of the exponent follow */
#define KC_EXPONENT          0x7ff     /* these, all ones */
#define KC_PER_PACK(doubles) (doubles) /* numbers in the place of some doubles */
