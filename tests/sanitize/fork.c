// SPDX-License-Identifier: Apache-2.0
/* Slurm forks while other threads run. The allocator of gcc 12's ASan does not know of forks, so that a child hangs that
 * found one of its locks taken: here no thread is in it while another one forks. */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* ASan's own, by the names that its library has for them too. */
void *__interceptor_malloc(size_t size);
void *__interceptor_calloc(size_t count, size_t size);
void *__interceptor_realloc(void *old, size_t size);
void __interceptor_free(void *old);

static pthread_rwlock_t forking = PTHREAD_RWLOCK_INITIALIZER;

/* Returns false in the thread that forks, whose other handlers may allocate. */
static bool enter(void)
{
	return !pthread_rwlock_rdlock(&forking);
}

static void leave(bool entered)
{
	int saved = errno;

	if (entered)
		pthread_rwlock_unlock(&forking);
	errno = saved;
}

void *malloc(size_t size)
{
	bool entered = enter();
	void *memory = __interceptor_malloc(size);

	leave(entered);
	return memory;
}

void *calloc(size_t count, size_t size)
{
	bool entered = enter();
	void *memory = __interceptor_calloc(count, size);

	leave(entered);
	return memory;
}

void *realloc(void *old, size_t size)
{
	bool entered = enter();
	void *memory = __interceptor_realloc(old, size);

	leave(entered);
	return memory;
}

void free(void *old)
{
	bool entered = enter();

	__interceptor_free(old);
	leave(entered);
}

static void before(void)
{
	pthread_rwlock_wrlock(&forking);
}

static void after_in_parent(void)
{
	pthread_rwlock_unlock(&forking);
}

/* Its thread has another number than the one that took it. */
static void after_in_child(void)
{
	forking = (pthread_rwlock_t)PTHREAD_RWLOCK_INITIALIZER;
}

static __attribute__((constructor(101))) void watch_forks(void)
{
	pthread_atfork(before, after_in_parent, after_in_child);
}
