// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
/* What srun and salloc refuse. */
#include "spank_launcher.h"

#include "../../spank/config.h"

static void refused(const char *option, const char *value, const char *why)
{
	fake_end(NULL);
	fake_reset(NULL);
	begin(S_CTX_LOCAL);
	typed_image();
	setenv("SLURM_JOB_ID", "7", 1);
	fake_set(host.tool, option, value);
	assert_int_equal(launch(), -1);
	assert_string_equal(host.log, why);
	assert_null(getenv("SLURM_K8S_STEP"));
	assert_int_equal(host.dlopens, 0);
}

static void test_refusals(void **state)
{
	(void)state;
	refused("container", "/bundle", "E k8s: --k8s-image and --container exclude each other\n");
	refused("multi-prog", "set",
		"E k8s: --k8s-image and --multi-prog exclude each other: start each program by an srun of its own, in "
		"the background (srun --exact -n1 --k8s-image=IMAGE PROGRAM & ... wait)\n");
	refused("bcast", "set",
		"E k8s: --k8s-image and --bcast exclude each other: the file would be copied to the Slurm node and not "
		"into the Pod: put it into the image, or where the Pod sees it too\n");
	refused("x11", "all",
		"E k8s: --k8s-image and --x11 exclude each other: X11 is forwarded to the Slurm node, and the Pod is not "
		"there\n");
	refused("interactive", "set",
		"E k8s: --k8s-image and --interactive exclude each other: an interactive step stays on the Slurm node\n");
	refused("mpi", "pmi2",
		"E k8s: --k8s-image: --mpi=pmi2 does not reach into a Pod: give --mpi=none; the tasks know each other's "
		"addresses, so that torchrun and all that works over sockets does\n");
}

/* MpiDefault reaches the sruns in a shell of salloc by SLURM_MPI_TYPE; typed, it is a wish. */
static void test_mpi_of_the_site(void **state)
{
	(void)state;
	begin(S_CTX_LOCAL);
	inherit();
	fake_set(host.tool, "mpi", "pmix");
	assert_int_equal(launch(), 0);
	fake_end(state);
	fake_reset(state);
	begin(S_CTX_LOCAL);
	inherit();
	fake_set(host.tool, "mpi", "pmix");
	words[1] = "--mpi=pmix";
	assert_int_equal(launch(), -1);
	words[1] = typed;
	assert_logged("--mpi=pmix does not reach into a Pod");
}

static void test_faults_together(void **state)
{
	(void)state;
	begin(S_CTX_LOCAL);
	typed_image();
	core->validate_rc = 1;
	core->text = "from the core";
	fake_set(host.tool, "multi-prog", "set");
	fake_set(host.tool, "mpi", "pmi2");
	assert_int_equal(launch(), -1);
	assert_logged("--multi-prog exclude");
	assert_logged("--mpi=pmi2");
	assert_logged("E k8s: from the core");
}

static void test_refused_by_core(void **state)
{
	(void)state;
	begin(S_CTX_ALLOCATOR);
	typed_image();
	core->validate_rc = 1;
	core->text = "--k8s-image: no such image";
	assert_int_equal(launch(), -1);
	assert_string_equal(host.log, "E k8s: --k8s-image: no such image\n");
	assert_null(getenv("_SLURM_SPANK_OPTION_k8s_k8s_image"));
}

static void test_root(void **state)
{
	(void)state;
	begin(S_CTX_LOCAL);
	host.process_uid = 0;
	typed_image();
	assert_int_equal(launch(), -1);
	assert_logged("--k8s-image: root's jobs do not go to a Pod");
	assert_int_equal(host.dlopens, 0);
}

static void test_workdir_alone(void **state)
{
	(void)state;
	begin(S_CTX_LOCAL);
	fake_option("k8s-workdir", "/w", 0);
	assert_int_equal(launch(), -1);
	assert_logged("--k8s-workdir: does nothing without --k8s-image");
	assert_int_equal(host.dlopens, 0);
}

static void test_bad_value(void **state)
{
	(void)state;
	begin(S_CTX_LOCAL);
	fake_option("k8s-image", "-n1", 0);
	assert_int_equal(launch(), -1);
	assert_logged("\"-n1\" starts with '-'");
	assert_int_equal(host.dlopens, 0);
}

static void test_bad_plugstack(void **state)
{
	(void)state;
	begin(S_CTX_LOCAL);
	typed_image();
	((struct config *)config_load(0, NULL))->fault = strdup("plugstack.conf: x");
	assert_int_equal(launch(), -1);
	assert_logged("E k8s: plugstack.conf: x");
	assert_int_equal(host.dlopens, 0);
}

static void test_no_environment(void **state)
{
	(void)state;
	begin(S_CTX_LOCAL);
	typed_image();
	host.setenv_fails = true;
	assert_int_equal(launch(), -1);
	assert_logged("cannot be handed on");
}

#define T(name) cmocka_unit_test_setup_teardown(name, fake_reset, fake_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_refusals),
		T(test_mpi_of_the_site),
		T(test_faults_together),
		T(test_refused_by_core),
		T(test_root),
		T(test_workdir_alone),
		T(test_bad_value),
		T(test_bad_plugstack),
		T(test_no_environment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
