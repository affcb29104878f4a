// SPDX-License-Identifier: Apache-2.0

package core

import (
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/sirupsen/logrus"
	"k8s.io/klog/v2"
)

// newLogger logs into the host's log and nowhere else: slurmstepd's own stderr is the
// job's output. client-go's klog is silenced for the same reason.
func newLogger(host Host) *logrus.Logger {
	klog.SetLogger(klog.Logger{})
	klog.SetOutput(io.Discard)
	klog.LogToStderr(false)
	log := logrus.New()
	log.SetOutput(io.Discard)
	log.SetLevel(logrus.DebugLevel)
	log.AddHook(&hostHook{host})
	return log
}

// logStream hands the stream's lines on.
func logStream(log logrus.FieldLogger) func(slog.Level, string) {
	return func(level slog.Level, text string) {
		switch {
		case level >= slog.LevelError:
			log.Error(text)
		case level >= slog.LevelInfo:
			log.Info(text)
		default:
			log.Debug(text)
		}
	}
}

type hostHook struct{ host Host }

// Levels implements logrus.Hook.
func (h *hostHook) Levels() []logrus.Level { return logrus.AllLevels }

// Fire implements logrus.Hook: one line, the job first.
func (h *hostHook) Fire(entry *logrus.Entry) error {
	var line strings.Builder
	if id, ok := entry.Data["job"]; ok {
		fmt.Fprintf(&line, "job %v: ", id)
	}
	line.WriteString(entry.Message)
	if err, ok := entry.Data[logrus.ErrorKey]; ok {
		fmt.Fprintf(&line, ": %v", err)
	}
	level := 1
	switch entry.Level {
	case logrus.PanicLevel, logrus.FatalLevel, logrus.ErrorLevel:
		level = 0
	case logrus.DebugLevel, logrus.TraceLevel:
		level = 2
	}
	h.host.Log(level, strings.Join(strings.Fields(line.String()), " "))
	return nil
}
