/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "json/json_value.h"

json_t *
json_text(const char *text)
{
	json_t *string = json_string(text);
	char *copy;

	if (string != NULL)
		return string;
	copy = strdup(text);
	if (copy == NULL)
		return NULL;
	for (char *at = copy; *at != '\0'; at++) {
		if ((unsigned char)*at > 0x7f)
			*at = '?';
	}
	string = json_string(copy);
	free(copy);
	return string;
}
