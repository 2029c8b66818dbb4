/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEXT_LINE_H
#define TEXT_LINE_H

/** @file Lines of a text file that anybody may have written: none takes more memory than another.
 */

#include <stdio.h>

/** The longest line, and a NUL. */
#define TEXT_LINE_BYTES 16384

/** What is wrong with a line that is none. */
#define TEXT_LINE_NONE "it is no line of text: there is a NUL in it, or it is too long"

enum text_line {
	TEXT_LINE,    /**< a line, without its end */
	TEXT_BAD,     /**< it is no text, see TEXT_LINE_NONE */
	TEXT_STOPPED, /**< no more lines: the file's end, or ferror() */
};

/** Read a file's next line. */
enum text_line text_line_read(FILE *file, char line[TEXT_LINE_BYTES]);

#endif /* TEXT_LINE_H */
