/* SPDX-License-Identifier: Apache-2.0 */
/* amend.h - what slurmdbd keeps of a job that has ended. */
#ifndef K8S_AMEND_H
#define K8S_AMEND_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* amend.c: the amend of include/gocore.h's table; takes at most AMEND_BOUND seconds. */
int host_amend(uint32_t job_id, const char *const *fields, char *out, size_t capacity);

#define AMEND_BOUND 3

struct amendment {
	uint32_t job, array_job, array_task; /* array_job: 0 for none */
	char user[16];			     /* uid */
	char *comment;			     /* AdminComment as it shall be */
	char *expected;			     /* as it is thought to be */
	char *present;			     /* out: as it is, where that is something else; owned by the struct */
	atomic_bool is_over;		     /* the call has ended, or is no longer waited for: the second to say so frees it */
};

/* accounting.c: asks slurmdbd whether the job's AdminComment is as expected, and changes it then.
 * 0, EAGAIN with what it is, or another errno or Slurm's. Blocks for as long as slurmdbd does. */
int accounting_amend(struct amendment *amendment);

#endif
