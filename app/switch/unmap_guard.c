/* SPDX-License-Identifier: BSD-3-Clause */
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <rte_interrupts.h>

#include "unmap_guard.h"

/* The C library's munmap() cannot take an argument of ours. */
static struct rte_rcu_qsbr *guarded;

void
unmap_guard(struct rte_rcu_qsbr *qsbr)
{
	__atomic_store_n(&guarded, qsbr, __ATOMIC_RELEASE);
}

int
munmap(void *address, size_t length)
{
	struct rte_rcu_qsbr *qsbr = __atomic_load_n(&guarded, __ATOMIC_ACQUIRE);

	if (qsbr != NULL && rte_thread_is_intr())
		rte_rcu_qsbr_synchronize(qsbr, RTE_QSBR_THRID_INVALID);
	return (int)syscall(SYS_munmap, address, length);
}
