// SPDX-License-Identifier: Apache-2.0

package job

import (
	"regexp"
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
	have := sum(named(j.GRES, "gpu"))
	if j.IsBatch() || have == 0 || have > maxDevices {
		return make([][]string, len(environments))
	}
	count := int(have)
	tasks := boundTo(environments)
	all := slices.Concat(tasks...)
	slices.Sort(all)
	all = slices.Compact(all)
	if len(all) > count {
		return make([][]string, len(environments))
	}
	if len(all) < count && (len(all) == 0 || all[len(all)-1] < count) {
		all = firstDevices(count) // the numbers are places already, and some GPUs nobody's
	}
	return settings(environments, tasks, all, count)
}

// DevicesInside is Devices for a step in another one's container, by the numbers on the Slurm node
// of the container's GPUs, ascending: those of the step are told apart from those of other steps.
func DevicesInside(environments [][]string, container []int) [][]string {
	return settings(environments, boundTo(environments), container, len(container))
}

// FormatGPUs and ParseGPUs are the numbers of GPUs as a text, "0,3"; of one that is no such list
// there are none.
func FormatGPUs(devices []int) string {
	numbers := make([]string, len(devices))
	for i, device := range devices {
		numbers[i] = strconv.Itoa(device)
	}
	return strings.Join(numbers, ",")
}

func ParseGPUs(text string) []int { return parseDevices(text) }

// StepGPUs are the numbers on the Slurm node of the GPUs that this step has there, ascending: all
// that the job has, or those among them that Slurm has named to the step's local tasks.
func (j Job) StepGPUs(environments [][]string) []int {
	if j.IsBatch() || sum(named(j.GRES, "gpu")) == int64(len(j.NodeGPUs)) {
		return j.NodeGPUs
	}
	told := slices.Concat(boundTo(environments)...)
	return slices.DeleteFunc(slices.Clone(j.NodeGPUs), func(device int) bool { return !slices.Contains(told, device) })
}

// SampleGPUs are as many as the job asks for: Slurm chooses which when it starts.
func (j Job) SampleGPUs() []int {
	return firstDevices(int(min(sum(named(j.GRES, "gpu")), maxDevices)))
}

// boundTo are the numbers of each task's GPUs on the Slurm node; nil: not known.
func boundTo(environments [][]string) [][]int {
	tasks := make([][]int, len(environments))
	for i, env := range environments {
		tasks[i] = parseDevices(value(env, boundDevices))
	}
	return tasks
}

func firstDevices(count int) []int {
	all := make([]int, count)
	for i := range all {
		all[i] = i
	}
	return all
}

// settings are the variables of the tasks that are bound to some of the container's GPUs, of
// which it has so many; all has the numbers of these on the Slurm node, as far as they are known.
func settings(environments [][]string, tasks [][]int, all []int, count int) [][]string {
	set := make([][]string, len(environments))
	for i, task := range tasks {
		foreign := func(device int) bool { return !slices.Contains(all, device) }
		if len(task) > 0 && len(task) < count && !slices.ContainsFunc(task, foreign) {
			set[i] = deviceSettings(environments[i], task, all)
		}
	}
	return set
}

// deviceSettings are the variables of one task, those that Slurm has set for it.
func deviceSettings(env []string, task, all []int) []string {
	places := make([]string, len(task))
	for i, device := range task {
		places[i] = strconv.Itoa(slices.Index(all, device))
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

// nodeGPUs finds in Slurm's text of a node's GRES (ParseGRES) what it says of GPUs.
var nodeGPUs = regexp.MustCompile(`(?:^|,)\s*(?:gres[:/])?gpu(?::[^,()]*)?\(IDX:([0-9,-]+)\)`)

// parseNodeGPUs are the numbers of a node's GPUs in Slurm's text, "gpu:a:2(IDX:0,2),gpu:b:1(IDX:5)",
// in ascending order. Empty where it names none, as of GPUs that Slurm only counts.
func parseNodeGPUs(text string) []int {
	var devices []int
	for _, match := range nodeGPUs.FindAllStringSubmatch(text, -1) {
		for item := range strings.SplitSeq(match[1], ",") {
			from, to, isRange := strings.Cut(item, "-")
			if !isRange {
				to = from
			}
			first, err := strconv.ParseUint(from, 10, 16)
			last, errLast := strconv.ParseUint(to, 10, 16)
			if err != nil || errLast != nil || last < first || len(devices)+int(last-first) >= maxDevices {
				return nil
			}
			for n := first; n <= last; n++ {
				devices = append(devices, int(n))
			}
		}
	}
	slices.Sort(devices)
	return slices.Compact(devices)
}
