/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The checksums of the files of all known sets, so that no change of any bit goes unnoticed. The
 * argument is the file that has them: a line with name and CRC-32 per set, as this test prints
 * it where one differs.
 */
#include "bytes.h"

static FILE *golden;

static uint32_t
checksum_of(const char *name)
{
	struct bytes bytes = bytes_of(name);
	uint32_t checksum = (uint32_t)crc32_z(0, bytes.data, bytes.length);

	free(bytes.data);
	return checksum;
}

TEST(all_known_sets_have_the_bits_they_always_had)
{
	char name[NETFC_SET_NAME_SIZE], expected_line[64], line[64];
	unsigned differing = 0;

	for (unsigned i = 0; netfc_set_known_name(i, name); i++) {
		snprintf(line, sizeof(line), "%s %08x\n", name, checksum_of(name));
		if (fgets(expected_line, sizeof(expected_line), golden) != NULL &&
			strcmp(line, expected_line) == 0)
			continue;
		REPORT("%s", line);
		differing++;
	}
	assert_int_equal(differing, 0);
	assert_null(fgets(expected_line, sizeof(expected_line), golden));
}

int
main(int argc, char **argv)
{
	int failed;

	golden = argc == 2 ? fopen(argv[1], "r") : NULL;
	if (golden == NULL) {
		fprintf(stderr, "usage: %s FILE\n", argv[0]);
		return 1;
	}
	failed = tests_run(NULL, NULL);
	fclose(golden);
	return failed;
}
