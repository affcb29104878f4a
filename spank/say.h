/* SPDX-License-Identifier: Apache-2.0 */
/* say.h - lines for people, through Slurm's own log. */
#ifndef K8S_SAY_H
#define K8S_SAY_H

/* Says each line of `text` as an error: on stderr of sbatch, and from user_init on in
 * the job's own stderr too. */
void say_errors(const char *text);

/* Says each line of `text` as information: on stderr of sbatch unless it is quiet, and in
 * slurmd's log. */
void say_infos(const char *text);

/* What all lines begin with from now on: "component 1: ", or "". Borrowed for good. */
void say_place(const char *place);

/* say_errors and say_infos of one formatted text. */
void say_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void say_info(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A formatted text in memory of its own. NULL when there is none left. */
char *say_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Appends a formatted line to *text, which may be NULL. Without memory the line is lost,
 * but *text is never NULL after it. */
void say_append(char **text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Frees what say_append built, and forgets it. */
void say_free(char **text);

#endif
