/* SPDX-License-Identifier: Apache-2.0 */
/* die.h - ending as another process did. */
#ifndef K8S_DIE_H
#define K8S_DIE_H

/* Ends this process so that its parent sees this wait status: exits with the code, or
 * dies of the signal, without a core file. */
_Noreturn void k8s_die_as(int status);

/* Dies of this signal, by its default action; where that is not to die, exits with 128 + number. */
_Noreturn void k8s_die_of(int number);

#endif
