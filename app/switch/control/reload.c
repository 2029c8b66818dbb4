/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>

#include "control/init_file.h"
#include "program.h"
#include "ctrl_thread.h"

struct reload {
	struct app *app;
	bool stopping;
	struct ctrl_work work;
	ctrl_thread thread;
};

static void
run(void *arg)
{
	struct reload *reload = arg;
	const char *path = reload->app->options.init;
	eventfd_t times;

	for (;;) {
		if (eventfd_read(reload->app->reload, &times) != 0) {
			if (errno == EINTR)
				continue;
			return;
		}
		if (__atomic_load_n(&reload->stopping, __ATOMIC_ACQUIRE))
			return;
		if (init_file_do(reload->app, path, stderr) == 0)
			printf("Did the commands of %s again\n", path);
		else
			REPORT("nothing has changed\n");
		fflush(stdout);
	}
}

int
reload_start(struct app *app, struct reload **result)
{
	struct reload *reload;

	if (app->options.init == NULL)
		return 0;
	reload = calloc(1, sizeof(*reload));
	if (reload == NULL)
		return REPORT("--init: no memory\n");
	reload->app = app;
	reload->work = (struct ctrl_work){run, reload};
	if (ctrl_thread_start(&reload->thread, "netfc-reload", &reload->work) != 0) {
		free(reload);
		return -1;
	}
	*result = reload;
	return 0;
}

void
reload_stop(struct reload *reload)
{
	if (reload == NULL)
		return;
	__atomic_store_n(&reload->stopping, true, __ATOMIC_RELEASE);
	eventfd_write(reload->app->reload, 1);
	ctrl_thread_join(reload->thread);
	free(reload);
}
