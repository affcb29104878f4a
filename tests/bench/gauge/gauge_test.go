// SPDX-License-Identifier: Apache-2.0

package gauge

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestMedian(t *testing.T) {
	require.Equal(t, 0.0, Median(nil))
	require.Equal(t, 2.0, Median([]float64{9, 1, 2}))
	require.Equal(t, 2.5, Median([]float64{9, 1, 2, 3}))
}

func TestAMachineIsQuietWhenItDoesLittleAllTheTime(t *testing.T) {
	rates := func(all ...float64) func() float64 { // the last one goes on
		return func() float64 {
			rate := all[0]
			all = all[min(1, len(all)-1):]
			return rate
		}
	}
	rate, err := quiet(time.Minute, rates(1.9, 1.9, 1.9, 0.9, 0.2))
	require.NoError(t, err)
	require.InDelta(t, 0.2, rate, 0.001)
	rate, err = quiet(time.Millisecond, rates(1.9))
	require.ErrorContains(t, err, "it uses 1.90 cpus", "a load that stays is one")
	require.InDelta(t, 1.9, rate, 0.001)
	steps := 0
	_, err = quiet(time.Millisecond, func() float64 { steps++; return 0.4 * float64(steps%2) })
	require.ErrorContains(t, err, "not quiet")
}

func TestTable(t *testing.T) {
	var ls Lines
	ls.Add("ours", "ms", "plain", 30) // what it is compared with may stand behind it
	ls.Add("plain", "ms", "", 10, 20)
	ls.Add("none", "ms", "plain")
	var out bytes.Buffer
	ls.Print(&out)
	require.Equal(t, `| | median | least | most | n | ratio |
|---|---|---|---|---|---|
| ours | 30 ms | 30 ms | 30 ms | 1 | 2 of plain |
| plain | 15 ms | 10 ms | 20 ms | 2 |  |
| none | none | | | 0 | |
`, out.String())
}

func TestLogIsReadFromItsMarkOverARotation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.log")
	write := func(text string) {
		file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		require.NoError(t, err)
		_, err = file.WriteString(text)
		require.NoError(t, err)
		require.NoError(t, file.Close())
	}
	write("before\n")
	log, err := MarkLog(path)
	require.NoError(t, err)
	write("one\nhal")
	text, err := log.Text()
	require.NoError(t, err)
	require.Equal(t, "one\n", string(text), "a line that is being written is not read")
	write("f\n")
	require.NoError(t, os.Rename(path, filepath.Join(filepath.Dir(path), "audit-2026-01-31T12-00-00.000.log")))
	write("three here\n")
	line, err := log.Await(time.Second, "here", "three")
	require.NoError(t, err)
	require.Equal(t, "three here", line)
	lines, err := log.Lines()
	require.NoError(t, err)
	require.Equal(t, []string{"one", "half", "three here"}, lines)
	_, err = log.Await(0, "four")
	require.ErrorContains(t, err, `"four"`)
}

func TestRequestsAreCountedOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.log")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	log, err := MarkLog(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, []byte(`{"auditID":"1","verb":"watch","user":{"username":"`+NodeAccount+`"},"objectRef":{"resource":"pods"},"stage":"ResponseStarted"}
{"auditID":"1","verb":"watch","user":{"username":"`+NodeAccount+`"},"objectRef":{"resource":"pods"},"stage":"ResponseComplete"}
{"auditID":"2","verb":"create","user":{"username":"`+NodeAccount+`"},"objectRef":{"resource":"pods","subresource":"exec"},"stageTimestamp":"2026-01-31T12:00:00.123456Z"}
{"auditID":"3","verb":"list","user":{"username":"admin"},"objectRef":{"resource":"pods"}}
`), 0o600))
	counts, err := log.Counted(ByNode)
	require.NoError(t, err)
	require.Equal(t, map[string]float64{"watch pods": 1, "create pods/exec": 1}, counts)
	require.Equal(t, 2.0, Sum(counts))
}

func TestSlurmctldsRequests(t *testing.T) {
	require.Equal(t, map[string]float64{"REQUEST_PING": 3, "MESSAGE_EPILOG_COMPLETE": 7}, slurmctldCounts(`
Remote Procedure Call statistics by message type
	REQUEST_PING                            ( 1008) count:3      ave_time:11     total_time:33
	MESSAGE_EPILOG_COMPLETE                 ( 6012) count:7      ave_time:59     total_time:413
	REQUEST_STATS_INFO                      ( 2035) count:9      ave_time:59     total_time:413
Remote Procedure Call statistics by user
	root            (       0) count:10     ave_time:59     total_time:413
`))
}

func TestThisProcess(t *testing.T) {
	pid := os.Getpid()
	require.Contains(t, Tree(os.Getppid()), pid)
	mapped, err := Maps(pid, filepath.Base(os.Args[0]))
	require.NoError(t, err)
	require.True(t, mapped)
	threads, err := Threads(pid)
	require.NoError(t, err)
	require.Positive(t, threads)
	m := MemoryOf(pid)
	require.Positive(t, m.Anonymous)
	require.GreaterOrEqual(t, m.Share, m.Anonymous/2)
	started, err := Started(pid)
	require.NoError(t, err)
	require.Positive(t, started)
	most, _ := func() (Memory, float64) {
		return WatchPeak(time.Millisecond, func() []int { return []int{pid} }).Stop()
	}()
	require.Positive(t, most.Anonymous)
	stamp, err := Stamp("[2026-01-31T12:00:00.123] done")
	require.NoError(t, err)
	require.Equal(t, 123, stamp.Nanosecond()/1e6)
}
