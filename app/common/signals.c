/* SPDX-License-Identifier: BSD-3-Clause */
#include <signal.h>
#include <stddef.h>

#include "signals.h"

void
signals_catch(void (*handler)(int signal), int flags)
{
	const struct sigaction stop = {.sa_handler = handler, .sa_flags = flags};
	const struct sigaction ignore = {.sa_handler = SIG_IGN};

	sigaction(SIGINT, &stop, NULL);
	sigaction(SIGTERM, &stop, NULL);
	sigaction(SIGPIPE, &ignore, NULL);
}
