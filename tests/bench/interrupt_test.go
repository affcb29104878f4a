// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestChangesAreTakenBackOnceAndTheLastFirst(t *testing.T) {
	var c changes
	var done []string
	does := func(what string, err error) func() error {
		return func() error { done = append(done, what); return err }
	}
	first, err := c.make("first", does("+1", nil), does("-1", nil))
	require.NoError(t, err)
	_, err = c.make("second", does("+2", errors.New("halfway")), does("-2", errors.New("stuck")))
	require.EqualError(t, err, "halfway")
	third, err := c.make("third", does("+3", nil), does("-3", nil))
	require.NoError(t, err)
	require.NoError(t, c.more(does("more", nil)))
	require.NoError(t, first())
	require.NoError(t, first())
	require.EqualError(t, c.all(), "second is not taken back: stuck", "what failed halfway is taken back too")
	require.NoError(t, third())
	require.NoError(t, c.all())
	require.Equal(t, "+1 +2 +3 more -1 -3 -2", strings.Join(done, " "))
}

func TestNumbers(t *testing.T) {
	n := numbers{20, 200}
	require.Equal(t, "20,200", n.String())
	require.NoError(t, n.Set("5"))
	require.Equal(t, numbers{5}, n)
	require.Error(t, n.Set("5,none"))
	require.Error(t, n.Set("0"))
}

func TestStageLine(t *testing.T) {
	require.Equal(t, []string{"created", "0.123"}, stageLine.FindStringSubmatch("[2026-01-31T12:00:00.123] [7.batch] debug:  spank_k8s: job 7: stage created after 0.123 s")[1:])
}
