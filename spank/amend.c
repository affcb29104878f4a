// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "amend.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bounded.h"

static const char *value_of(const char *field, const char *key)
{
	size_t length = strlen(key);

	return !strncmp(field, key, length) && field[length] == '=' ? field + length + 1 : NULL;
}

/* Returns false where that is no number that Slurm has; its largest ones mean none. */
static bool take_number(uint32_t *number, const char *value)
{
	char *end;
	unsigned long long read;

	errno = 0;
	read = strtoull(value, &end, 10);
	*number = (uint32_t)read;
	return !errno && *value >= '0' && *value <= '9' && !*end && read < UINT32_MAX;
}

/* Returns 0, or EINVAL for a field that is not understood. */
static int take_field(struct amendment *amendment, const char *field)
{
	const char *value;
	uint32_t user;

	if ((value = value_of(field, "admin_comment"))) {
		amendment->comment = strdup(value);
		return amendment->comment ? 0 : ENOMEM;
	}
	if ((value = value_of(field, "expected"))) {
		amendment->expected = strdup(value);
		return amendment->expected ? 0 : ENOMEM;
	}
	if ((value = value_of(field, "user_id"))) {
		snprintf(amendment->user, sizeof(amendment->user), "%s", value);
		return take_number(&user, value) ? 0 : EINVAL;
	}
	if ((value = value_of(field, "array_job_id")))
		return take_number(&amendment->array_job, value) ? 0 : EINVAL;
	if ((value = value_of(field, "array_task_id")))
		return take_number(&amendment->array_task, value) ? 0 : EINVAL;
	return EINVAL;
}

static void throw_away(struct amendment *amendment)
{
	free(amendment->comment);
	free(amendment->expected);
	free(amendment->present);
	free(amendment);
}

static int amend(void *argument)
{
	struct amendment *amendment = argument;
	int result = accounting_amend(amendment);

	if (atomic_exchange(&amendment->is_over, true))
		throw_away(amendment);
	return result;
}

int host_amend(uint32_t job_id, const char *const *fields, char *out, size_t capacity)
{
	struct amendment *amendment = calloc(1, sizeof(*amendment));
	int error = amendment ? 0 : ENOMEM, result = 0;

	if (capacity)
		*out = '\0';
	if (amendment)
		amendment->job = job_id;
	for (; !error && fields && *fields; fields++)
		error = take_field(amendment, *fields);
	if (!error && (!amendment->comment || !amendment->expected || !*amendment->user))
		error = EINVAL;
	if (!error)
		error = bounded_call(amend, amendment, AMEND_BOUND, &result);
	if (error == ETIMEDOUT) {
		if (atomic_exchange(&amendment->is_over, true))
			throw_away(amendment);
		return error;
	}
	if (!error && result == EAGAIN && amendment->present && capacity &&
	    (size_t)snprintf(out, capacity, "%s", amendment->present) >= capacity)
		result = ENOSPC;
	if (amendment)
		throw_away(amendment);
	return error ? error : result;
}
