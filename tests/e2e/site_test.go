// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"sigs.k8s.io/yaml"
)

// siteFile is the cluster's k8s.yaml.
func siteFile() string { return filepath.Join(lab.Dir, "etc/k8s.yaml") }

// cmdSite gives the cluster's own configuration the top keys of a file, in place of what an
// earlier call gave; the cluster's own is back at the script's end.
func cmdSite(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, len(args) <= 1 && !neg, "site [FILE]")
	w := worldOf(ts)
	if w.site == nil {
		text, err := os.ReadFile(siteFile())
		ts.Check(err)
		w.site = text
	}
	text := w.site
	if len(args) == 1 {
		var err error
		text, err = withKeys(text, []byte(ts.ReadFile(args[0])))
		ts.Check(err)
	}
	ts.Check(writeSite(text))
	ts.Check(ts.Exec("slurm-k8s", "check-config", siteFile()))
}

// withKeys is a YAML text with the top keys of another, in place of its own of that name.
func withKeys(text, keys []byte) ([]byte, error) {
	var site map[string]any
	if err := errors.Join(yaml.Unmarshal(text, &site), yaml.Unmarshal(keys, &site)); err != nil {
		return nil, err
	}
	return yaml.Marshal(site)
}

// writeSite puts a whole file in the place of the old one: jobs of others read it meanwhile.
func writeSite(text []byte) error {
	fresh := siteFile() + ".new"
	if err := os.WriteFile(fresh, text, 0o644); err != nil {
		return err
	}
	return os.Rename(fresh, siteFile())
}

// cmdAfterwards remembers a command of the administrator's for the script's end, however it ends.
func cmdAfterwards(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, len(args) > 0 && !neg, "afterwards COMMAND...")
	w := worldOf(ts)
	w.after = append(w.after, args)
}

// undo does what site and afterwards promise, the last first.
func (w *world) undo() []string {
	var left []string
	slices.Reverse(w.after)
	for _, command := range w.after {
		if out, err := run(time.Minute, command[0], command[1:]...); err != nil {
			left = append(left, fmt.Sprintf("%s: %v %s", strings.Join(command, " "), err, tail(out, 5)))
		}
	}
	if w.site != nil {
		if err := writeSite(w.site); err != nil {
			left = append(left, err.Error())
		}
	}
	return left
}
