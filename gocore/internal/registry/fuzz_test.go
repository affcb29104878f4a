// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-containerregistry/pkg/name"
)

// answers dials connections on which each request gets the next of these answers, byte for byte,
// and then their end. Every host is this one: nothing leaves the process.
func answers(all ...[]byte) func(context.Context, string, string) (net.Conn, error) {
	next := make(chan []byte, len(all))
	for _, answer := range all {
		next <- answer
	}
	return func(context.Context, string, string) (net.Conn, error) {
		here, there := net.Pipe()
		go func() {
			defer there.Close()
			if _, err := http.ReadRequest(bufio.NewReader(there)); err != nil {
				return
			}
			select {
			case answer := <-next:
				_, _ = there.Write(answer)
			default:
			}
		}()
		return here, nil
	}
}

// FuzzAnswers: whatever answers as a registry, there is a verdict, and what of its text is
// quoted to the user is one short line.
func FuzzAnswers(f *testing.F) {
	const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
	const manifest = "HTTP/1.1 200 OK\r\nContent-Type: application/vnd.oci.image.manifest.v1+json\r\nContent-Length: 2\r\n" +
		"Docker-Content-Digest: sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a\r\n\r\n"
	f.Add([]byte(ok), []byte(manifest), []byte(manifest+"{}"))
	f.Add([]byte(ok), []byte("HTTP/1.1 404 Not Found\r\n\r\n"), []byte("HTTP/1.1 404 Not Found\r\nContent-Length: 47\r\n\r\n"+
		`{"errors":[{"code":"NAME_UNKNOWN","message":""}]}`))
	f.Add([]byte("HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer realm=\"http://localhost/t\",service=\"s\"\r\n\r\n"),
		[]byte("HTTP/1.1 200 OK\r\n\r\n"+`{"token":"x","expires_in":1}`), []byte(manifest))
	f.Add([]byte(ok), []byte("HTTP/1.1 301 Moved\r\nLocation: http://localhost/v2/\r\n\r\n"), []byte("HTTP/1.1 429 Slow\r\n\r\n"))
	f.Fuzz(func(t *testing.T, first, second, third []byte) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		transport := newTransport(newHostSet(nil))
		transport.Proxy, transport.DialContext = nil, answers(first, second, third)
		transport.DialTLSContext = transport.DialContext
		defer transport.CloseIdleConnections()
		result := check(ctx, "localhost/image:1", transport)
		if result.Kind == Malformed || result.Registry != "localhost" {
			t.Fatalf("%+v", result)
		}
		if (result.Kind == Exists) != (result.Digest != "") || (result.Kind == Exists) == (result.Reason != "") {
			t.Fatalf("%+v", result)
		}
		if _, err := name.NewDigest("localhost/image@" + result.Digest); result.Kind == Exists && err != nil {
			t.Fatal(err)
		}
		odd := func(r rune) bool { return !unicode.IsPrint(r) }
		if utf8.RuneCountInString(result.Reason) > maxReason+3 || strings.ContainsFunc(result.Reason, odd) {
			t.Fatalf("%q", result.Reason)
		}
	})
}
