// SPDX-License-Identifier: Apache-2.0
#include "ask.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "bounded.h"
#include "core.h"
#include "host.h"
#include "limits.h"
#include "request.h"
#include "say.h"

#define FAULTS (64 * 1024)

/* The core has 3 s; what still runs after this is not waited for. */
#define VALIDATE_BOUND 6

struct validation {
	const struct core *core;
	struct fields fields;
	char text[FAULTS];
};

static int validate(void *argument)
{
	struct validation *validation = argument;
	struct k8s_request request = request_of(&validation->fields);

	return validation->core->validate(host_table(), &request, validation->text, sizeof(validation->text));
}

static void throw_away(struct validation *validation)
{
	fields_free(&validation->fields);
	free(validation);
}

/* Takes over `validation`, which lives on where the core has not answered: it still uses it. */
static bool is_valid(struct validation *validation)
{
	int result = 1, error = bounded_call(validate, validation, VALIDATE_BOUND, &result);

	if (error == ETIMEDOUT) {
		say_info("checks skipped: the core has not answered in %d s", VALIDATE_BOUND);
		return true;
	}
	if (error)
		say_info("checks skipped: %s", strerror(error));
	else if (!result)
		say_infos(validation->text);
	else
		say_errors(*validation->text ? validation->text : "refused, and the core does not say why");
	throw_away(validation);
	return error || !result;
}

/* Go's threads inherit the mask, and live as long as the tool: salloc's and srun's own handlers
 * know nothing of Go's small stacks, so that they never run there. */
static const struct core *load_deaf(const struct config *config, char *text, size_t capacity)
{
	const struct core *core;
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	core = core_load(config->libexec, text, capacity);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return core;
}

bool ask_core(const struct config *config, struct fields *fields)
{
	const char *forbidden = limits_forbid_go();
	struct validation *validation;

	if (forbidden) {
		say_info("checks skipped: %s", forbidden);
		fields_free(fields);
		return true;
	}
	validation = calloc(1, sizeof(*validation));
	if (!validation) {
		say_error("out of memory");
		fields_free(fields);
		return false;
	}
	validation->fields = *fields;
	validation->core = load_deaf(config, validation->text, sizeof(validation->text));
	if (!validation->core) {
		say_errors(validation->text);
		throw_away(validation);
		return false;
	}
	return is_valid(validation);
}
