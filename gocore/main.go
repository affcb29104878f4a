// SPDX-License-Identifier: Apache-2.0

// The core as a c-shared library: the calls of include/gocore.h and nothing else. Only
// this package knows C. Every export recovers: a panic here would kill slurmstepd.
package main

// #include <stdlib.h>
// #include "../include/gocore.h"
import "C"

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
	"unsafe"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/core"
)

func main() {}

// The core lives in slurmstepd, whose memory counts against the job's on cgroup v2: it
// collects early and takes few threads.
func init() {
	debug.SetGCPercent(50)
	runtime.GOMAXPROCS(2)
}

//export coreReady
func coreReady() {} // cgo lets no call through before Go has begun

//export coreValidate
func coreValidate(host *C.struct_k8s_host, request *C.struct_k8s_request, text *C.char, capacity C.size_t) (status C.int) {
	defer recovered(text, capacity, &status, 0)
	faults, warnings := core.Validate(fieldsOf(request))
	if len(faults) > 0 {
		say(text, capacity, strings.Join(faults, "\n"))
		return 1
	}
	say(text, capacity, strings.Join(warnings, "\n"))
	return 0
}

//export coreStart
func coreStart(host *C.struct_k8s_host, request *C.struct_k8s_request, relays *C.int, count C.size_t, text *C.char, capacity C.size_t) (handle C.int) {
	defer recovered(text, capacity, &handle, 0)
	sockets := make([]int, count)
	for i, fd := range unsafe.Slice(relays, count) {
		sockets[i] = int(fd)
	}
	h, err := core.Start(newHost(host), fieldsOf(request), sockets)
	if err != nil {
		say(text, capacity, err.Error())
	}
	return C.int(h)
}

//export coreFinish
func coreFinish(handle C.int, seconds C.uint, text *C.char, capacity C.size_t) (status C.int) {
	defer recovered(text, capacity, &status, 1)
	if left := core.Finish(int(handle), bound(seconds)); left != "" {
		say(text, capacity, left)
		return 1
	}
	return 0
}

//export coreReap
func coreReap(host *C.struct_k8s_host, request *C.struct_k8s_request, seconds C.uint, text *C.char, capacity C.size_t) (status C.int) {
	defer recovered(text, capacity, &status, 1)
	if left := core.Reap(newHost(host), fieldsOf(request), bound(seconds)); left != "" {
		say(text, capacity, left)
		return 1
	}
	return 0
}

func bound(seconds C.uint) time.Duration { return time.Duration(seconds) * time.Second }

// recovered turns a panic into a status and a text. To be deferred.
func recovered(text *C.char, capacity C.size_t, status *C.int, on C.int) {
	if r := recover(); r != nil {
		say(text, capacity, fmt.Sprintf("internal error: %v", r))
		*status = on
	}
}

// fieldsOf copies a request's vector. A host of an older build has a smaller struct:
// there is nothing beyond fields yet.
func fieldsOf(request *C.struct_k8s_request) []string {
	if request == nil || request.size < C.size_t(unsafe.Sizeof(*request)) || request.fields == nil {
		return nil
	}
	return vector(request.fields)
}

// vector copies a NULL-ended vector.
func vector(fields **C.char) []string {
	var out []string
	for p := fields; *p != nil; p = (**C.char)(unsafe.Add(unsafe.Pointer(p), unsafe.Sizeof(p))) {
		out = append(out, C.GoString(*p))
	}
	return out
}

// say writes text, cut and NUL-ended, into the caller's buffer.
func say(buffer *C.char, capacity C.size_t, text string) {
	if buffer == nil || capacity == 0 {
		return
	}
	room := unsafe.Slice((*byte)(unsafe.Pointer(buffer)), capacity)
	room[copy(room[:capacity-1], text)] = 0
}
