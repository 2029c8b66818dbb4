/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <float.h>
#include <math.h>

#include <rte_malloc.h>

#include "extended.h"
#include "extended_kernels.h"
#include "function.h"
#include "isa.h"
#include "lanes/drive.h"

/* ---- what has no kernel of its own: in integers, lane by lane ---- */

/* Of a format's lanes. */
struct operation {
	const struct netfc_format *format;
	unsigned int op;
};

static struct lane
operate(const void *context, uint32_t x, uint32_t y, uint32_t z)
{
	const struct operation *operation = context;
	const unsigned int bits = netfc_format_width(operation->format);
	const struct netfc_result result = netfc_extra(operation->format, operation->op,
		slot_swap(x, bits), slot_swap(y, bits), slot_swap(z, bits));

	return (struct lane){slot_swap(result.z, bits), result.flags};
}

static void
operate_any(const struct vector_kernel *kernel, unsigned int op, struct vector_packet *packets,
	unsigned int count)
{
	const struct netfc_format *format = ((const struct extended_kernel *)kernel)->format;
	const struct drive drive = {netfc_format_width(format), true, 0};

	for (unsigned int p = 0; p < count; p++)
		drive_packet(&packets[p], drive, operate, &(struct operation){format, op});
}

static struct lane
convert(const void *context, uint32_t x, uint32_t y, uint32_t z)
{
	const struct conversion_kernel *kernel = context;
	uint32_t number = slot32_swap(x), result;
	uint8_t flags;

	(void)y, (void)z;
	netfc_function_lanes(kernel->function, kernel->format, &number, &result, &flags, 1);
	return (struct lane){slot32_swap(result), flags};
}

INLINE void
convert_packet(const struct conversion_kernel *kernel, struct vector_packet *packet)
{
	drive_packet(packet, (struct drive){32, true, 0}, convert, kernel);
}

EXTENDED_PACKETS(convert_any, convert_packet)

/* ---- conversions ---- */

static enum conversion
conversion_of(const struct netfc_format *from, const struct netfc_format *to)
{
	if (netfc_format_id(from) != NETFC_FP32)
		return netfc_format_width(from) == 8 ? CONVERSION_WIDEN_8 : CONVERSION_WIDEN_16;
	switch (netfc_format_id(to)) {
	case NETFC_FP16:
		return CONVERSION_FP16;
	case NETFC_BF16:
		return CONVERSION_BF16;
	case NETFC_POSIT16:
		return CONVERSION_POSIT16;
	case NETFC_POSIT16_ES2:
		return CONVERSION_POSIT16_ES2;
	case NETFC_FP32:
		return CONVERSION_FP32;
	default:
		return netfc_format_width(to) == 8 ? CONVERSION_FP8 : CONVERSION_ANY;
	}
}

/* Arrays; what is widened is exact, and so has no flags. */
static int
fill_conversion(struct conversion_kernel *kernel, const struct netfc_function *function,
	const struct netfc_format *format)
{
	int error = NETFC_OK;

	for (uint32_t n = 0; n < NETFC_FUNCTION_ENTRIES && error == NETFC_OK; n++) {
		const uint32_t x = kernel->conversion == CONVERSION_FP8 ? n << 16 : n;
		uint32_t z;
		uint8_t flags;

		error = netfc_function_lanes(function, format, &x, &z, &flags, 1);
		kernel->entries[n] = kernel->conversion == CONVERSION_FP8
			? z | (uint32_t)flags << CONVERSION_FLAGS_SHIFT
			: z;
	}
	return error;
}

int
extended_conversion_create(const struct netfc_function *function, const struct netfc_format *format,
	enum vector_isa isa, int socket_id, struct vector_kernel **result)
{
	struct conversion_kernel *kernel;

	kernel = rte_malloc_socket(
		"netfc_conversion", sizeof(*kernel), RTE_CACHE_LINE_SIZE, socket_id);
	if (kernel == NULL)
		return -ENOMEM;
	kernel->conversion = conversion_of(format, netfc_function_result(function, format).format);
	kernel->function = function;
	kernel->format = format;
	kernel->kernel = (struct vector_kernel){.run.packets = convert_any};
	if (kernel->conversion != CONVERSION_ANY)
		VECTOR_CHOOSE(conversion_use, isa)(kernel);
	if (kernel->conversion <= CONVERSION_LOOKED_UP &&
		fill_conversion(kernel, function, format) != NETFC_OK) {
		rte_free(kernel);
		return -ENOTSUP;
	}
	*result = &kernel->kernel;
	return 0;
}

/* ---- functions of one number ---- */

