// SPDX-License-Identifier: Apache-2.0

// Package identity asks this machine for users and groups by name.
package identity

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"strconv"
	"time"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
)

// limit of one question: a directory server that is away must not hold a job for ever.
const limit = 5 * time.Second

// System is the machine's own directory (passwd, group, and what nsswitch.conf adds).
type System struct{}

var _ site.Directory = System{}

// UID implements site.Directory.
func (System) UID(name string) (uint32, error) {
	return ask("user", name, func() (string, error) {
		u, err := user.Lookup(name)
		if err != nil {
			return "", err
		}
		return u.Uid, nil
	})
}

// GID implements site.Directory.
func (System) GID(name string) (uint32, error) {
	return ask("group", name, func() (string, error) {
		g, err := user.LookupGroup(name)
		if err != nil {
			return "", err
		}
		return g.Gid, nil
	})
}

// ask gives the question its limit. One that never returns leaves a goroutine behind, which
// holds nothing.
func ask(what, name string, lookup func() (string, error)) (uint32, error) {
	type answer struct {
		id  string
		err error
	}
	answers := make(chan answer, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				answers <- answer{err: fmt.Errorf("panic: %v", r)}
			}
		}()
		id, err := lookup()
		answers <- answer{id, err}
	}()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case a := <-answers:
		var noUser user.UnknownUserError
		var noGroup user.UnknownGroupError
		if errors.As(a.err, &noUser) || errors.As(a.err, &noGroup) {
			return 0, site.ErrNobody
		}
		if a.err != nil {
			return 0, fmt.Errorf("%s %q: %w", what, name, a.err)
		}
		id, err := strconv.ParseUint(a.id, 10, 32)
		if err != nil {
			return 0, fmt.Errorf("%s %q has the number %q", what, name, a.id)
		}
		return uint32(id), nil
	case <-timer.C:
		return 0, fmt.Errorf("%s %q: no answer within %s", what, name, limit)
	}
}

// Self are the ids of this process; ok is false where its groups cannot be told.
func Self() (uid uint32, gids []uint32, ok bool) {
	groups, err := os.Getgroups()
	if err != nil {
		return 0, nil, false
	}
	gids = []uint32{uint32(os.Getgid())}
	for _, g := range groups {
		gids = append(gids, uint32(g))
	}
	return uint32(os.Getuid()), gids, true
}

// Account is a user as this machine knows it.
type Account struct {
	UID, GID   uint32
	GIDs       []uint32
	Name, Home string
}

// Of finds a user by name, with all groups.
func Of(name string) (Account, error) {
	u, err := user.Lookup(name)
	if err != nil {
		return Account{}, err
	}
	texts, err := u.GroupIds()
	if err != nil {
		return Account{}, err
	}
	a := Account{Name: u.Username, Home: u.HomeDir}
	var fault error
	number := func(text string) uint32 {
		n, err := strconv.ParseUint(text, 10, 32)
		fault = errors.Join(fault, err)
		return uint32(n)
	}
	a.UID, a.GID = number(u.Uid), number(u.Gid)
	for _, text := range texts {
		a.GIDs = append(a.GIDs, number(text))
	}
	return a, fault
}

// Me is the name of who runs this process; empty where it has none.
func Me() string {
	u, err := user.Current()
	if err != nil {
		return ""
	}
	return u.Username
}
