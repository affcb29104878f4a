// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
/* The plugin as it is installed: what it exports, what it needs, and for which Slurm it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../spank/slurm_api.h"

static const char *const wanted[] = {
	"plugin_name",		 "plugin_type",		    "plugin_version",
	"slurm_spank_init",	 "slurm_spank_init_post_opt", "slurm_spank_task_init",
	"slurm_spank_task_post_fork", "slurm_spank_exit",   "slurm_spank_job_epilog",
};

#define WANTED (sizeof(wanted) / sizeof(wanted[0]))

static char *image;

static const ElfW(Shdr) *section(uint32_t type)
{
	const ElfW(Ehdr) *header = (void *)image;
	const ElfW(Shdr) *sections = (void *)(image + header->e_shoff);

	for (int i = 0; i < header->e_shnum; i++)
		if (sections[i].sh_type == type)
			return &sections[i];
	fail_msg("no section of type %u", type);
	return NULL;
}

static const char *string_at(const ElfW(Shdr) *of, size_t offset)
{
	const ElfW(Ehdr) *header = (void *)image;
	const ElfW(Shdr) *sections = (void *)(image + header->e_shoff);

	return image + sections[of->sh_link].sh_offset + offset;
}

static void test_exports(void **state)
{
	const ElfW(Shdr) *table = section(SHT_DYNSYM);
	const ElfW(Sym) *symbols = (void *)(image + table->sh_offset);
	size_t found = 0;

	(void)state;
	for (size_t i = 1; i < table->sh_size / sizeof(*symbols); i++) {
		const char *name = string_at(table, symbols[i].st_name);
		bool known = false;

		if (symbols[i].st_shndx == SHN_UNDEF)
			continue;
		for (size_t j = 0; j < WANTED; j++)
			known |= !strcmp(name, wanted[j]);
		if (!known)
			fail_msg("exports %s", name);
		found++;
	}
	assert_int_equal(found, WANTED);
}

/* Whatever is not libc's is Slurm's, by one of two prefixes. */
static void test_imports(void **state)
{
	const ElfW(Shdr) *table = section(SHT_DYNSYM);
	const ElfW(Sym) *symbols = (void *)(image + table->sh_offset);

	(void)state;
	for (size_t i = 1; i < table->sh_size / sizeof(*symbols); i++) {
		const char *name = string_at(table, symbols[i].st_name);

		if (symbols[i].st_shndx != SHN_UNDEF || ELF64_ST_BIND(symbols[i].st_info) == STB_WEAK)
			continue;
		assert_null(strstr(name, "k8s_core"));
		if (!dlsym(RTLD_DEFAULT, name) && strncmp(name, "spank_", 6) && strncmp(name, "slurm_", 6))
			fail_msg("imports %s", name);
	}
}

static void test_needs(void **state)
{
	const ElfW(Shdr) *table = section(SHT_DYNAMIC);
	const ElfW(Dyn) *dynamic = (void *)(image + table->sh_offset);
	bool no_delete = false;

	(void)state;
	for (; dynamic->d_tag != DT_NULL; dynamic++) {
		if (dynamic->d_tag == DT_NEEDED)
			assert_string_equal(string_at(table, dynamic->d_un.d_val), "libc.so.6");
		if (dynamic->d_tag == DT_FLAGS_1)
			no_delete = dynamic->d_un.d_val & DF_1_NODELETE;
	}
	assert_true(no_delete);
}

/* Lazily, as Slurm does: its own functions are not here. */
static void test_version(void **state)
{
	void *library = dlopen(getenv("SPANK_PLUGIN"), RTLD_LAZY);

	(void)state;
	if (!library)
		fail_msg("%s", dlerror());
	assert_string_equal(dlsym(library, "plugin_name"), "k8s");
	assert_string_equal(dlsym(library, "plugin_type"), "spank");
	assert_int_equal(*(const unsigned *)dlsym(library, "plugin_version"), SLURM_VERSION_NUMBER);
	dlclose(library);
}

static int read_plugin(void **state)
{
	FILE *file = fopen(getenv("SPANK_PLUGIN"), "r");
	long size;

	(void)state;
	if (!file || fseek(file, 0, SEEK_END) || (size = ftell(file)) <= 0)
		return -1;
	rewind(file);
	image = malloc((size_t)size);
	if (!image || fread(image, 1, (size_t)size, file) != (size_t)size)
		return -1;
	fclose(file);
	return memcmp(image, ELFMAG, SELFMAG);
}

static int free_plugin(void **state)
{
	(void)state;
	free(image);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exports),
		cmocka_unit_test(test_imports),
		cmocka_unit_test(test_needs),
		cmocka_unit_test(test_version),
	};

	return cmocka_run_group_tests(tests, read_plugin, free_plugin);
}
