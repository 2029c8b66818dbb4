/* SPDX-License-Identifier: BSD-3-Clause */
#include "show/entries.h"

#include <stdio.h>
#include <stdlib.h>

#include "command.h"
#include "json/number_json.h"
#include "number.h"
#include "show/calculation.h"

static void
print_entry(const struct entries *entries, uint16_t x)
{
	char from[NUMBER_SIZE], to[NUMBER_SIZE], flags[FLAGS_SIZE];

	printf("0x%04x  %-16s -> 0x%04x  %s%s%s\n", x, slot_text(entries->from, x, from),
		entries->z[x], slot_text(entries->to, entries->z[x], to),
		entries->flags[x] != 0 ? ", " : "",
		entries->flags[x] != 0 ? flags_text(entries->flags[x], flags) : "");
}

static json_t *
entry_json(const struct entries *entries, uint16_t x)
{
	json_t *z = slot_json(entries->to, entries->z[x]);

	json_object_set_new(z, "flags", flags_json(entries->flags[x]));
	return json_pack("{s:o, s:o}", "x", slot_json(entries->from, x), "result", z);
}

static int
show_keys_of(const struct entries *entries, const uint16_t *keys, uint32_t count, bool json)
{
	json_t *array = json ? json_array() : NULL;

	for (uint32_t k = 0; k < count; k++) {
		uint16_t x = keys != NULL ? keys[k] : (uint16_t)k;

		if (json)
			json_array_append_new(array, entry_json(entries, x));
		else
			print_entry(entries, x);
	}
	return json ? print_json(array) : STATUS_DONE;
}

static int
read_keys(const struct entries *entries, char **words, int count, uint16_t *keys)
{
	for (int w = 0; w < count; w++) {
		if (!parse_slot(entries->from, words[w], false, &keys[w]))
			return no_operand(&show_command, entries->from, words[w], false);
	}
	return STATUS_DONE;
}

static int
show_some(const struct entries *entries, char **words, int count, bool json)
{
	uint16_t *keys = malloc((size_t)count * sizeof(*keys));
	int status = STATUS_FAILED;

	if (keys == NULL)
		complain("out of memory");
	else
		status = read_keys(entries, words, count, keys);
	if (status == STATUS_DONE)
		status = show_keys_of(entries, keys, (uint32_t)count, json);
	free(keys);
	return status;
}

int
show_entries(const struct entries *entries, char **words, int count, bool json)
{
	return count > 0 ? show_some(entries, words, count, json)
			 : show_keys_of(entries, NULL, NETFC_FUNCTION_ENTRIES, json);
}
