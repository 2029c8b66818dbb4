/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files of table sets and of functions. Input: a byte of switches, a byte that says which file to
 * begin with, and then changes to it, or the file itself.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include <netfc.h>

#include "fuzz.h"

/* Switches. */
#define BARE 0x01         /* what follows is the file, not changes to a good one */
#define FIX_LENGTH 0x02   /* put the right length into the header */
#define FIX_SUM 0x04      /* put the right checksum after the entries */
#define THROUGH_FILE 0x08 /* through the file system */
#define MUST_FAIL 0x10    /* let an allocation fail, the next byte says which */
#define SAY_AGAIN 0x20    /* write what was read, which takes long */
#define SAVE 0x40         /* save what was read to a file */
#define NO_FILE 0x80      /* no file at all; the next byte says what instead */

#define LENGTH_OFFSET 12
#define CHECKSUM_BYTES 4

static const char *const names[] = {"fp16_k1024", "posit16_k1_floor", "posit16_es2_k256",
	"bf16_k128", "fp16_exact_small", "bf16_exact_small", "posit16_exact", "fp32_exact",
	"fp8_e4m3_sat"};
#define GOOD_FILES (sizeof(names) / sizeof(names[0]))

static struct good_file {
	uint8_t *data;
	size_t length;
} good[GOOD_FILES], good_function;

/* In place of the number of a good file. */
#define FUNCTION_FILE 0xff

#define PATH_SIZE 64

static int file; /* in memory, for netfc_set_load() */
static char file_path[PATH_SIZE];
static char folder[] = "/tmp/netfc-fuzz-XXXXXX", saved_path[PATH_SIZE];

/* In the folder: what is no file. */
static const struct no_file {
	const char *name;
	const char *target; /* of a symbolic link; NULL: there is none */
} no_files[] = {
	{".", NULL},
	{"memory",
		"/proc/self/mem"}, /* cannot be read from its start; the system calls it a file */
	{"missing/file", NULL},
	{"full", "/dev/full"},
};
#define NO_FILES (sizeof(no_files) / sizeof(no_files[0]))
#define NEVER_SAVED_TO 2u /* so many of the first of them */
static char no_file_path[NO_FILES][PATH_SIZE];

/* ---- allocations that fail ------------------------------------------------------------- */

static unsigned int allocations_left = UINT32_MAX;

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);

void *
__wrap_malloc(size_t size)
{
	return allocations_left-- > 0 ? __real_malloc(size) : NULL;
}

void *
__wrap_calloc(size_t count, size_t size)
{
	return allocations_left-- > 0 ? __real_calloc(count, size) : NULL;
}

static void
remove_folder(void)
{
	unlink(saved_path);
	for (unsigned int n = 0; n < NO_FILES; n++)
		unlink(no_file_path[n]);
	rmdir(folder);
}

static void
make_folder(void)
{
	FUZZ_CHECK(mkdtemp(folder) != NULL);
	snprintf(saved_path, sizeof(saved_path), "%s/saved", folder);
	for (unsigned int n = 0; n < NO_FILES; n++) {
		const struct no_file *no_file = &no_files[n];

		snprintf(no_file_path[n], PATH_SIZE, "%s/%s", folder, no_file->name);
		FUZZ_CHECK(
			no_file->target == NULL || symlink(no_file->target, no_file_path[n]) == 0);
	}
	atexit(remove_folder);
}

static void
make_good_function(void)
{
	static uint16_t z[NETFC_FUNCTION_ENTRIES];
	struct netfc_user_function *function;
	void *data;

	for (uint32_t x = 0; x < NETFC_FUNCTION_ENTRIES; x++)
		z[x] = (uint16_t)(x * 40503u);
	FUZZ_CHECK(netfc_user_function_create(
			   "own", netfc_format_by_id(NETFC_BF16), z, NULL, &function) == NETFC_OK);
	FUZZ_CHECK(
		netfc_user_function_serialize(function, &data, &good_function.length) == NETFC_OK);
	good_function.data = data;
	netfc_user_function_free(function);
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	for (unsigned int f = 0; f < GOOD_FILES; f++) {
		struct netfc_set *set;
		void *data;

		FUZZ_CHECK(netfc_set_build(names[f], &set) == NETFC_OK);
		FUZZ_CHECK(netfc_set_serialize(set, &data, &good[f].length) == NETFC_OK);
		good[f].data = data;
		netfc_set_free(set);
	}
	make_good_function();
	file = memfd_create("table-set", 0);
	FUZZ_CHECK(file >= 0);
	snprintf(file_path, sizeof(file_path), "/proc/self/fd/%d", file);
	make_folder();
	return 0;
}

