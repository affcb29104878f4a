// SPDX-License-Identifier: Apache-2.0

package fakekubelet

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/gorilla/websocket"

	"k8s.io/apimachinery/pkg/util/remotecommand"
)

// The protocol of an exec is v5.channel.k8s.io: the first byte of a message is its channel. The API server hands the
// client's websocket through as it is, since our node says that it takes one.
const (
	protocol       = "v5.channel.k8s.io"
	channelStdin   = remotecommand.StreamStdIn
	channelStdout  = remotecommand.StreamStdOut
	channelError   = remotecommand.StreamErr
	channelClose   = remotecommand.StreamClose
	success        = `{"metadata":{},"status":"Success"}`
	podinitProgram = "/.slurm-k8s/bin/podinit"
)

var upgrader = websocket.Upgrader{Subprotocols: []string{protocol}, CheckOrigin: func(*http.Request) bool { return true }}

// exec is kubelet's /exec/NAMESPACE/POD/CONTAINER, for podinit's pump alone.
func (k *Kubelet) exec(w http.ResponseWriter, r *http.Request) {
	command := r.URL.Query()["command"]
	if len(command) < 2 || command[0] != podinitProgram || command[1] != "pump" {
		http.Error(w, fmt.Sprintf("a fake kubelet runs podinit's pump alone, not %q", command), http.StatusInternalServerError)
		return
	}
	pod := k.find(r.PathValue("namespace"), r.PathValue("pod"))
	session, err := sessionOf(command)
	if pod == nil || err != nil || session != pod.podinit.session {
		http.Error(w, "pod does not exist", http.StatusNotFound)
		return
	}
	conn, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return // it was told
	}
	pump := &execStream{conn: conn, limit: 10 * time.Second}
	defer pump.Close()
	if pod.podinit.serve(pump) != nil {
		return // another pump will come
	}
	_ = pump.end()
	k.over(pod)
}

// execStream is stdin and stdout of one exec. One goroutine reads; writes have podinit's lock.
type execStream struct {
	conn  *websocket.Conn
	rest  io.Reader     // of the message that is being read
	limit time.Duration // of one write
}

func (s *execStream) Read(p []byte) (int, error) {
	for {
		if s.rest == nil {
			_, message, err := s.conn.NextReader()
			if err != nil {
				return 0, err
			}
			var channel [1]byte
			if _, err := io.ReadFull(message, channel[:]); err != nil {
				return 0, err
			}
			switch channel[0] {
			case channelStdin:
				s.rest = message
			case channelClose:
				return 0, io.EOF
			default:
				continue
			}
		}
		n, err := s.rest.Read(p)
		if errors.Is(err, io.EOF) {
			s.rest, err = nil, nil
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

func (s *execStream) Write(p []byte) (int, error) {
	if err := s.message(channelStdout, p); err != nil {
		_ = s.conn.Close() // so that its reader ends too, and another pump comes
		return 0, err
	}
	return len(p), nil
}

func (s *execStream) message(channel byte, p []byte) error {
	if err := s.conn.SetWriteDeadline(time.Now().Add(s.limit)); err != nil {
		return err
	}
	return s.conn.WriteMessage(websocket.BinaryMessage, append([]byte{channel}, p...))
}

// end says that the pump has ended well.
func (s *execStream) end() error {
	return errors.Join(
		s.message(channelError, []byte(success)),
		s.conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""), time.Now().Add(time.Second)))
}

func (s *execStream) Close() error { return s.conn.Close() }
