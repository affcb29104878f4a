// SPDX-License-Identifier: Apache-2.0

package main

// #include <stdlib.h>
// #include "../include/gocore.h"
// static void host_log(const struct k8s_host *h, int level, const char *line) { h->log(level, line); }
// static int host_facts(const struct k8s_host *h, uint32_t id, char *out, size_t n) { return h->job_facts(id, out, n); }
// static int host_requeue(const struct k8s_host *h, uint32_t id) { return h->requeue(id); }
// static int host_update(const struct k8s_host *h, uint32_t id, char **f) { return h->update(id, (const char *const *)f); }
// static int host_end_step(const struct k8s_host *h, uint32_t id, uint32_t step) { return h->end_step(id, step); }
// static int host_step_facts(const struct k8s_host *h, uint32_t id, uint32_t step, char *out, size_t n) { return h->step_facts(id, step, out, n); }
// static int host_amend(const struct k8s_host *h, uint32_t id, char **f, char *out, size_t n) { return h->amend(id, (const char *const *)f, out, n); }
// static int host_complete(const struct k8s_host *h, uint32_t id) { return h->complete_out_of_memory(id); }
import "C"

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"unsafe"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/core"
)

// host is the process that loaded the core. It implements lifecycle.Slurm. The table is
// copied, since the host's own need not outlive the call that brought it.
type host struct{ table C.struct_k8s_host }

// newHost is nil for a table that is missing, or of a host that is older than what the core asks of it.
func newHost(table *C.struct_k8s_host) core.Host {
	if table == nil || table.size < C.size_t(unsafe.Sizeof(*table)) {
		return nil
	}
	return &host{table: *table}
}

// factsCapacity holds the facts of any job: AdminComment is the longest, at most 4 KiB of
// ours; somebody else's may be longer, then one larger attempt is made.
const (
	factsCapacity    = 64 << 10
	factsCapacityMax = 4 << 20
)

// slurmError is what a Slurm call answered.
type slurmError struct {
	call string
	code int
}

func (e *slurmError) Error() string {
	if e.code < 1000 { // Slurm's own begin there
		return e.call + ": " + syscall.Errno(e.code).Error()
	}
	return fmt.Sprintf("%s: Slurm error %d", e.call, e.code)
}

func answer(call string, code C.int) error {
	if code == 0 {
		return nil
	}
	return &slurmError{call, int(code)}
}

// Facts implements lifecycle.Slurm.
func (h *host) Facts(jobID uint32) ([]string, error) {
	return facts("slurm_load_job", func(out *C.char, capacity C.size_t) C.int {
		return C.host_facts(&h.table, C.uint32_t(jobID), out, capacity)
	})
}

// StepFacts implements lifecycle.Slurm.
func (h *host) StepFacts(jobID, step uint32) ([]string, error) {
	return facts("slurm_get_job_steps", func(out *C.char, capacity C.size_t) C.int {
		return C.host_step_facts(&h.table, C.uint32_t(jobID), C.uint32_t(step), out, capacity)
	})
}

// facts gets what ask writes: fields, each NUL-ended, after the last an empty one.
func facts(call string, ask func(out *C.char, capacity C.size_t) C.int) ([]string, error) {
	for capacity := factsCapacity; ; capacity = factsCapacityMax {
		buffer := C.calloc(1, C.size_t(capacity)) // a row without fields is one NUL
		code := ask((*C.char)(buffer), C.size_t(capacity))
		text := ""
		if code == 0 {
			text = string(unsafe.Slice((*byte)(buffer), capacity))
		}
		C.free(buffer)
		if code == 0 {
			fields, _, _ := strings.Cut(text, "\x00\x00")
			return strings.Split(strings.Clone(fields), "\x00"), nil
		}
		if code > 0 || capacity == factsCapacityMax {
			return nil, answer(call, code)
		}
	}
}

// EndStep implements lifecycle.Slurm.
func (h *host) EndStep(jobID, step uint32) error {
	return answer("slurm_kill_job_step", C.host_end_step(&h.table, C.uint32_t(jobID), C.uint32_t(step)))
}

// Requeue implements lifecycle.Slurm.
func (h *host) Requeue(jobID uint32) error {
	return answer("slurm_requeue", C.host_requeue(&h.table, C.uint32_t(jobID)))
}

// CompleteOutOfMemory implements lifecycle.Slurm.
func (h *host) CompleteOutOfMemory(jobID uint32) error {
	return answer("slurm_complete_job", C.host_complete(&h.table, C.uint32_t(jobID)))
}

// Update implements lifecycle.Slurm.
func (h *host) Update(jobID uint32, fields []string) error {
	vector, free := fieldVector(fields)
	defer free()
	return answer("slurm_update_job", C.host_update(&h.table, C.uint32_t(jobID), vector))
}

// Amend implements lifecycle.Slurm.
func (h *host) Amend(jobID uint32, fields []string) (present string, changed bool, err error) {
	vector, free := fieldVector(fields)
	defer free()
	out := C.calloc(1, C.size_t(factsCapacity))
	defer C.free(out)
	code := C.host_amend(&h.table, C.uint32_t(jobID), vector, (*C.char)(out), C.size_t(factsCapacity))
	if code == C.int(syscall.EAGAIN) {
		return C.GoString((*C.char)(out)), false, nil
	}
	return "", code == 0, answer("slurmdb_job_modify", code)
}

// fieldVector is a NULL-ended vector in C's memory, and what frees it.
func fieldVector(fields []string) (**C.char, func()) {
	pointers := C.malloc(C.size_t(len(fields)+1) * C.size_t(unsafe.Sizeof((*C.char)(nil))))
	vector := unsafe.Slice((**C.char)(pointers), len(fields)+1)
	for i, field := range fields {
		vector[i] = C.CString(field)
	}
	vector[len(fields)] = nil
	return (**C.char)(pointers), func() {
		for _, field := range vector {
			C.free(unsafe.Pointer(field))
		}
		C.free(pointers)
	}
}

// Slurm's error numbers (slurm_errno.h) that matter here; the same from 22.05 on.
const (
	errDisabled     = 2037 // ESLURM_DISABLED: --no-requeue
	errSettingIndex = 2103 // ESLURM_JOB_SETTING_DB_INX
	errFinished     = 2084 // ESLURM_JOB_FINISHED
)

// Final implements lifecycle.Slurm: what slurmctld itself answered, but for the states
// that pass by themselves, is final; a controller that cannot be reached is not.
func (h *host) Final(err error) bool {
	var e *slurmError
	return errors.As(err, &e) && e.code >= 2000 && e.code < 3000 && !passing[e.code] && syscall.Errno(e.code) != syscall.EAGAIN
}

// passing are answers of a controller that will answer otherwise in a moment.
var passing = map[int]bool{
	2027:            true, // ESLURM_IN_STANDBY_MODE
	2131:            true, // ESLURM_IN_STANDBY_USE_BACKUP
	2020:            true, // ESLURM_TRANSITION_STATE_NO_UPDATE
	errSettingIndex: true,
}

// NoRequeue implements lifecycle.Slurm.
func (h *host) NoRequeue(err error) bool {
	var e *slurmError
	return errors.As(err, &e) && e.code == errDisabled
}

// Ended implements lifecycle.Slurm.
func (h *host) Ended(err error) bool {
	var e *slurmError
	return errors.As(err, &e) && e.code == errFinished
}

// Log writes one line into Slurm's log.
func (h *host) Log(level int, line string) {
	text := C.CString(line)
	C.host_log(&h.table, C.int(level), text)
	C.free(unsafe.Pointer(text))
}
