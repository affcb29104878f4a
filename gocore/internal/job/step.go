// SPDX-License-Identifier: Apache-2.0

package job

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// MergeStep adds what slurmctld says of a numbered step (gocore.h, step_facts), after
// Merge. The step's nodes, and its cpus and memory on this one, stay those of the start
// request. The job is unchanged where MergeStep fails.
func (j *Job) MergeStep(facts []string) error {
	f := newFields(facts)
	n := *j
	f.flag("overlap", &n.Overlap)
	if f.err != nil {
		return f.err
	}
	var err error
	if n.Overlap {
		n.GRES = nil
	} else if n.GRES, err = n.stepGRES(f.values["tres"]); err != nil {
		return err
	}
	*j = n
	return nil
}

// stepGRES is this node's part of the step's GRES. tres has those of all the step's nodes;
// j.GRES, which Merge set, what the job has on this one.
func (j Job) stepGRES(tres string) ([]GRES, error) {
	if tres == "" && len(j.GRES) > 0 {
		return nil, errors.New("it is not known what the step has of the job's resources: Slurm does not say")
	}
	step, err := parseTRES(tres)
	if err != nil {
		return nil, err
	}
	// Slurm counts what AccountingStorageTRES names. Of the rest a step has, unless it asked
	// for less, what its job has.
	mine := slices.DeleteFunc(slices.Clone(j.GRES), func(g GRES) bool { return j.counts(g) || len(named(step, g.Name)) > 0 })
	for len(step) > 0 {
		name := step[0].Name
		ours, err := j.part(name, named(step, name))
		if err != nil {
			return nil, err
		}
		mine = append(mine, ours...)
		step = slices.DeleteFunc(step, func(g GRES) bool { return g.Name == name })
	}
	return mine, nil
}

// part is this node's part of all the step's GRES of one name.
func (j Job) part(name string, step []GRES) ([]GRES, error) {
	// Slurm writes the sum of all types without a type, and beside it each type that it counts.
	plain := slices.DeleteFunc(slices.Clone(step), func(g GRES) bool { return g.Type != "" })
	typed := slices.DeleteFunc(slices.Clone(step), func(g GRES) bool { return g.Type == "" })
	total := max(sum(plain), sum(typed))
	nodes, jobs := int64(max(j.Nodes, 1)), named(j.GRES, name)
	if total%nodes != 0 || len(jobs) > 0 && total/nodes > sum(jobs) {
		return nil, fmt.Errorf("the step has %d of gres %q on %d nodes, and Slurm does not say how many on each: ask for the same number on all "+
			"(--gpus-per-node, --gres)", total, name, nodes)
	}
	share := total / nodes
	switch {
	case share == sum(jobs): // all that the job has here, of its types
		return jobs, nil
	case len(jobs) == 1:
		return []GRES{{name, jobs[0].Type, share}}, nil
	case sum(typed) != total:
		return []GRES{{name, "", share}}, nil
	}
	for i := range typed {
		if typed[i].Count%nodes != 0 {
			return []GRES{{name, "", share}}, nil
		}
		typed[i].Count /= nodes
	}
	return typed, nil
}

// counts tells whether Slurm counts a GRES among a step's resources, by its job's.
func (j Job) counts(g GRES) bool {
	if j.TRES == "" {
		return true
	}
	counted, err := parseTRES(j.TRES)
	return err != nil || len(named(counted, g.Name)) > 0
}

// parseTRES reads the GRES in Slurm's text of allocated resources,
// "cpu=4,mem=400M,node=2,billing=4,gres/gpu=2,gres/gpu:a100=2".
func parseTRES(text string) ([]GRES, error) {
	var all []GRES
	for item := range strings.SplitSeq(text, ",") {
		gres, found := strings.CutPrefix(item, "gres/")
		if !found {
			continue
		}
		name, count, _ := strings.Cut(gres, "=")
		g, err := parseOne(name + ":" + count)
		if _, ok := parseCount(count); err != nil || !ok {
			return nil, fmt.Errorf("tres: %q is not gres/NAME[:TYPE]=COUNT", item)
		}
		if g.Count == 0 {
			continue
		}
		if all, err = addGRES(all, g); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func named(all []GRES, name string) []GRES {
	return slices.DeleteFunc(slices.Clone(all), func(g GRES) bool { return g.Name != name })
}

func sum(all []GRES) int64 {
	var n int64
	for _, g := range all {
		n += min(g.Count, math.MaxInt64-n)
	}
	return n
}
