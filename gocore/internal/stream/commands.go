// SPDX-License-Identifier: Apache-2.0

package stream

import "time"

// The Relay of TaskCommands is the core's end of the socket to the process that runs Slurm's
// commands for the tasks. It is one as far as streams go: it sends an empty HELLO, gets what
// podinit says as its stdout, and says what podinit is to get as stdin.

// Offer is what of Slurm's commands the tasks of a Pod may call: it goes to the process that
// runs them on the Slurm node.
type Offer struct {
	Commands []string // names; with " queries" behind where the command may change nothing
	Path     []string // directories of the Slurm node, in order
	Env      []string // NAME=value, for every command
}

// Offer says what may be called. Before it, and before the first call, the process hears nothing.
func (r *Relay) Offer(offer Offer) {
	var b []byte
	for _, list := range []struct {
		tag    byte
		values []string
	}{{recordCommand, offer.Commands}, {recordPath, offer.Path}, {recordEnv, offer.Env}} {
		for _, value := range list.values {
			b = AppendRecord(b, Record{list.tag, TaskAll, []byte(value)})
		}
	}
	r.mu.Lock()
	r.offer, r.begun.want = b, true
	r.mu.Unlock()
	r.write.ring()
}

// Called says whether a task has called anything.
func (r *Relay) Called() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.begun.sent
}

// commandsLimit is what the process gets to end its commands, in which they give back what they have of
// Slurm; it takes 2 s itself, then it kills them.
const commandsLimit = 3 * time.Second

// End ends the process behind the socket, and returns when it has ended with all that it ran, or after
// commandsLimit. Slurm kills both when the last task is over, and an allocation of a killed salloc's
// would stay. Any goroutine may call it, and again.
func (r *Relay) End() {
	defer func() { _ = r.Close() }()
	if !r.Called() {
		return
	}
	r.Exit(Exit{})
	late := time.NewTimer(commandsLimit)
	defer late.Stop()
	select {
	case <-r.done:
	case <-late.C:
	}
}

// commands sends what the process on the Slurm node says, and that it is gone where it is; with
// Session.mu.
func (o *outgoing) commands(t *task) (more bool) {
	if !t.forward || !o.s.started {
		return false
	}
	if more = o.input(t); more {
		return true
	}
	select {
	case <-t.relay.done:
	default:
		return false
	}
	if !t.inputEOF {
		t.inputEOF = true
		_ = o.w.queue(Frame{Type: TypeEOF, Stream: Stdin, Task: TaskCommands, Offset: t.input})
	}
	return false
}
