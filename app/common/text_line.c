/* SPDX-License-Identifier: BSD-3-Clause */
#include "text_line.h"

enum text_line
text_line_read(FILE *file, char line[TEXT_LINE_BYTES])
{
	size_t length = 0;
	int c;

	while ((c = getc(file)) != EOF && c != '\n') {
		if (c == '\0' || length == TEXT_LINE_BYTES - 1)
			return TEXT_BAD;
		line[length++] = (char)c;
	}
	line[length] = '\0';
	return ferror(file) || (c == EOF && length == 0) ? TEXT_STOPPED : TEXT_LINE;
}