/* ---- making a file ------------------------------------------------------------------------ */

static void
put_long(uint8_t *at, uint32_t value)
{
	for (int b = 3; b >= 0; b--, value >>= 8)
		at[b] = (uint8_t)value;
}

/* Changes: where, how many bytes, the bytes; a change far behind the end cuts or lengthens. */
static void
change(struct fuzz_input *input, uint8_t **data, size_t *length)
{
	while (input->left > 0) {
		uint32_t at = fuzz_long(input);
		size_t count = fuzz_byte(input);
		const uint8_t *bytes = fuzz_bytes(input, &count);

		if (at >> 24 == 0xff) {
			*length = at & 0xfffff;
			*data = realloc(*data, *length + 1);
			FUZZ_CHECK(*data != NULL);
		}
		if (*length >= count && count > 0)
			memcpy(*data + at % (*length - count + 1), bytes, count);
	}
}

static uint8_t *
make_file(struct fuzz_input *input, uint8_t switches, size_t *length)
{
	const uint8_t number = fuzz_byte(input);
	const struct good_file *begin =
		number == FUNCTION_FILE ? &good_function : &good[number % GOOD_FILES];
	const uint8_t *bytes = begin->data;
	uint8_t *data;

	*length = begin->length;
	if ((switches & BARE) != 0) {
		*length = input->left;
		bytes = fuzz_bytes(input, length);
	}
	data = malloc(*length + 1);
	FUZZ_CHECK(data != NULL);
	memcpy(data, bytes, *length);
	change(input, &data, length);
	if ((switches & FIX_LENGTH) != 0 && *length >= LENGTH_OFFSET + 4)
		put_long(data + LENGTH_OFFSET, (uint32_t)*length);
	if ((switches & FIX_SUM) != 0 && *length >= CHECKSUM_BYTES)
		put_long(data + *length - CHECKSUM_BYTES,
			(uint32_t)crc32_z(0, data, *length - CHECKSUM_BYTES));
	return data;
}

/* ---- reading it --------------------------------------------------------------------------- */

static int
load_through_file(const uint8_t *data, size_t length, struct netfc_set **set)
{
	FUZZ_CHECK(ftruncate(file, 0) == 0);
	FUZZ_CHECK(pwrite(file, data, length, 0) == (ssize_t)length);
	return netfc_set_load(file_path, set);
}

/* What was accepted is a whole set: it says the same bytes again. */
static void
say_again(const struct netfc_set *set, const uint8_t *data, size_t length)
{
	void *again;
	size_t again_length;

	FUZZ_CHECK(netfc_set_serialize(set, &again, &again_length) == NETFC_OK);
	FUZZ_CHECK(again_length == length && memcmp(again, data, length) == 0);
	free(again);
}

static void
compute_fp32(const struct netfc_set *set)
{
	uint32_t x[NETFC_BATCH], y[NETFC_BATCH], z[NETFC_BATCH];

	for (uint32_t l = 0; l < NETFC_BATCH; l++) {
		x[l] = l * 0x01010101u;
		y[l] = x[l] * 7;
	}
	for (unsigned int op = NETFC_ADD; op <= NETFC_DIV; op++)
		netfc_compute(set, op, x, y, z, NULL, NETFC_BATCH);
}

