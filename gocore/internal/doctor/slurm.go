// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// stepEnd is what the end of a step may take, in seconds: slurmstepd must not be given up before (architecture.md).
const stepEnd = 30

// Settings are those of "scontrol show config", by name.
type Settings map[string]string

// ParseSettings reads the output of "scontrol show config".
func ParseSettings(text string) Settings {
	settings := Settings{}
	for _, line := range strings.Split(text, "\n") {
		if key, value, ok := strings.Cut(line, "="); ok {
			settings[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
	return settings
}

// Plugstack is where Slurm reads its SPANK plugins from.
func (s Settings) Plugstack() string {
	path := s["PlugStackConfig"]
	if path == "" || path == "(null)" {
		path = "plugstack.conf"
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(s["SLURM_CONF"]), path)
	}
	return path
}

// SlurmSettings checks what of slurm.conf matters to the plugin.
func SlurmSettings(s Settings) Check {
	return func(context.Context) []Finding {
		const about = "slurm.conf"
		var found []Finding
		seconds, _, _ := strings.Cut(s["UnkillableStepTimeout"], " ")
		if limit, err := strconv.Atoi(seconds); err == nil && limit < stepEnd {
			found = append(found, warning(about, fmt.Sprintf("UnkillableStepTimeout=%d or more", 2*stepEnd), "UnkillableStepTimeout is %d s; the end of a step may take %d s, and its node would be drained", limit, stepEnd))
		}
		if strings.Contains(s["SlurmdParameters"], "contain_spank") {
			found = append(found, fault(about, "take contain_spank out of SlurmdParameters", "contain_spank is set: jobs in Pods fail"))
		}
		if len(found) == 0 {
			found = append(found, good(about, "nothing stands against jobs in Pods"))
		}
		return found
	}
}

// Plugin checks the plugin's line and the plugin itself. version is the output of "scontrol --version".
func Plugin(lines []Line, plugstack, version string) Check {
	return func(context.Context) []Finding {
		const about = "plugin"
		switch {
		case len(lines) == 0:
			return []Finding{fault(about, "add the line of plugstack.conf.example, and restart slurmd", "%s has no line with %s", plugstack, pluginFile)}
		case len(lines) > 1:
			return []Finding{fault(about, "keep one of them", "%s stands in %s and in %s", pluginFile, lines[0].File, lines[1].File)}
		}
		line := lines[0]
		if !line.Required {
			return []Finding{fault(about, "write required in place of optional, on all hosts", "it is optional in %s: where it fails, jobs run on the host", line.File)}
		}
		if !filepath.IsAbs(line.Path) {
			return []Finding{skipped(about, "", "%s is looked up by Slurm in its PluginDir; its release is not checked", line.Path)}
		}
		built, err := pluginRelease(line.Path)
		if err != nil {
			return []Finding{fault(about, "install "+pluginFile+" of this build", "%s cannot be read: %s", line.Path, err)}
		}
		if runs := release(version); runs != "" && runs != releaseOf(built) {
			return []Finding{fault(about, "build it with this release's headers (CONTRIBUTING.md), or Slurm's commands refuse to work", "%s is built for Slurm %s, this host has %s", line.Path, releaseOf(built), runs)}
		}
		return []Finding{good(about, "%s is required and built for Slurm %s", line.Path, releaseOf(built))}
	}
}

// release is the first two numbers of "slurm 22.05.8".
func release(version string) string {
	words := strings.Fields(version)
	if len(words) < 2 {
		return ""
	}
	numbers := strings.SplitN(words[1], ".", 3)
	if len(numbers) < 2 {
		return ""
	}
	return numbers[0] + "." + numbers[1]
}

func releaseOf(number uint32) string { return fmt.Sprintf("%d.%02d", number>>16, number>>8&0xff) }
