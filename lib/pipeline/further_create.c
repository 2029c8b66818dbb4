/* SPDX-License-Identifier: BSD-3-Clause */
#include "further_create.h"

/* Takes the kernel, whatever happens. */
static int
add_further(struct further_groups *further, unsigned int format, unsigned int number,
	const char *name, struct further_kernel *kernel)
{
	int error = further_add(further, format, (uint8_t)number, name, kernel);

	if (error != 0)
		further_free(kernel);
	return error;
}

/* Min, max, compare and fma need no tables: every format has them. */
static int
create_extras(struct further_groups *further, const struct netfc_format *format,
	const struct pipeline_config *config)
{
	int error = 0;

	for (unsigned int op = NETFC_MIN; op < NETFC_EXTRA_END && error == 0; op++) {
		struct further_kernel *kernel;

		error = further_extra_create(format, op, config->isa, config->socket_id, &kernel);
		if (error == 0)
			error = add_further(
				further, netfc_format_id(format), op, netfc_extra_name(op), kernel);
	}
	return error;
}

static int
create_functions(struct further_groups *further, const struct pipeline_config *config)
{
	int error = 0;

	for (unsigned int f = 0; f < config->function_count && error == 0; f++) {
		const struct pipeline_function *function = &config->functions[f];
		struct further_kernel *kernel;

		error = further_function_create(
			function->z, function->flags, config->isa, config->socket_id, &kernel);
		if (error == 0)
			error = add_further(further, function->format, function->number,
				function->name, kernel);
	}
	return error;
}

int
further_create(struct further_groups *further, const struct pipeline_config *config)
{
	const struct netfc_format *format;
	int error = 0;

	NETFC_FOREACH_FORMAT (format) {
		if (error == 0)
			error = create_extras(further, format, config);
	}
	return error == 0 ? create_functions(further, config) : error;
}
