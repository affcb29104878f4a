// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"time"
)

// set changes how the proxy behaves, in one moment.
func (p *proxy) set(change func()) func() error {
	return func() error {
		p.mu.Lock()
		defer p.mu.Unlock()
		change()
		return nil
	}
}

func proxyReset(w *world, s *strike, h *hit) (func() error, error) {
	h.target = fmt.Sprintf("%d connections", w.proxy.reset())
	return nil, nil
}

func proxyStall(w *world, s *strike, h *hit) (func() error, error) {
	p := w.proxy
	over := make(chan struct{})
	p.set(func() { p.stalled = over })()
	return p.set(func() { p.stalled = nil; close(over) }), nil
}

func proxyDelay(w *world, s *strike, h *hit) (func() error, error) {
	p := w.proxy
	p.set(func() { p.delay = time.Duration(200+s.pick%1800) * time.Millisecond })()
	h.target = "by " + p.delay.String()
	return p.set(func() { p.delay = 0 }), nil
}

// proxyRefuse: nobody listens, and what was connected is gone.
func proxyRefuse(w *world, s *strike, h *hit) (func() error, error) {
	p := w.proxy
	address := p.address
	p.mu.Lock()
	listener := p.listener
	p.mu.Unlock()
	listener.Close()
	p.reset()
	return func() error {
		if err := p.listen(address); err != nil {
			return err
		}
		go p.serve()
		return nil
	}, nil
}

func proxyAnswer(status int, e effect) *faultKind {
	return &faultKind{name: fmt.Sprintf("api-%d", status), what: fmt.Sprintf("every request is answered by %d", status),
		low: 2 * time.Second, high: 10 * time.Second, alone: "proxy", effect: e,
		inject: func(w *world, s *strike, h *hit) (func() error, error) {
			p := w.proxy
			h.reach.all = true
			p.set(func() { p.answer = status })()
			return p.set(func() { p.answer = 0 }), nil
		}}
}

var proxyFaults = []*faultKind{
	{name: "api-reset", what: "every connection to the API is reset", alone: "proxy", effect: none, inject: proxyReset},
	{name: "api-stall", what: "every connection to the API stands still, beyond kubelet's and the core's patience too", low: 5 * time.Second, high: 45 * time.Second, alone: "proxy", effect: none, inject: proxyStall},
	{name: "api-delay", what: "every request waits", low: 5 * time.Second, high: 20 * time.Second, alone: "proxy", effect: none, inject: proxyDelay},
	{name: "api-refuse", what: "connections to the API are refused", low: 2 * time.Second, high: 12 * time.Second, alone: "proxy", effect: none, inject: proxyRefuse},
	// Forbidden is a rule's word, and a job that is refused by a rule is told so and fails.
	proxyAnswer(403, deadly), proxyAnswer(409, none), proxyAnswer(429, none), proxyAnswer(500, none), proxyAnswer(503, none),
	{name: "api-token", what: "the node's token has expired, and is replaced by a new one", low: 3 * time.Second, high: 10 * time.Second, alone: "proxy", effect: none, inject: expireToken},
}
