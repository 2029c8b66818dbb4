/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WRITE_H
#define WRITE_H

/** @file Write the entries of a P4 program for a target. Stream errors are left in the stream. */

#include <stdio.h>

#include "export/p4_table.h"

/** What a writer must know besides the entries. */
struct write_options {
	const char *set_name;
	const char *program; /**< name of the P4 program */
	unsigned lanes;      /**< lanes that the program computes */
};

typedef void (*write_fn)(
	FILE *stream, const struct p4_program *program, const struct write_options *options);

/** Commands for BMv2's simple_switch_CLI. */
void
write_bmv2(FILE *stream, const struct p4_program *program, const struct write_options *options);

/** A P4Runtime WriteRequest in protobuf's text format. */
void write_p4runtime(
	FILE *stream, const struct p4_program *program, const struct write_options *options);

/** A Python program for the shell bfrt_python of Tofino's runtime. */
void
write_bfrt(FILE *stream, const struct p4_program *program, const struct write_options *options);

/** The entries of write_bfrt() as JSON. */
void write_bfrt_json(
	FILE *stream, const struct p4_program *program, const struct write_options *options);

#endif /* WRITE_H */
