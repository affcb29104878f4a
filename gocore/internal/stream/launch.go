// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"encoding/binary"
	"slices"
)

const (
	maxLimits     = 64       // Linux has 16 resources
	maxPullSecret = 64 << 10 // frames.h, K8S_PULL_SECRET_MAX
	maxStrings    = 1 << 17  // arguments and environment; what the kernel takes is less
	maxCPUs       = 1024     // bytes of a bitmap; Linux's largest machine has 8192 cpus
)

// Limit is one resource limit; all ones: unlimited.
type Limit struct {
	Resource   uint32 // Linux's RLIMIT_*
	Soft, Hard uint64
}

// CPUs are a task's cpus, and those it could have had: bitmaps of one length, cpu 0 is bit
// 0 of the first byte. Of the Slurm node in a relay's HELLO, places among the step's in START.
type CPUs struct{ Task, Step []byte }

// Launch is what one task is to run: what a relay's HELLO says, or START carries.
type Launch struct {
	Task      uint32
	Tasks     uint32 // in the container; 0 in a relay's HELLO
	Argv      []string
	Env       []string
	Directory string
	Required  bool   // Directory must exist
	Home      string // HOME where such a directory is there
	Umask     *uint32
	Limits    []Limit
	Script    []byte // argv[0] becomes its path
	TTY       *Winsize
	OneOutput bool // stdout and stderr are one file
	// PullSecret is the user's Docker configuration, of a HELLO alone; it is never sent on.
	PullSecret []byte
	CPUs       *CPUs    // nil: not known in a relay's HELLO, not bound in START
	Commands   []string // of Slurm's, that are offered to the task
}

// DecodeLaunch reads the records of task, and those for every task. The script
// may be a part of b.
func DecodeLaunch(b []byte, task uint32) (Launch, error) {
	l := Launch{Task: task}
	err := DecodeRecords(b, func(r Record) error {
		if r.Task != task && r.Task != TaskAll {
			return nil
		}
		return l.take(r)
	})
	if err != nil {
		return Launch{}, err
	}
	return l, nil
}

// take adds one record; the last one wins where there may be but one.
func (l *Launch) take(r Record) error {
	switch r.Tag {
	case recordArgv:
		l.Argv = append(l.Argv, string(r.Value))
	case recordEnv:
		l.Env = append(l.Env, string(r.Value))
	case recordDirectory:
		l.Directory = string(r.Value)
	case recordRequired:
		l.Required = true
	case recordHome:
		l.Home = string(r.Value)
	case recordUmask:
		mask := binary.BigEndian.Uint32(r.Value)
		l.Umask = &mask
	case recordLimit:
		return l.takeLimit(r.Value)
	case recordScript:
		if l.Script == nil {
			l.Script = r.Value // its capacity ends with it
		} else {
			l.Script = append(l.Script, r.Value...)
		}
	case recordTTY:
		w, err := parseWinsize(r.Value)
		l.TTY = &w
		return err
	case recordOneOutput:
		l.OneOutput = true
	case recordCPUs:
		return l.takeCPUs(r.Value)
	case recordCommand:
		l.Commands = append(l.Commands, string(r.Value))
	case recordPull:
		if len(r.Value) > maxPullSecret || l.PullSecret != nil {
			return breach("a pull secret of more than %d bytes", maxPullSecret)
		}
		l.PullSecret = append([]byte{}, r.Value...)
	case recordTasks:
		l.Tasks = binary.BigEndian.Uint32(r.Value)
		if l.Tasks < 1 || l.Tasks > MaxTasks {
			return breach("%d tasks", l.Tasks)
		}
	}
	if len(l.Argv)+len(l.Env)+len(l.Commands) > maxStrings {
		return breach("more than %d arguments and variables", maxStrings)
	}
	return nil
}

func (l *Launch) takeLimit(b []byte) error {
	n := Limit{binary.BigEndian.Uint32(b), binary.BigEndian.Uint64(b[4:]), binary.BigEndian.Uint64(b[12:])}
	if i := slices.IndexFunc(l.Limits, func(o Limit) bool { return o.Resource == n.Resource }); i >= 0 {
		l.Limits[i] = n
		return nil
	}
	if len(l.Limits) == maxLimits {
		return breach("more than %d limits", maxLimits)
	}
	l.Limits = append(l.Limits, n)
	return nil
}

func (l *Launch) takeCPUs(b []byte) error {
	half := len(b) / 2
	if len(b)%2 != 0 || half < 1 || half > maxCPUs {
		return breach("cpus of %d bytes", len(b))
	}
	l.CPUs = &CPUs{slices.Clone(b[:half]), slices.Clone(b[half:])}
	return nil
}
