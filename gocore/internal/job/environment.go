// SPDX-License-Identifier: Apache-2.0

package job

import (
	"slices"
	"strconv"
	"strings"
)

// rule drops variables from the task's environment: those of exactly these names, those
// that begin with a prefix, or those that contain a text.
type rule struct {
	reason   string
	names    []string
	prefixes []string
	contains []string
}

// Reasons that are asked for elsewhere.
const (
	devices    = "numbers devices of the Slurm node; Kubernetes chooses the Pod's"
	kubernetes = "a credential or address of the Slurm node's Kubernetes; the Pod has none, or its own"
	spank      = "carries a SPANK plugin's options to Slurm's own commands"
)

// rules says what does not pass from the Slurm node into the Pod. Everything else does:
// Slurm's variables and the user's. A variable that is dropped keeps the image's value.
var rules = []rule{
	{reason: "names programs of the Slurm node; the image has its own", names: []string{"PATH", "MANPATH", "INFOPATH", "SHELL"}},
	{reason: "a directory of the Slurm node; podinit sets HOME where the container has it", names: []string{"HOME", "PWD", "OLDPWD"}},
	{reason: "a temporary directory of the Slurm node", names: []string{"TMPDIR", "TMP", "TEMP", "TEMPDIR", "JOB_TMPDIR", "SLURM_TMPDIR"}},
	{reason: "changes how the dynamic linker and libc load the image's programs", names: []string{"GCONV_PATH", "GLIBC_TUNABLES", "LOCPATH", "NLSPATH"}, prefixes: []string{"LD_"}},
	{reason: "a start-up file of the Slurm node, read by every bash", names: []string{"BASH_ENV"}},
	{reason: "the shell's own state", names: []string{"_", "SHLVL"}},
	{reason: devices, names: []string{
		"CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES",
		"AMD_VISIBLE_DEVICES", "ZE_AFFINITY_MASK", "NEURON_RT_VISIBLE_CORES", "HABANA_VISIBLE_DEVICES", "HABANA_VISIBLE_MODULES",
		"ASCEND_VISIBLE_DEVICES", "ASCEND_RT_VISIBLE_DEVICES", "SLURM_JOB_GPUS", "SLURM_STEP_GPUS",
		"SLURM_JOB_NICS", "SLURM_STEP_NICS", "OMPI_MCA_btl_openib_if_include",
	}, prefixes: []string{"CUDA_MPS_", "SLINGSHOT_"}},
	// An MPI library that finds them insists on the server and aborts without it.
	{reason: "names a server of Slurm's MPI plugin on the Slurm node, by a socket, a file or a descriptor", names: []string{
		"PMIX_NAMESPACE", "PMIX_RANK", "PMIX_HOSTNAME", "PMIX_SECURITY_MODE", "PMIX_PTL_MODULE", "PMIX_GDS_MODULE", "PMIX_BFROP_BUFFER_TYPE",
		"PMIX_SYSTEM_TMPDIR",
	}, prefixes: []string{"PMI_", "PMIX_SERVER_", "PMIX_DSTORE_", "PALS_"}},
	{reason: kubernetes, names: []string{"KUBECONFIG", "KUBECACHEDIR", "KREW_ROOT"}, prefixes: []string{"KUBERNETES_"}},
	{reason: "Slurm's credential or file on the Slurm node", names: []string{"SLURM_CONF", "SLURM_JWT", "SLURM_CONF_SERVER", "SLURM_SACK_KEY", "SLURM_SACK_JWKS", "KRB5CCNAME"}},
	{reason: "the plugin's own, between its parts on the Slurm node", names: []string{"SLURM_K8S_RELAY_FD", "SLURM_K8S_ARGV0", "SLURM_K8S_BATCH", "SLURM_K8S_STEP", "SLURM_K8S_COMPONENT", "SLURM_K8S_COMMANDS_FD"}},
	{reason: spank, prefixes: []string{"_SLURM_SPANK_OPTION_"}, contains: []string{"_SLURM_SPANK_OPTION_"}},
	{reason: "belongs to a login session on the submitting host", names: []string{
		"DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "ICEAUTHORITY", "SESSION_MANAGER", "WINDOWID", "DESKTOP_SESSION", "MAIL",
		"GPG_AGENT_INFO", "TMUX", "TMUX_PANE", "STY", "XDG_RUNTIME_DIR", "XDG_SEAT", "XDG_VTNR",
	}, prefixes: []string{"SSH_", "DBUS_", "XDG_SESSION_", "SUDO_"}},
	{reason: "systemd's, of slurmd's own unit", names: []string{
		"INVOCATION_ID", "JOURNAL_STREAM", "NOTIFY_SOCKET", "MANAGERPID", "SYSTEMD_EXEC_PID", "MEMORY_PRESSURE_WATCH", "MEMORY_PRESSURE_WRITE",
	}, prefixes: []string{"LISTEN_", "WATCHDOG_"}},
}

// Dropped says why a variable does not pass into the Pod; "" where it does.
func Dropped(name string) string {
	for i := range rules {
		r := &rules[i]
		if slices.Contains(r.names, name) ||
			slices.ContainsFunc(r.prefixes, func(p string) bool { return strings.HasPrefix(name, p) }) ||
			slices.ContainsFunc(r.contains, func(c string) bool { return strings.Contains(name, c) }) {
			return r.reason
		}
	}
	return ""
}

// FilterEnvironment is what of a task's environment passes into the Pod, in order. It
// drops what has no name, or a NUL byte, which no environment can hold.
func FilterEnvironment(env []string) []string {
	kept := make([]string, 0, len(env))
	for _, entry := range env {
		name, _, found := strings.Cut(entry, "=")
		if !found || name == "" || strings.IndexByte(entry, 0) >= 0 || Dropped(name) != "" {
			continue
		}
		kept = append(kept, entry)
	}
	return kept
}

const (
	restartCount = "SLURM_RESTART_COUNT"
	legacyScript = "SLURM_K8S_SCRIPT"
	// visibleDevices is NVIDIA's; "void" is its container runtime's word for no GPU, even
	// where the image says "all".
	visibleDevices = "NVIDIA_VISIBLE_DEVICES"
)

// Environment is what the task gets: what passes the filter, and what the plugin adds. To
// a batch script, SLURM_RESTART_COUNT as if incarnations that never started had not been
// (absent at 0, as in Slurm); a numbered step has it from its job.
func (j Job) Environment(env []string, record Record) []string {
	set := map[string]string{}
	if j.IsBatch() {
		set[restartCount] = ""
		if n := j.started(record); n > 0 {
			set[restartCount] = strconv.FormatUint(uint64(n), 10)
		}
	}
	// A container that is joined has the devices that it has.
	if !j.HasGPU() && !j.Joins() {
		set[visibleDevices] = "void"
	}
	if j.Options.Script != "" {
		set[legacyScript] = j.Options.Script
	}
	out := slices.DeleteFunc(j.withCarried(FilterEnvironment(env), env), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		_, ours := set[name]
		return ours
	})
	for _, name := range []string{restartCount, visibleDevices, legacyScript} {
		if set[name] != "" {
			out = append(out, name+"="+set[name])
		}
	}
	return out
}

// started counts the incarnations before this one that started.
func (j Job) started(record Record) uint32 {
	if record.Gated >= j.Restarts {
		return 0
	}
	return j.Restarts - record.Gated
}
