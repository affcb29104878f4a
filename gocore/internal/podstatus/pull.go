// SPDX-License-Identifier: Apache-2.0

package podstatus

import (
	"regexp"
	"strings"
)

// A failed pull by whose fault it is. The texts are containerd's and its resolver's; CRI
// has no codes for them. Network comes first: "no such host" must not read as "not found".
var (
	pullNetwork = []string{
		"no such host", "i/o timeout", "connection refused", "connection reset", "no route to host", "network is unreachable",
		"tls handshake", "x509:", "server misbehaving", "context deadline exceeded", "client.timeout", "unexpected eof", ": eof",
		"too many requests", "toomanyrequests", "500 internal", "502 bad", "503 service", "504 gateway", "bad gateway",
		"service unavailable", "gave http response to https", "no space left on device", "temporary failure", "broken pipe",
	}
	pullDenied = []string{
		"pull access denied", "insufficient_scope", "authorization failed", "unauthorized", "forbidden", "denied",
		"no basic auth credentials", "authentication required",
	}
	pullPlatform = []string{"no match for platform", "no matching manifest", "does not match the specified platform"}
	pullNotFound = []string{"not found", "notfound", "manifest unknown", "manifest_unknown", "name unknown", "name_unknown", "no such image", "does not exist"}
)

var quoted = regexp.MustCompile(`"[^"]*"`)

// pullFault classes a failed pull: what is not there or denied will be so again; the
// network and what nobody knows is retried until the start limit.
func pullFault(message, image string) (Class, Kind) {
	text := pullCause(message, image)
	switch {
	case containsAny(text, pullNetwork):
		return ClassRetry, KindImagePull
	case containsAny(text, pullDenied):
		return ClassFinal, KindImageDenied
	case containsAny(text, pullPlatform):
		return ClassFinal, KindImagePlatform
	case containsAny(text, pullNotFound):
		return ClassFinal, KindImageNotFound
	}
	return ClassRetry, KindImagePull
}

// pullCause is the message without the image's name and anything quoted, in lower case:
// an image called "denied/not-found" must not decide its own class.
func pullCause(message, image string) string {
	text := quoted.ReplaceAllString(message, "")
	if image != "" {
		text = strings.ReplaceAll(text, image, "")
	}
	// The resolver repeats the name in full before its cause: "docker.io/library/x:1: not found".
	words := strings.Fields(text)
	kept := words[:0]
	for _, w := range words {
		if strings.Contains(w, "/") && !strings.HasPrefix(w, "i/o") {
			continue
		}
		kept = append(kept, w)
	}
	return strings.ToLower(strings.Join(kept, " ")) + " "
}

func containsAny(text string, any []string) bool {
	for _, a := range any {
		if strings.Contains(text, a) {
			return true
		}
	}
	return false
}
