/* SPDX-License-Identifier: Apache-2.0 */
/* request.h - what the tool (sbatch, srun, salloc) was asked, and requests to the core. */
#ifndef K8S_REQUEST_H
#define K8S_REQUEST_H

#include <stdbool.h>

#include "../include/gocore.h"
#include "config.h"
#include "fields.h"
#include "legacy.h"
#include "script.h"

/* The job file of this sbatch. All zero before job_file_open. */
struct job_file {
	bool is_open;
	bool is_ahead;	  /* named behind the options of a later component */
	const char *word; /* as typed; NULL for --wrap and for a file on standard input */
	char *path;	  /* absolute, or NULL */
	char *wrap;	  /* the text of --wrap, or NULL */
	char *directory;  /* in which the job starts */
	struct script head;
};

/* Finds the file, and reads its head where it can still be read. Once. */
void job_file_open(struct job_file *file);

void job_file_close(struct job_file *file);

/* The value of one of the tool's own options by its long name, where it was set, else NULL; a
 * switch has the value "set". Never freed: it is Slurm's memory, and there are few. */
const char *tool_option(const char *name);

/* The same, set or not, and the other way: 0, or -1. */
const char *tool_value(const char *name);
int tool_set(const char *name, const char *value);

/* Adds what every request has: the site's file, the folder of the core, and the options. */
void request_common(struct fields *fields, const struct config *config);

/* Adds what a validate request of any tool has. */
void request_tool(struct fields *fields, const struct config *config, const char *tool, const char *directory);

/* Adds what a validate request of sbatch has beside that, for the component with the script. */
void request_file(struct fields *fields, const struct job_file *file, const struct legacy *legacy);

/* Where the tool starts: --chdir where `is_chosen`, else the current directory. To be freed. */
char *request_directory(bool is_chosen);

/* A request of these fields, which it borrows. */
struct k8s_request request_of(const struct fields *fields);

#endif