/* And it computes, whatever its entries are. */
static void
compute(const struct netfc_set *set)
{
	const unsigned int width = netfc_format_width(netfc_set_format(set));
	const uint32_t most = width == 8 ? UINT8_MAX : UINT16_MAX;

	if (width == 32) {
		compute_fp32(set);
		return;
	}
	for (unsigned int op = NETFC_ADD; op <= NETFC_DIV; op++) {
		for (uint32_t x = 0; x <= most; x += most / 15)
			netfc_calc(set, op, x, x * 7 & most);
	}
}

/* What is saved can be loaded; what cannot be saved leaves nothing behind. */
static void
save(const struct netfc_set *set, const char *where)
{
	struct netfc_set *loaded = NULL;

	if (netfc_set_save(set, where) != NETFC_OK)
		return;
	allocations_left = UINT32_MAX;
	FUZZ_CHECK(netfc_set_load(where, &loaded) == NETFC_OK);
	netfc_set_free(loaded);
}

static const char *
choose_no_file(struct fuzz_input *input, uint8_t switches)
{
	unsigned int first = (switches & SAVE) != 0 ? NEVER_SAVED_TO : 0;

	return no_file_path[first + fuzz_byte(input) % (NO_FILES - first)];
}

static int
read_set(const uint8_t *data, size_t length, uint8_t switches, const char *instead,
	struct netfc_set **set)
{
	if (instead != NULL && (switches & SAVE) == 0)
		return netfc_set_load(instead, set);
	if ((switches & THROUGH_FILE) != 0)
		return load_through_file(data, length, set);
	return netfc_set_deserialize(data, length, set);
}

/* A function that was accepted says the same bytes again, and can be saved and loaded. */
static void
use_function(const struct netfc_user_function *function, const uint8_t *data, size_t length)
{
	struct netfc_user_function *loaded = NULL;
	void *again;
	size_t again_length;

	FUZZ_CHECK(netfc_user_function_is_name(netfc_user_function_name(function)));
	FUZZ_CHECK(netfc_user_function_serialize(function, &again, &again_length) == NETFC_OK);
	FUZZ_CHECK(again_length == length && memcmp(again, data, length) == 0);
	free(again);
	FUZZ_CHECK(netfc_user_function_save(function, saved_path) == NETFC_OK);
	FUZZ_CHECK(netfc_user_function_load(saved_path, &loaded) == NETFC_OK);
	netfc_user_function_free(loaded);
}

/* The same bytes as a function's file. */
static void
read_function(const uint8_t *data, size_t length, const char *instead, unsigned int allowed)
{
	struct netfc_user_function *function = NULL;
	int error;

	allocations_left = allowed;
	error = instead != NULL ? netfc_user_function_load(instead, &function)
				: netfc_user_function_deserialize(data, length, &function);
	allocations_left = UINT32_MAX;
	FUZZ_CHECK((error == NETFC_OK) == (function != NULL));
	if (function != NULL)
		use_function(function, data, length);
	netfc_user_function_free(function);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct fuzz_input input = {bytes, size};
	uint8_t switches = fuzz_byte(&input);
	unsigned int allowed = (switches & MUST_FAIL) != 0 ? fuzz_byte(&input) % 8 : UINT32_MAX;
	const char *instead = (switches & NO_FILE) != 0 ? choose_no_file(&input, switches) : NULL;
	struct netfc_set *set = NULL;
	size_t length;
	uint8_t *data = make_file(&input, switches, &length);
	int error;

	if ((switches & SAVE) == 0)
		allocations_left = allowed;
	error = read_set(data, length, switches, instead, &set);
	allocations_left = UINT32_MAX;
	FUZZ_CHECK((error == NETFC_OK) == (set != NULL));
	FUZZ_CHECK(netfc_strerror(error) != NULL);
	if (set != NULL) {
		compute(set);
		if ((switches & SAY_AGAIN) != 0)
			say_again(set, data, length);
		allocations_left = allowed;
		if ((switches & SAVE) != 0)
			save(set, instead != NULL ? instead : saved_path);
		allocations_left = UINT32_MAX;
	}
	netfc_set_free(set);
	read_function(data, length, instead, allowed);
	free(data);
	return 0;
}
