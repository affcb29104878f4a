/* SPDX-License-Identifier: Apache-2.0 */
/* bytes.h - big-endian numbers in byte buffers, the only place that knows the order. */
#ifndef K8S_BYTES_H
#define K8S_BYTES_H

#include <stdint.h>

static inline void k8s_put_u16(unsigned char *to, uint16_t value)
{
	to[0] = (unsigned char)(value >> 8);
	to[1] = (unsigned char)value;
}

static inline void k8s_put_u32(unsigned char *to, uint32_t value)
{
	k8s_put_u16(to, (uint16_t)(value >> 16));
	k8s_put_u16(to + 2, (uint16_t)value);
}

static inline void k8s_put_u64(unsigned char *to, uint64_t value)
{
	k8s_put_u32(to, (uint32_t)(value >> 32));
	k8s_put_u32(to + 4, (uint32_t)value);
}

static inline uint16_t k8s_get_u16(const unsigned char *from)
{
	return (uint16_t)(from[0] << 8 | from[1]);
}

static inline uint32_t k8s_get_u32(const unsigned char *from)
{
	return (uint32_t)k8s_get_u16(from) << 16 | k8s_get_u16(from + 2);
}

static inline uint64_t k8s_get_u64(const unsigned char *from)
{
	return (uint64_t)k8s_get_u32(from) << 32 | k8s_get_u32(from + 4);
}

#endif
