// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "slurm_api.h"

#include <dlfcn.h>

void *slurm_symbol(const char *name)
{
	return dlsym(RTLD_DEFAULT, name);
}
