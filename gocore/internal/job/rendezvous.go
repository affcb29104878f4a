// SPDX-License-Identifier: Apache-2.0

package job

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
)

// nodeAddresses has the addresses of the step's Pods, in the order of its nodes.
const nodeAddresses = "SLURM_K8S_NODE_ADDRESSES"

// Rendezvous adds to the environment of a numbered step's task what it finds the others by:
// the addresses of the step's Pods, where they are known, and PyTorch's variables where the
// option or else the site wants these, and the step has one component. What the user has set stays.
//
// A batch script is one process. It gets none: the steps that it starts would inherit them.
func (j Job) Rendezvous(env, addresses []string, siteChoice string) []string {
	if j.IsBatch() {
		return env
	}
	set := make(map[string]string, len(env))
	out := make([]string, 0, len(env)+6)
	for _, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		if name == nodeAddresses { // of the step that srun was started from
			continue
		}
		set[name] = value
		out = append(out, entry)
	}
	if len(addresses) > 0 {
		out = append(out, nodeAddresses+"="+strings.Join(addresses, ","))
	}
	// Slurm counts the tasks of all components together, and this one knows the addresses of its own.
	if j.Component != "" {
		return out
	}
	if cmp.Or(j.Options.Rendezvous, siteChoice) != site.RendezvousPyTorch {
		return out
	}
	for _, v := range []struct{ name, value string }{
		{"MASTER_ADDR", firstAddress(addresses)},
		{"MASTER_PORT", strconv.FormatUint(j.masterPort(), 10)},
		{"RANK", set["SLURM_PROCID"]},
		{"LOCAL_RANK", set["SLURM_LOCALID"]},
		// --preserve-env leaves SLURM_NTASKS as the job has it.
		{"WORLD_SIZE", cmp.Or(set["SLURM_STEP_NUM_TASKS"], set["SLURM_NTASKS"])},
	} {
		if _, users := set[v.name]; !users && v.value != "" {
			out = append(out, v.name+"="+v.value)
		}
	}
	return out
}

func firstAddress(addresses []string) string {
	if len(addresses) == 0 || addresses[0] == "" {
		return "127.0.0.1"
	}
	return addresses[0]
}

// masterPort is the same for all tasks of a step, and another one for the job's next step.
func (j Job) masterPort() uint64 {
	step, _ := strconv.ParseUint(j.Step, 10, 32) // checked by FromFields
	return 20000 + (uint64(j.ID)*97+step)%20000
}
