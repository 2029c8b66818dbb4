/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

#include "allocations.h"

#ifdef __has_feature
#define BUILT_WITH(sanitizer) __has_feature(sanitizer)
#else
#define BUILT_WITH(sanitizer) 0
#endif

static uint64_t calls;

uint64_t
allocations_count(void)
{
	return calls;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||     \
	BUILT_WITH(address_sanitizer) || BUILT_WITH(thread_sanitizer) || \
	BUILT_WITH(memory_sanitizer)

/* Sanitizers have an allocator of their own, and say what it does; gcc comes without the header. */
int __sanitizer_install_malloc_and_free_hooks(
	void (*malloc_hook)(const volatile void *memory, size_t size),
	void (*free_hook)(const volatile void *memory));

static void
count_new(const volatile void *memory, size_t size)
{
	(void)memory;
	(void)size;
	calls++;
}

static void
count_freed(const volatile void *memory)
{
	(void)memory;
	calls++;
}

void
allocations_start(void)
{
	static int installed;

	if (installed == 0)
		installed = __sanitizer_install_malloc_and_free_hooks(count_new, count_freed);
	if (installed == 0)
		abort();
	calls = 0;
}

#else

/* glibc's own, after the names that are replaced here. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *old);

void
allocations_start(void)
{
	calls = 0;
}

void *
malloc(size_t size)
{
	calls++;
	return __libc_malloc(size);
}

void *
calloc(size_t number, size_t size)
{
	calls++;
	return __libc_calloc(number, size);
}

void *
realloc(void *old, size_t size)
{
	calls++;
	return __libc_realloc(old, size);
}

void *
memalign(size_t alignment, size_t size)
{
	calls++;
	return __libc_memalign(alignment, size);
}

void *
aligned_alloc(size_t alignment, size_t size)
{
	calls++;
	return __libc_memalign(alignment, size);
}

int
posix_memalign(void **result, size_t alignment, size_t size)
{
	calls++;
	*result = __libc_memalign(alignment, size);
	return *result != NULL ? 0 : ENOMEM;
}

void
free(void *old)
{
	calls++;
	__libc_free(old);
}

#endif
