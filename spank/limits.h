/* SPDX-License-Identifier: Apache-2.0 */
/* limits.h - whether Go can live under this process's limits: it aborts where it cannot. */
#ifndef K8S_LIMITS_H
#define K8S_LIMITS_H

/* NULL when Go may be loaded, otherwise the limit that forbids it and how to lift it. */
const char *limits_forbid_go(void);

#endif
