// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"
)

const (
	backoffFirst  = 100 * time.Millisecond
	backoffMost   = 5 * time.Second
	livedLongAgo  = 5 * time.Second // a connection this old starts the backoff anew
	maxBreaches   = 5               // connections in a row that end by a breach
	detachPatient = time.Second     // for podinit to close after DETACH
)

// Run keeps one pump connected until Detach is done (nil), ctx ends (its cause),
// podinit is gone (ErrGone) or breaks the protocol five times in a row (ErrProtocol). Called once,
// from a goroutine of the owner's; it leaves no goroutine behind.
func (s *Session) Run(ctx context.Context) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.mu.Lock()
	if s.cancel != nil {
		s.mu.Unlock()
		return errors.New("stream: Run was called before")
	}
	s.cancel = cancel
	if s.detach {
		s.ended = true
		s.broadcast()
	}
	over := s.ended
	s.mu.Unlock()
	if over {
		return nil
	}

	err = guard("the session", func() error { return s.keep(ctx) })

	s.mu.Lock()
	defer s.mu.Unlock()
	if s.detach {
		if err != nil && !s.detached {
			s.log(slog.LevelWarn, "podinit was not told to go: %v", err)
		}
		err = nil
	}
	s.ended, s.endErr, s.launches = true, err, nil
	s.broadcast()
	return err
}

// keep connects again and again.
func (s *Session) keep(ctx context.Context) error {
	backoff, breaches, failures := backoffFirst, 0, 0
	for {
		if s.isDone(ctx) {
			return context.Cause(ctx)
		}
		met, lived, err := s.connect(ctx)
		if s.isDone(ctx) {
			return context.Cause(ctx)
		}
		if errors.Is(err, ErrGone) {
			return err
		}
		if lived >= livedLongAgo {
			backoff = backoffFirst
		}
		if errors.Is(err, ErrProtocol) {
			if breaches++; breaches == maxBreaches {
				return fmt.Errorf("%d connections in a row to podinit: %w", breaches, err)
			}
		} else if met {
			breaches = 0
		}
		if met {
			failures = 0
		}
		wait := backoff/2 + rand.N(backoff/2+1)
		if failures++; failures&(failures-1) == 0 { // 1, 2, 4, ... in a row
			s.log(slog.LevelWarn, "stream to podinit lost or not there: %v; attempt %d follows in %s", err, failures+1, wait.Round(time.Millisecond))
		}
		backoff = min(2*backoff, backoffMost)
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
}

// isDone says whether no further connection is wanted.
func (s *Session) isDone(ctx context.Context) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.detached || ctx.Err() != nil
}
