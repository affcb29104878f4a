// SPDX-License-Identifier: Apache-2.0
#include "fuzz_change.h"

#include <string.h>

#include "../../common/bytes.h"

static uint64_t state;

void fuzz_seed(uint64_t seed)
{
	state = seed * 2 + 1;
	for (int i = 0; i < 8; i++)
		fuzz_random(2);
}

/* splitmix64 */
uint64_t fuzz_random(uint64_t limit)
{
	uint64_t x = state += 0x9e3779b97f4a7c15u;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return (x ^ x >> 31) % limit;
}

/* Lengths, numbers of tasks, offsets and the like where something changes its mind. */
static uint32_t edge(void)
{
	static const uint32_t edges[] = {
		0, 1, 2, 3, 4, 8, 12, 20, 31, 32, 33, 63, 64, 65, 127, 255, 256, 4095, 4096, 4097, 16383, 16384, 16385,
		65535, 65536, 65537, 262144, 1048576, 16777216, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff,
	};

	return edges[fuzz_random(sizeof(edges) / sizeof(edges[0]))];
}

static size_t cut(unsigned char *data, size_t size)
{
	size_t at = fuzz_random(size), count = 1 + fuzz_random(size - at);

	memmove(data + at, data + at + count, size - at - count);
	return size - count;
}

/* Puts `count` bytes into the middle. */
static size_t put(unsigned char *data, size_t size, const unsigned char *bytes, size_t count)
{
	size_t at = fuzz_random(size + 1);

	if (count > FUZZ_MOST - size)
		count = FUZZ_MOST - size;
	memmove(data + at + count, data + at, size - at);
	memcpy(data + at, bytes, count);
	return size + count;
}

static size_t put_noise(unsigned char *data, size_t size)
{
	unsigned char noise[64];
	size_t count = 1 + fuzz_random(sizeof(noise));

	for (size_t i = 0; i < count; i++)
		noise[i] = (unsigned char)fuzz_random(256);
	return put(data, size, noise, count);
}

static size_t put_some(unsigned char *data, size_t size, const struct fuzz_input *from)
{
	size_t at;

	if (!from->size)
		return size;
	at = fuzz_random(from->size);
	return put(data, size, from->data + at, 1 + fuzz_random(from->size - at));
}

static size_t change_once(const struct fuzz_input *inputs, size_t count, unsigned char *data, size_t size)
{
	size_t at = size ? fuzz_random(size) : 0;

	switch (size ? fuzz_random(8) : 6 + fuzz_random(2)) {
	case 0:
		data[at] ^= (unsigned char)(1u << fuzz_random(8));
		return size;
	case 1:
		data[at] = (unsigned char)fuzz_random(256);
		return size;
	case 2:
		data[at] = (unsigned char)(data[at] + fuzz_random(9) - 4);
		return size;
	case 3:
		if (size - at >= 4)
			k8s_put_u32(data + at, edge());
		return size;
	case 4:
		data[at] = (unsigned char)edge();
		return size;
	case 5:
		return cut(data, size);
	case 6:
		return put_noise(data, size);
	default:
		return put_some(data, size, &inputs[fuzz_random(count)]);
	}
}

size_t fuzz_change(const struct fuzz_input *inputs, size_t count, unsigned char *data)
{
	const struct fuzz_input *from = &inputs[fuzz_random(count)];
	size_t size = from->size;

	memcpy(data, from->data, size);
	for (uint64_t times = 1 + fuzz_random(6); times; times--)
		size = change_once(inputs, count, data, size);
	return size;
}
