/* SPDX-License-Identifier: BSD-3-Clause */
#include "net/soft_error.h"

#include <errno.h>

static bool
is_of_a_packet(int error)
{
	switch (error) {
	case ECONNREFUSED:
	case ECONNRESET:
	case EHOSTUNREACH:
	case EHOSTDOWN:
	case ENETUNREACH:
	case ENETDOWN:
	case ENETRESET:
	case ENONET:
	case ENOPROTOOPT:
	case EPROTO:
	case EOPNOTSUPP:
	case EMSGSIZE:
	case EADDRNOTAVAIL:
	case ENODEV:
	case ENXIO:
	case EPERM:
	case EACCES:
	case ENOBUFS:
	case ENOMEM:
		return true;
	default:
		return false;
	}
}

bool
soft_error_record(struct peer *peer, int error, uint64_t now)
{
	if (!is_of_a_packet(error))
		return false;
	peer->soft_error = error;
	peer->soft_error_time = now;
	return true;
}
