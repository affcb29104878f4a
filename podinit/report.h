/* SPDX-License-Identifier: Apache-2.0 */
/* report.h - the termination message: for a core that comes late, or never came.
 *
 * At most 4 KiB of lines:
 *    never started                         or else
 *    orphaned                              only where the fence ended the tasks
 *    usage utime=N stime=N peak=N          all tasks' times in sum, the largest of their peaks
 *    task=N status=N oom=N utime=N stime=N peak=N
 * the last one per task, as many as fit: those that failed before those that did not, lowest
 * first. status as of wait(2), times in microseconds, peak in bytes. The core of the step's
 * first node reads the sum of the other nodes' there. */
#ifndef PODINIT_REPORT_H
#define PODINIT_REPORT_H

/* All tasks have ended. A file that cannot be written is no matter. */
void report_write(void);

/* START never came. */
void report_never_started(void);

#endif
