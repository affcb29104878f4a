// SPDX-License-Identifier: Apache-2.0

// Package core joins the packages into what include/gocore.h promises: it makes the
// adapters, hands them to a step's life and keeps the handles. It knows no C.
package core

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/sirupsen/logrus"
	"golang.org/x/sys/unix"
	"k8s.io/utils/clock"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/identity"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/job"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/lifecycle"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/report"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/stream"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/turn"
)

// Host is the process that loaded the core.
type Host interface {
	lifecycle.Slurm
	// Log writes one line; levels of gocore.h.
	Log(level int, line string)
}

var (
	mu    sync.Mutex
	steps = map[int]*lifecycle.Step{}
	last  int
)

// errNoHost: newer cores ask more of a host than an older one's table has.
var errNoHost = errors.New("the plugin is older than its core: install both from one package")

// Start takes over the relays' sockets and runs the step in a goroutine of its own. A
// fault of the configuration is told to the relays, and the handle is good all the same. Where it
// fails, or panics, the sockets are still the host's. A host that cannot be used is nil.
func Start(host Host, fields []string, sockets []int) (int, error) {
	if host == nil {
		return 0, errNoHost
	}
	log := newLogger(host)
	hasCommands := request(fields).get("commands") == "1" && len(sockets) > 1
	relays, err := newRelays(sockets, hasCommands)
	if err != nil {
		return 0, err
	}
	var commands *stream.Relay
	if hasCommands {
		commands = relays[len(relays)-1]
		relays = relays[:len(relays)-1]
	}
	step := newStep(host, log, fields, relays, commands)
	for _, fd := range sockets {
		syscall.Close(fd)
	}
	mu.Lock()
	last++
	handle := last
	steps[handle] = step
	mu.Unlock()
	go run(step, relays, commands, log)
	return handle, nil
}

// run lives the step's life; the relays' sockets are read and written for as long as it
// lasts, and until each relay has gone or the process ends.
func run(step *lifecycle.Step, relays []*stream.Relay, commands *stream.Relay, log logrus.FieldLogger) {
	if commands != nil {
		go func() {
			defer recovered(log, "commands")
			// It ends when the step closes it.
			if err := commands.Run(context.Background()); err != nil && !errors.Is(err, net.ErrClosed) {
				log.WithError(err).Info("the socket of Slurm's commands ended")
			}
		}()
	}
	var there atomic.Int64
	there.Store(int64(len(relays)))
	for _, relay := range relays {
		go func() {
			defer recovered(log, "relay")
			if err := relay.Run(context.Background()); err != nil {
				log.WithError(err).Info("the relay's socket ended")
			}
			if there.Add(-1) == 0 {
				step.Reached(lifecycle.StageRelayGone)
			}
		}()
	}
	defer recovered(log, "step")
	step.Run()
}

func recovered(log logrus.FieldLogger, what string) {
	if r := recover(); r != nil {
		log.Errorf("panic in the goroutine of the %s: %v", what, r)
	}
}

// Finish ends the step within the bound and forgets it; what is left, or "".
func Finish(handle int, bound time.Duration) string {
	mu.Lock()
	step := steps[handle]
	delete(steps, handle)
	mu.Unlock()
	if step == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	defer cancel()
	return step.Finish(ctx)
}

// newRelays makes relays of copies of the sockets.
func newRelays(sockets []int, hasCommands bool) ([]*stream.Relay, error) {
	relays := make([]*stream.Relay, 0, len(sockets))
	for i, fd := range sockets {
		conn, err := dupConn(fd)
		if err != nil {
			for _, relay := range relays {
				relay.Close()
			}
			return nil, fmt.Errorf("socket of relay %d: %w", i, err)
		}
		number := uint32(i)
		if hasCommands && i == len(sockets)-1 {
			number = stream.TaskCommands
		}
		relays = append(relays, stream.NewRelay(conn, number))
	}
	return relays, nil
}

// dupConn makes a connection of a copy of the descriptor.
func dupConn(fd int) (net.Conn, error) {
	copied, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, err
	}
	file := os.NewFile(uintptr(copied), "relay")
	defer file.Close()
	return net.FileConn(file)
}

// newStep makes the step; where it cannot run, one that tells so.
func newStep(host Host, log *logrus.Logger, fields []string, relays []*stream.Relay, commands *stream.Relay) *lifecycle.Step {
	id, _ := strconv.ParseUint(request(fields).get("job_id"), 10, 32)
	entry := log.WithField("job", id)
	config := lifecycle.Config{
		Job: job.Job{ID: uint32(id), Step: request(fields).get("step_id")}, Slurm: host, Directory: identity.System{},
		SessionID: sessionID, Random: mathrand.Float64, Clock: clock.RealClock{}, Log: entry,
	}
	for _, relay := range relays {
		config.Relays = append(config.Relays, relay)
	}
	if commands != nil {
		config.Commands = commands
	}
	config.NewSession = func(id uint64, dial stream.Dialer, reached func(string)) lifecycle.Session {
		return session{stream.NewSession(stream.Config{
			ID: id, Relays: relays, Commands: commands, Dial: dial, Rate: config.Site.Output.Rate, Log: logStream(entry), Reached: reached,
		}), relays}
	}
	if err := complete(&config, fields); err != nil {
		entry.WithError(err).Info("the step cannot run")
		config.Fault = report.Configuration(err)
	}
	return lifecycle.New(config)
}

// complete reads what the step needs from the request and root's files.
func complete(config *lifecycle.Config, fields []string) (err error) {
	request := request(fields)
	j, err := job.FromFields(fields)
	if err != nil {
		return err
	}
	config.Job = j
	if state := request.get("state"); state != "" {
		config.Turns = turn.Folder(state)
	}
	if config.Site, err = site.Load(request.get("config")); err != nil {
		return err
	}
	if config.Podinit, err = readPodinit(request.get("libexec")); err != nil {
		return err
	}
	if len(config.Site.Clusters) > 0 {
		config.Open = func(place *site.Config) (lifecycle.Cluster, error) { return openCluster(place) }
		return nil
	}
	config.Cluster, err = openCluster(config.Site)
	return err
}

// sessionID is random and never 0, which on the wire means no session.
func sessionID() uint64 {
	var b [8]byte
	for {
		rand.Read(b[:])
		if id := binary.BigEndian.Uint64(b[:]); id != 0 {
			return id
		}
	}
}

// podinitMax bounds the program: a ConfigMap holds 1 MiB.
const podinitMax = 900 << 10

// readPodinit reads the program that will be process 1 of the container. Only root may
// be able to change it: it runs as every user.
func readPodinit(libexec string) ([]byte, error) {
	file, err := os.Open(libexec + "/podinit")
	if err != nil {
		return nil, fmt.Errorf("podinit: %w", err)
	}
	defer file.Close()
	if err := site.CheckProgram(file); err != nil {
		return nil, err
	}
	program, err := io.ReadAll(io.LimitReader(file, podinitMax+1))
	if err != nil {
		return nil, fmt.Errorf("podinit: %w", err)
	}
	if len(program) == 0 || len(program) > podinitMax {
		return nil, fmt.Errorf("podinit: %q has %d bytes; 1 to %d are allowed", file.Name(), len(program), podinitMax)
	}
	return program, nil
}
