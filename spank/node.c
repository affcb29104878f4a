// SPDX-License-Identifier: Apache-2.0
#include "node.h"

#include <stdlib.h>

#include "slurm_api.h"

static const char *or_null(const char *text)
{
	return text && *text ? text : NULL;
}

const char *node_name(void)
{
	return or_null(getenv("SLURMD_NODENAME"));
}

const char *node_cluster(void)
{
	const slurm_conf_t *conf = slurm_symbol("slurm_conf");

	if (conf && or_null(conf->cluster_name))
		return conf->cluster_name;
	return or_null(getenv("SLURM_CLUSTER_NAME"));
}
