// SPDX-License-Identifier: Apache-2.0

package site

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"
)

var yamlLine = regexp.MustCompile(`^line (\d+): `)

// Check reads the file's bytes and finds all that is wrong with them at once: keys that are
// unknown or given twice, values of a wrong type, bad values, contradictions. A value of a
// wrong type counts as not given for the checks after it. The configuration is nil where
// there is any fault.
func Check(data []byte) (*Config, []Fault) {
	if len(data) > maxBytes {
		return nil, []Fault{{Text: fmt.Sprintf("larger than %d bytes", maxBytes)}}
	}
	if fault := oneDocument(data); fault != nil {
		return nil, []Fault{*fault}
	}
	var tree any
	if err := yaml.Unmarshal(data, &tree); err != nil {
		return nil, []Fault{syntaxFault(err)}
	}
	top, ok := tree.(map[string]any)
	if !ok && tree != nil {
		return nil, []Fault{{Line: 1, Text: "not a table of keys (KEY: VALUE)"}}
	}
	where := linesOf(data)
	c := &checker{faults: where.faults}
	top, _ = c.walk(reflect.TypeFor[Config](), top, "").(map[string]any)
	c.besideClusters(top)
	config, err := decode(top)
	if err == nil {
		c.legacyLine(config, data)
		err = config.Validate()
	}
	c.faults = append(c.faults, faultsOf(err)...)
	for i := range c.faults {
		if f := &c.faults[i]; f.Line == 0 {
			f.Line = where.of(f.Key)
		}
	}
	if len(c.faults) > 0 {
		return nil, sorted(c.faults)
	}
	return config, nil
}

// Parse is Load for the file's bytes.
func Parse(data []byte) (*Config, error) {
	config, faults := Check(data)
	if len(faults) == 0 {
		return config, nil
	}
	errs := make([]error, len(faults))
	for i, fault := range faults {
		errs[i] = located(fault)
	}
	return nil, errors.Join(errs...)
}

// legacyYes is how the plugin finds legacy_comments: it cannot load the core in every sbatch for
// that (spank/config.c).
var legacyYes = regexp.MustCompile(`(?m)^legacy_comments:[ \t]*(?i:yes|true|on)[ \t\r]*(#.*)?$`)

// legacyLine finds a yes that the plugin would not see: such jobs would run on the host.
func (c *checker) legacyLine(config *Config, data []byte) {
	if config.LegacyComments && !legacyYes.Match(data) {
		c.add("legacy_comments", "sbatch does not see it so: write \"legacy_comments: yes\" on a line of its own, without indentation")
	}
}

// decode makes the configuration of a tree that has the right keys and types.
func decode(tree map[string]any) (*Config, error) {
	text, err := json.Marshal(tree)
	if err != nil {
		return nil, err
	}
	config := Default()
	config.Commands.Path = nil
	config.Resources.GRES = nil // else the file's table would be added to the default one
	if err := json.Unmarshal(text, config); err != nil {
		return nil, oneLine(err)
	}
	if config.Commands.Path == nil {
		config.Commands.Path = defaultPath()
	}
	if config.Resources.GRES == nil {
		config.Resources.GRES = defaultGRES()
	}
	config.settleClusters()
	return config, nil
}

// checker walks a tree along the types that it should have.
type checker struct{ faults []Fault }

func (c *checker) add(path, format string, args ...any) {
	c.faults = append(c.faults, Fault{Key: path, Text: fmt.Sprintf(format, args...)})
}

// walk gives the value without what does not fit the type; nil: nothing of it does.
func (c *checker) walk(t reflect.Type, value any, path string) any {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if value == nil {
		return nil
	}
	switch {
	case reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) && !hasKeys(t, value):
		return c.leaf(t, value, path)
	case t.Kind() == reflect.Struct:
		return c.table(keysOf(t), nil, value, path)
	case t.Kind() == reflect.Map:
		return c.table(nil, t.Elem(), value, path)
	case t.Kind() == reflect.Slice:
		list, ok := value.([]any)
		if !ok {
			c.add(path, "%s is not a list ([%s])", shown(value), shown(value))
			return nil
		}
		kept := make([]any, 0, len(list))
		for i, one := range list {
			below := fmt.Sprintf("%s[%d]", path, i)
			if one == nil {
				c.add(below, "is empty")
			} else if fit := c.walk(t.Elem(), one, below); fit != nil {
				kept = append(kept, fit)
			}
		}
		return kept
	}
	return c.leaf(t, value, path)
}

// hasKeys tells a table of known keys from the short form that may stand for it.
func hasKeys(t reflect.Type, value any) bool {
	_, table := value.(map[string]any)
	return table && t.Kind() == reflect.Struct && len(keysOf(t)) > 0
}

// table walks a table of the known keys, or one whose keys are the site's own names.
func (c *checker) table(known map[string]reflect.Type, each reflect.Type, value any, path string) any {
	tree, ok := value.(map[string]any)
	if !ok {
		c.add(path, "%s is not a table of keys (KEY: VALUE)", shown(value))
		return nil
	}
	kept := map[string]any{}
	for key, one := range tree {
		t, below := each, joined(path, key)
		if known != nil {
			if t, ok = known[key]; !ok {
				c.unknown(below, key, known)
				continue
			}
		} else if one == nil && each.Kind() == reflect.Struct {
			one = map[string]any{} // a name with nothing below: what it lacks is said
		}
		if fit := c.walk(t, one, below); fit != nil {
			kept[key] = fit
		}
	}
	return kept
}

func (c *checker) unknown(path, key string, known map[string]reflect.Type) {
	if near := nearest(key, slices.Sorted(maps.Keys(known))); near != "" {
		c.add(path, "unknown key, did you mean %q?", near)
		return
	}
	c.add(path, "unknown key")
}

// leaf tries one value.
func (c *checker) leaf(t reflect.Type, value any, path string) any {
	text, err := json.Marshal(value)
	if err != nil {
		c.add(path, "%s", err)
		return nil
	}
	if err = json.Unmarshal(text, reflect.New(t).Interface()); err == nil {
		return value
	}
	if number, ok := value.(float64); ok && t.Kind() == reflect.String {
		return strconv.FormatFloat(number, 'f', -1, 64) // an amount: "cpu: 4"
	}
	switch {
	case reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()):
		c.add(path, "%s", err)
	case t.Kind() == reflect.String:
		c.add(path, "%s is not a text", shown(value))
	case t.Kind() == reflect.Bool:
		c.add(path, "%s is neither yes nor no", shown(value))
	case t.Kind() == reflect.Float64:
		c.add(path, "%s is not a number", shown(value))
	default:
		c.add(path, "%s is not a whole number", shown(value))
	}
	return nil
}

// shown is a value in a message, bounded.
func shown(value any) string {
	const most = 100
	text, err := json.Marshal(value)
	if err != nil {
		return "the value"
	}
	if len(text) > most {
		return strings.ToValidUTF8(string(text[:most]), "") + "..."
	}
	return string(text)
}

func syntaxFault(err error) Fault {
	f := Fault{Text: oneLine(err).Error()}
	if found := yamlLine.FindStringSubmatch(f.Text); found != nil {
		f.Line, _ = strconv.Atoi(found[1])
		f.Text = f.Text[len(found[0]):]
	}
	return f
}
