// SPDX-License-Identifier: Apache-2.0

package site

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/wellknown"
)

// DefaultSystemNamespace is where deploy/ puts the accounts.
const DefaultSystemNamespace = "slurm"

// maxPatternText bounds a pattern's own text, so that of each name something is kept.
const maxPatternText = 40

// Owner is what a namespace can be named by.
type Owner struct {
	User, Account, Cluster string
	UID, GID               uint32
}

// Namespace is the namespace of a job's Pods.
type Namespace struct {
	Name string
	// Exact is the pattern's text for the owner, which Name may be a changed form of; empty:
	// the namespace is not made by the pattern, but fixed, or that of an earlier incarnation.
	Exact string
	Owner Owner
}

// ByPattern tells whether jobs have namespaces by what they are.
func (c *Config) ByPattern() bool { return strings.Contains(c.Namespace, "%") }

// ByUser tells whether a namespace is of one user alone.
func (c *Config) ByUser() bool { return strings.Contains(c.Namespace, "%u") }

// ByAccount tells whether an operator can change a waiting job's namespace, by its account.
func (c *Config) ByAccount() bool { return strings.Contains(c.Namespace, "%a") }

// SystemNamespace is where the accounts are and what is published for all jobs.
func (c *Config) SystemNamespace() string {
	if !c.ByPattern() {
		return c.Namespace
	}
	return cmp.Or(c.System, DefaultSystemNamespace)
}

// NamespaceOf is the namespace of the owner's jobs. Two owners that the pattern tells apart never
// have one; nobody has that of the accounts.
func (c *Config) NamespaceOf(owner Owner) (Namespace, error) {
	if !c.ByPattern() {
		return Namespace{Name: c.Namespace, Owner: owner}, nil
	}
	parts, err := parsePattern(c.Namespace)
	if err != nil {
		return Namespace{}, fmt.Errorf("namespace: %q: %w", c.Namespace, err)
	}
	var text, exact strings.Builder
	several, plain := 0, true
	for _, part := range parts {
		value := part.text
		if part.key != 0 {
			if value, err = owner.value(part.key); err != nil {
				return Namespace{}, err
			}
			several++
			plain = plain && plainValue(value)
		}
		text.WriteString(value)
		fmt.Fprintf(&exact, "%d:%s", len(value), value)
	}
	place := Namespace{Exact: text.String(), Owner: owner}
	// Of several values the text alone does not tell where one ends, unless all are plain.
	if several < 2 || plain {
		place.Name = wellknown.NamespaceName(place.Exact, place.Exact)
	}
	if place.Name == "" || place.Name == c.SystemNamespace() {
		place.Name = wellknown.NamespaceName(place.Exact, exact.String())
	}
	return place, nil
}

// value of a placeholder.
func (o Owner) value(key byte) (string, error) {
	value, why := "", ""
	switch key {
	case 'u':
		value, why = o.User, fmt.Sprintf("Slurm does not say the name of uid %d", o.UID)
	case 'a':
		value, why = o.Account, "the job has no account (--account)"
	case 'c':
		value, why = o.Cluster, "the Slurm cluster's name is not known"
	}
	if value == "" {
		return "", errors.New("the job's namespace is not known: " + why)
	}
	return value, nil
}

// plainValue has no character that a pattern's separator has.
func plainValue(value string) bool {
	return !strings.ContainsFunc(value, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
}

// patternPart is a text, or a placeholder.
type patternPart struct {
	text string
	key  byte // 'u', 'a', 'c', or 0
}

// parsePattern reads a pattern. Its form keeps the names apart from each other and from
// Kubernetes' own: text with a dash at the beginning, and between two placeholders.
func parsePattern(pattern string) ([]patternPart, error) {
	var parts []patternPart
	own := 0
	for rest := pattern; rest != ""; {
		text, behind, found := strings.Cut(rest, "%")
		own += len(text)
		if text != "" {
			parts = append(parts, patternPart{text: text})
		}
		if !found {
			break
		}
		if behind == "" || !strings.ContainsRune("uac", rune(behind[0])) {
			return nil, errors.New("% must be followed by u (user), a (account) or c (Slurm cluster)")
		}
		if !strings.HasSuffix(text, "-") {
			return nil, fmt.Errorf("before %%%c there must be text that ends with a dash, as in \"user-%%u\"", behind[0])
		}
		parts = append(parts, patternPart{key: behind[0]})
		rest = behind[1:]
	}
	switch plain := strings.NewReplacer("%u", "x", "%a", "x", "%c", "x").Replace(pattern); {
	case own > maxPatternText:
		return nil, fmt.Errorf("more than %d characters beside the placeholders", maxPatternText)
	case strings.HasPrefix(pattern, "kube-"):
		return nil, errors.New("names that begin with kube- are Kubernetes' own")
	case len(validation.IsDNS1123Label(plain)) > 0:
		return nil, errors.New("beside %u, %a and %c there may be lower case letters, digits and dashes, a letter or digit first and last")
	}
	return parts, nil
}

// validateNamespace checks a namespace or pattern, and that of the accounts beside it. prefix is
// of their keys in the file.
func validateNamespace(f *faults, prefix, namespace, system string) {
	if !strings.Contains(namespace, "%") {
		for _, problem := range validation.IsDNS1123Label(namespace) {
			f.add(prefix+"namespace", "%q: %s", namespace, problem)
		}
		if system != "" {
			f.add(prefix+"system_namespace", "%q: only where namespace is a pattern, as \"user-%%u\"", system)
		}
		return
	}
	if _, err := parsePattern(namespace); err != nil {
		f.add(prefix+"namespace", "%q: %s", namespace, err)
	}
	if system == "" {
		return
	}
	for _, problem := range validation.IsDNS1123Label(system) {
		f.add(prefix+"system_namespace", "%q: %s", system, problem)
	}
}