INLINE void
function_packet(
	const struct function_kernel *kernel, struct vector_packet *packet, const unsigned int bits)
{
	drive_packet(packet, FUNCTION_DRIVE(bits), function_look_up, kernel->entries);
}

EXTENDED_PACKETS(run_function, function_packet, 16)
EXTENDED_PACKETS(run_function8, function_packet, 8)

static void
fill_function(uint32_t *entries, const uint16_t *z, const uint8_t *flags)
{
	for (uint32_t x = 0; x < NETFC_FUNCTION_ENTRIES; x++)
		entries[slot16_swap((uint16_t)x)] =
			(uint32_t)flags[x] << FUNCTION_FLAGS_SHIFT | slot16_swap(z[x]);
}

static void
fill_function8(uint32_t *entries, const uint16_t *z, const uint8_t *flags)
{
	for (uint32_t x = 0; x <= UINT8_MAX; x++)
		entries[x] = (uint32_t)flags[x] << FUNCTION_FLAGS_SHIFT | z[x];
}

static void
use_best(struct function_kernel *kernel, enum vector_isa isa)
{
	kernel->kernel.run.packets = run_function;
#ifdef __x86_64__
	if (isa >= VECTOR_AVX512)
		kernel->kernel.run.packets = function_run_avx512;
#else
	(void)isa;
#endif
}

int
extended_function_create(unsigned int slot_bits, const uint16_t *z, const uint8_t *flags,
	enum vector_isa isa, int socket_id, struct vector_kernel **result)
{
	struct function_kernel *kernel;

	kernel = rte_malloc_socket(
		"netfc_function", sizeof(*kernel), RTE_CACHE_LINE_SIZE, socket_id);
	if (kernel == NULL)
		return -ENOMEM;
	kernel->kernel = (struct vector_kernel){.description = ""};
	if (slot_bits == 8) {
		kernel->kernel.run.packets = run_function8;
		fill_function8(kernel->entries, z, flags);
	} else {
		use_best(kernel, isa);
		fill_function(kernel->entries, z, flags);
	}
	*result = &kernel->kernel;
	return 0;
}

/* ---- min, max, compare and fma ---- */

static void
take_fp8(struct extended_fp8 *kernel)
{
	const struct netfc_format *format = kernel->base.format;
	/* A fraction further; it is the magnitude of the least normal number, too. */
	const uint32_t least = netfc_encode(format, 2) - netfc_encode(format, 1);

	for (uint32_t bits = 0; bits <= UINT8_MAX; bits++)
		kernel->value[bits] = netfc_decode(format, bits);
	kernel->limits = fp8_limits_of(format);
	kernel->fraction_bits = (uint8_t)__builtin_ctz(least);
	kernel->least_exponent = (uint8_t)-ilogb(kernel->value[least]);
	kernel->least_normal = kernel->value[least];
	kernel->anchor = ldexp(kernel->value[1], DBL_MANT_DIG - 1);
}

static void
run_packets(const struct vector_kernel *kernel, unsigned int op, struct vector_packet *packets,
	unsigned int count)
{
	((const struct extended_kernel *)kernel)->run[op - NETFC_MIN](kernel, op, packets, count);
}

int
extended_create(const struct netfc_format *format, enum vector_isa isa, int socket_id,
	struct vector_kernel **result)
{
	const bool is_byte = netfc_format_width(format) == 8;
	struct extended_kernel *kernel;

	kernel = rte_zmalloc_socket("netfc_extended",
		is_byte ? sizeof(struct extended_fp8) : sizeof(*kernel), RTE_CACHE_LINE_SIZE,
		socket_id);
	if (kernel == NULL)
		return -ENOMEM;
	kernel->kernel.run.packets = run_packets;
	kernel->format = format;
	kernel->inf = (uint16_t)netfc_inf_magnitude(format);
	kernel->limits = (struct order_limits){
		.last = is_byte ? fp8_limits_of(format).last : kernel->inf,
		.nan = (uint16_t)netfc_nan(format),
		.one = (uint16_t)netfc_encode(format, 1),
		.minus_one = (uint16_t)netfc_encode(format, -1),
	};
	for (unsigned int o = 0; o < RTE_DIM(kernel->run); o++)
		kernel->run[o] = operate_any;
	VECTOR_CHOOSE(order_use, isa)(kernel);
	if (is_byte) {
		take_fp8((struct extended_fp8 *)kernel);
		VECTOR_CHOOSE(fma_fp8_use, isa)(kernel);
	} else {
		VECTOR_CHOOSE(fma_use, isa)(kernel);
	}
	*result = &kernel->kernel;
	return 0;
}
