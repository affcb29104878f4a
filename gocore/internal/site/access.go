// SPDX-License-Identifier: Apache-2.0

package site

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ErrNobody is a Directory's answer for a name that it does not know.
var ErrNobody = errors.New("no such name")

// Directory knows the numbers of users and groups.
type Directory interface {
	UID(name string) (uint32, error)
	GID(name string) (uint32, error)
}

// Who is a job as the site's lists see it. What is nil is not known, which only a
// submission's check may leave so.
type Who struct {
	UID        *uint32
	GIDs       []uint32
	Accounts   []string
	Partitions []string // a submission may name several
}

// Verdict of the site's lists.
type Verdict int

// Unknown: some list could not be asked, and no other refuses.
const (
	Refused Verdict = iota
	Allowed
	Unknown
)

// Allows tells whether a job may use the volume; why is the list that refuses. It must be in
// each list that is not empty, as for a partition of Slurm's with AllowGroups and AllowAccounts.
// An error: a name could not be looked up; then it may not.
func (v Volume) Allows(who Who, directory Directory) (verdict Verdict, why string, err error) {
	verdict = Allowed
	judge := func(list []string, key string, known bool, has func(string) (bool, error)) {
		if len(list) == 0 || verdict == Refused {
			return
		}
		if !known {
			verdict = Unknown
			return
		}
		for _, name := range list {
			found, fault := has(name)
			if found {
				return
			}
			err = errors.Join(err, fault)
		}
		verdict, why = Refused, key
	}
	judge(v.Users, "users", who.UID != nil, func(name string) (bool, error) {
		uid, err := number(name, directory.UID)
		return err == nil && uid == *who.UID, known(err)
	})
	judge(v.Groups, "groups", who.GIDs != nil, func(name string) (bool, error) {
		gid, err := number(name, directory.GID)
		return err == nil && slices.Contains(who.GIDs, gid), known(err)
	})
	judge(v.Accounts, "accounts", who.Accounts != nil, func(name string) (bool, error) {
		// Slurm keeps accounts in small letters.
		return slices.ContainsFunc(who.Accounts, func(a string) bool { return strings.EqualFold(a, name) }), nil
	})
	judge(v.Partitions, "partitions", who.Partitions != nil, func(name string) (bool, error) {
		return slices.Contains(who.Partitions, name), nil
	})
	if verdict == Refused {
		return verdict, why, err
	}
	return verdict, "", nil
}

// number is a name's, or the number itself.
func number(name string, lookup func(string) (uint32, error)) (uint32, error) {
	if n, err := strconv.ParseUint(name, 10, 32); err == nil {
		return uint32(n), nil
	}
	return lookup(name)
}

// known: that nobody has the name is an answer; that it could not be asked is none.
func known(err error) error {
	if err == nil || errors.Is(err, ErrNobody) {
		return nil
	}
	return fmt.Errorf("the site's list cannot be read: %w", err)
}
