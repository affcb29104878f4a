// SPDX-License-Identifier: Apache-2.0

package fakekubelet

import (
	"encoding/binary"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"syscall"
	"testing"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"

	"k8s.io/apimachinery/pkg/types"
)

const testSession = 0x1f

// core speaks to a podinit through an exec, as slurmstepd's core does through kubelet.
type core struct {
	t      *testing.T
	stream *execStream
}

func connect(t *testing.T, address string) *core {
	query := url.Values{"command": {podinitProgram, "pump", "--session=000000000000001f"}}
	dialer := websocket.Dialer{Subprotocols: []string{protocol}}
	conn, _, err := dialer.Dial(strings.Replace(address, "http", "ws", 1)+"/exec/slurm/slurm-job-1/job?"+query.Encode(), nil)
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	c := &core{t, &execStream{conn: conn}}
	c.send(frame{kind: kindHello, task: taskAll})
	return c
}

func (c *core) send(f frame) {
	f.session = testSession
	require.NoError(c.t, c.stream.conn.WriteMessage(websocket.BinaryMessage, append([]byte{channelStdin}, f.bytes()...)))
}

// next is the next frame on stdout, of this kind.
func (c *core) next(kind uint8) frame {
	_, message, err := c.stream.conn.ReadMessage()
	require.NoError(c.t, err)
	require.EqualValues(c.t, channelStdout, message[0])
	f, err := readFrame(strings.NewReader(string(message[1:])), testSession)
	require.NoError(c.t, err)
	require.Equal(c.t, kind, f.kind)
	return f
}

func served(t *testing.T) (address string, pod *fakePod) {
	pod = &fakePod{namespace: "slurm", name: "slurm-job-1", podinit: &podinit{session: testSession}}
	k := &Kubelet{pods: map[types.UID]*fakePod{"1": pod}, over: func(*fakePod) {}}
	paths := http.NewServeMux()
	paths.HandleFunc("/exec/{namespace}/{pod}/{container}", k.exec)
	server := httptest.NewServer(paths)
	t.Cleanup(server.Close)
	return server.URL, pod
}

func start(environment string) frame {
	b := record{'N', taskAll, binary.BigEndian.AppendUint32(nil, 1)}.append(nil)
	return frame{kind: kindStart, task: taskAll, payload: record{'E', taskAll, []byte(environment)}.append(b)}
}

// A task sleeps through a lost connection and ends by a signal; what was not acknowledged comes again.
func TestSleepUntilSignal(t *testing.T) {
	address, pod := served(t)
	c := connect(t, address)
	c.next(kindHello)
	c.send(start("A=1"))
	c.next(kindStart)
	require.Equal(t, greeting, string(c.next(kindData).payload))
	c.send(frame{kind: kindHeartbeat, task: taskAll, offset: 3})
	require.Equal(t, flagReply, int(c.next(kindHeartbeat).flags))

	c = connect(t, address)
	c.next(kindHello)
	c.next(kindData)
	c.send(frame{kind: kindSignal, task: 0, payload: binary.BigEndian.AppendUint32(nil, uint32(syscall.SIGCONT))})
	c.send(frame{kind: kindSignal, task: 0, payload: binary.BigEndian.AppendUint32(nil, uint32(syscall.SIGTERM))})
	require.EqualValues(t, len(greeting), c.next(kindEOF).offset)
	require.EqualValues(t, 0, c.next(kindEOF).offset)
	require.Equal(t, exitPayload(uint32(syscall.SIGTERM)), c.next(kindExit).payload)
	require.EqualValues(t, 128+15, pod.podinit.code())
}

// A task that has a length ends with 0, and DETACH ends the exec well.
func TestSleepForATime(t *testing.T) {
	address, pod := served(t)
	c := connect(t, address)
	c.next(kindHello)
	c.send(start(LengthVariable + "=1ms"))
	c.next(kindStart)
	c.next(kindData)
	c.next(kindEOF)
	c.next(kindEOF)
	require.Equal(t, exitPayload(0), c.next(kindExit).payload)
	c.send(frame{kind: kindDetach, task: taskAll})
	_, message, err := c.stream.conn.ReadMessage()
	require.NoError(t, err)
	require.Equal(t, string(rune(channelError))+success, string(message))
	_, _, err = c.stream.conn.ReadMessage()
	require.True(t, websocket.IsCloseError(err, websocket.CloseNormalClosure), err)
	require.EqualValues(t, 0, pod.podinit.code())
}
