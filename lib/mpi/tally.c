/* SPDX-License-Identifier: BSD-3-Clause */
#include "tally.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

void
tally_type_name(MPI_Datatype type, char name[TALLY_NAME_BYTES])
{
	char whole[MPI_MAX_OBJECT_NAME];
	int length = 0;

	if (type == MPI_DATATYPE_NULL || PMPI_Type_get_name(type, whole, &length) != MPI_SUCCESS)
		length = 0;
	snprintf(name, TALLY_NAME_BYTES, "%.*s", TALLY_NAME_BYTES - 1,
		length > 0 ? whole : "a derived type");
}

const char *
tally_operation_name(MPI_Op op)
{
	const struct {
		MPI_Op op;
		const char *name;
	} known[] = {
		{MPI_SUM, "MPI_SUM"},
		{MPI_MIN, "MPI_MIN"},
		{MPI_MAX, "MPI_MAX"},
		{MPI_PROD, "MPI_PROD"},
		{MPI_LAND, "MPI_LAND"},
		{MPI_BAND, "MPI_BAND"},
		{MPI_LOR, "MPI_LOR"},
		{MPI_BOR, "MPI_BOR"},
		{MPI_LXOR, "MPI_LXOR"},
		{MPI_BXOR, "MPI_BXOR"},
		{MPI_MAXLOC, "MPI_MAXLOC"},
		{MPI_MINLOC, "MPI_MINLOC"},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (known[i].op == op)
			return known[i].name;
	}
	return "its own";
}

static bool
is_of(const struct tally_row *row, const struct tally_row *other)
{
	return row->way == other->way && row->operation == other->operation &&
		row->function == other->function && strcmp(row->type, other->type) == 0;
}

static struct tally_row *
find(struct tally *tally, const struct tally_row *wanted)
{
	struct tally_row *other;

	for (unsigned int i = 0; i < tally->rows; i++) {
		if (is_of(&tally->row[i], wanted))
			return &tally->row[i];
	}
	if (tally->rows < TALLY_ROWS) {
		tally->row[tally->rows] = *wanted;
		return &tally->row[tally->rows++];
	}
	other = &tally->others[wanted->way];
	other->function = "others";
	other->operation = "";
	other->way = wanted->way;
	return other;
}

void
tally_add(struct tally *tally, const char *function, MPI_Datatype type, MPI_Op op,
	enum tally_way way, uint64_t values)
{
	struct tally_row wanted = {
		.function = function, .operation = tally_operation_name(op), .way = way};
	struct tally_row *row;

	tally_type_name(type, wanted.type);
	row = find(tally, &wanted);
	row->calls++;
	row->values += values;
}

static void
print_row(const struct tally_row *row, void (*line)(const char *format, ...))
{
	static const char *const ways[TALLY_WAYS] = {"switch", "node", "MPI"};

	if (row->calls > 0)
		line("%-28s %-22s %-10s %-6s %10" PRIu64 " %14" PRIu64, row->function, row->type,
			row->operation, ways[row->way], row->calls, row->values);
}

void
tally_print(const struct tally *tally, void (*line)(const char *format, ...))
{
	line("%-28s %-22s %-10s %-6s %10s %14s", "function", "type", "operation", "by", "calls",
		"values");
	for (unsigned int i = 0; i < tally->rows; i++)
		print_row(&tally->row[i], line);
	for (unsigned int way = 0; way < TALLY_WAYS; way++)
		print_row(&tally->others[way], line);
}
