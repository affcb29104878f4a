/* SPDX-License-Identifier: Apache-2.0 */
/* standard.h - the files 0, 1 and 2. */
#ifndef K8S_STANDARD_H
#define K8S_STANDARD_H

/* Opens /dev/null for those that are closed, so that no socket or pipe of our own ever
 * gets such a number and is taken for input or output. Call first. */
void k8s_standard_files(void);

#endif
