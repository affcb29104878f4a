// SPDX-License-Identifier: Apache-2.0

package site

import "fmt"

// Pod Security levels, the strictest first.
const (
	LevelRestricted = "restricted"
	LevelBaseline   = "baseline"
	LevelPrivileged = "privileged"
)

// Level is the strictest Pod Security level that a Pod with the volume passes.
func (v Volume) Level() string {
	switch v.Kind() {
	case KindHostPath:
		return LevelPrivileged
	case KindNFS:
		return LevelBaseline
	}
	return LevelRestricted
}

// Level is the strictest Pod Security level that the namespace of the jobs can have; why names
// the volume that needs it, and is empty for restricted, which all else passes.
func (c *Config) Level() (level, why string) {
	level = LevelRestricted
	for _, name := range c.VolumeNames() {
		v := c.Volumes[name]
		switch need := v.Level(); {
		case need == LevelPrivileged:
			return need, fmt.Sprintf("volume %q is a %s", name, v.Kind())
		case need == LevelBaseline && level == LevelRestricted:
			level, why = need, fmt.Sprintf("volume %q is %s", name, v.Kind())
		}
	}
	return level, why
}
