// SPDX-License-Identifier: Apache-2.0

package submission

import (
	"context"
	"fmt"
	"time"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/option"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
)

// Limit bounds a whole check. The user waits for it: 3 s, of which the host needs a little.
const Limit = 2800 * time.Millisecond

// margin is what a part's own time ends before the whole's, so that it can still say what it
// has found.
const margin = 300 * time.Millisecond

// part is one check of several that run at once.
type part struct {
	// run must not outlive ctx where it can be helped. A dead file server cannot be: then
	// the goroutine is left behind, holding nothing but its own answer.
	run func(ctx context.Context) []finding
	// late is said in its place where it did not end in time.
	late func() []finding
}

// Check finds everything that is wrong with a submission, within Limit or the context's
// own end. All parts run at once; the order of the findings is always the same.
func Check(ctx context.Context, r Request, config *site.Config, deps Deps) Result {
	if !r.Wanted() {
		return Result{}
	}
	ctx, cancel := context.WithTimeout(ctx, Limit)
	defer cancel()

	findings := checkUser(r)
	options, imageOK := checkOptions(r, config)
	findings = append(findings, options...)

	var parts []part
	if imageOK && deps.Registry != nil {
		// The name that is pulled; it has been resolved just now.
		image, _ := option.Resolve(r.Options[option.Image], config.Registries)
		parts = append(parts, imagePart(image, config, deps.Registry))
	}
	parts = append(parts, volumesPart(r, config, deps))
	if r.Tool == "sbatch" {
		parts = append(parts,
			part{
				run:  func(ctx context.Context) []finding { return checkScript(ctx, r, config, deps) },
				late: func() []finding { return []finding{warning("the job file was not checked: no answer in time")} },
			},
			part{
				run: func(context.Context) []finding { return append(checkNodes(r, config), checkPaths(r, deps.Files)...) },
				late: func() []finding {
					return append(checkNodes(r, config), warning("the job's directories were not checked: the file system did not answer in time"))
				},
			},
		)
	}
	if imageOK {
		parts = append(parts, part{
			run:  func(context.Context) []finding { return checkPullSecret(r, config, deps.Files) },
			late: func() []finding { return nil },
		})
	}
	parts = append(parts, part{
		run:  func(ctx context.Context) []finding { return checkShapes(ctx, r, config, deps.Shapes) },
		late: lateShapes,
	})
	return result(append(findings, runAll(ctx, parts)...))
}

func imagePart(image string, config *site.Config, registry Registry) part {
	rule := config.Submission.UnreachableRegistry
	return part{
		run:  func(ctx context.Context) []finding { return judgeImage(image, registry.Check(ctx, image), rule) },
		late: func() []finding { return lateImage(image, rule) },
	}
}

// checkScript judges the job file, the command it names, and the options it must have. A file
// that cannot be read is one fault: what it lacks is not known.
func checkScript(ctx context.Context, r Request, config *site.Config, deps Deps) []finding {
	file, findings := openJobFile(r, deps.Files)
	if len(findings) > 0 {
		return findings
	}
	if file != nil {
		findings = file.check(ctx, deps.Shell, !r.leavesScript())
	}
	findings = append(findings, checkLegacyScript(legacyScript(r, file, config), r, deps.Files)...)
	return append(findings, checkRequired(r, file.directives(), config.Submission.RequiredDirectives)...)
}

// runAll runs the parts at once and gives their findings in their order. It returns when all
// have ended or ctx has.
func runAll(ctx context.Context, parts []part) []finding {
	deadline, ok := ctx.Deadline()
	if !ok {
		deadline = time.Now().Add(Limit)
	}
	partContext, cancel := context.WithDeadline(ctx, deadline.Add(-margin))
	defer cancel()
	answers := make([]chan []finding, len(parts))
	for i, p := range parts {
		answers[i] = make(chan []finding, 1)
		go func() {
			answers[i] <- guarded(partContext, p)
		}()
	}
	var findings []finding
	for i, p := range parts {
		select {
		case some := <-answers[i]:
			findings = append(findings, some...)
		case <-ctx.Done():
			select { // both may be true
			case some := <-answers[i]:
				findings = append(findings, some...)
			default:
				findings = append(findings, p.late()...)
			}
		}
	}
	return findings
}

// guarded runs one part; a panic costs its answer and no more.
func guarded(ctx context.Context, p part) (findings []finding) {
	defer func() {
		if r := recover(); r != nil {
			findings = []finding{warning("a check of the submission failed, please report it: %s", fmt.Sprint(r))}
		}
	}()
	return p.run(ctx)
}
