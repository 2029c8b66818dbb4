/* SPDX-License-Identifier: BSD-3-Clause */
#include "real.h"

#include <dlfcn.h>
#include <stddef.h>

void *
real_symbol(const char *name)
{
	static const char *const libraries[] = {MPI_LIBRARIES};
	void *library = NULL;

	for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]) && library == NULL; i++)
		library = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);
	return library == NULL ? NULL : dlsym(library, name);
}

bool
real_find(struct real *real)
{
	bool complete = true;

#define FIND(name)                                          \
	*(void **)&real->name = real_symbol("PMPI_" #name); \
	complete = complete && real->name != NULL;
	REAL_REDUCTIONS(FIND)
#undef FIND
	return complete;
}
