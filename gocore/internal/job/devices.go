// SPDX-License-Identifier: Apache-2.0

package job

import (
	"slices"
	"strconv"
	"strings"
)

const (
	// boundDevices is what Slurm sets to the numbers of a task's GPUs on the Slurm node, in
	// every release and whatever else it sets.
	boundDevices = "SLURM_STEP_GPUS"
	// maxDevices is more than a machine has.
	maxDevices = 1024
)

// deviceVariables are those by which Slurm tells a program its GPUs; which, is the site's
// choice (gres.conf, Flags=). Each means nothing but numbers to the program.
var deviceVariables = []string{"CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "ZE_AFFINITY_MASK"}

// Devices says for each local task of a numbered step which variables tell it its GPUs among
// the container's, by the environments that Slurm gave to the tasks. None where Slurm has not
// bound the task to fewer than the step has on this node.
//
// The container's are the device plugin's choice, so only the places count: two tasks that
// have different GPUs of the Slurm node get different ones of the container.
func (j Job) Devices(environments [][]string) [][]string {
	set := make([][]string, len(environments))
	have := sum(named(j.GRES, "gpu"))
	if j.IsBatch() || have == 0 || have > maxDevices {
		return set
	}
	count := int(have)
	tasks := make([][]int, len(environments))
	var all []int
	for i, env := range environments {
		tasks[i] = parseDevices(value(env, boundDevices))
		all = append(all, tasks[i]...)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	if len(all) > count {
		return set
	}
	if len(all) > 0 && len(all) < count && all[len(all)-1] < count {
		all = nil // the numbers are places already, and some GPUs nobody's
	}
	for i, task := range tasks {
		if len(task) > 0 && len(task) < count {
			set[i] = deviceSettings(environments[i], task, all)
		}
	}
	return set
}

// deviceSettings are the variables of one task, those that Slurm has set for it.
func deviceSettings(env []string, task, all []int) []string {
	places := make([]string, len(task))
	for i, device := range task {
		if all != nil {
			device = slices.Index(all, device)
		}
		places[i] = strconv.Itoa(device)
	}
	var settings []string
	for _, name := range deviceVariables {
		// One with another number of devices is the user's own.
		if v := value(env, name); v != "" && strings.Count(v, ",") == len(task)-1 {
			settings = append(settings, name+"="+strings.Join(places, ","))
		}
	}
	return settings
}

// parseDevices reads "0,3"; nil where that is no list of different numbers.
func parseDevices(text string) []int {
	if text == "" {
		return nil
	}
	var devices []int
	for item := range strings.SplitSeq(text, ",") {
		n, err := strconv.ParseUint(item, 10, 16)
		if err != nil || len(devices) == maxDevices || slices.Contains(devices, int(n)) {
			return nil
		}
		devices = append(devices, int(n))
	}
	slices.Sort(devices)
	return devices
}

// value of a variable; the last one counts, as for the task. Empty where there is none.
func value(env []string, name string) string {
	for _, entry := range slices.Backward(env) {
		if text, found := strings.CutPrefix(entry, name); found && strings.HasPrefix(text, "=") {
			return text[1:]
		}
	}
	return ""
}
