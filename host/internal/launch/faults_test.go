package launch

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"scanhost/shared/faulty"
)

// processFaults is every fault whose verdict this package gives. Those of the data are the judge's, as are
// lies that only a comparison with plugin.toml shows.
func processFaults() []faulty.Fault {
	var some []faulty.Fault
	for _, f := range faulty.Faults {
		switch f.Verdict {
		case "pass", "hung", "crashed", "bad-plugin":
			if f.Name != "lying-name" && f.Name != "lying-version" {
				some = append(some, f)
			}
		}
	}
	return some
}

// longest is the worst wall time of one fault: the longest deadline that one runs into, and 2 s.
var longest = shortLimits.Silence + 2*time.Second

func TestEveryFaultGetsItsVerdictAndLeavesNothing(t *testing.T) {
	for _, f := range processFaults() {
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			err := suffer(t, f)
			t.Log(err)
			if kindOf(err) != f.Verdict {
				t.Errorf("got %s (%v); %s is expected", kindOf(err), err, f.Verdict)
			}
			if took := time.Since(began); took > longest {
				t.Errorf("took %v; %v is the limit", took, longest)
			}
		})
	}
}

// suffer starts a plugin with a fault, runs one case and stops it.
func suffer(t *testing.T, f faulty.Fault) error {
	c := command(t, f.Name)
	switch f.Name {
	case "hang-before-handshake", "garbage-handshake", "deaf-socket":
		c.Limits.Handshake = time.Second // that is what these run into
	}
	p, err := Start(t.Context(), c)
	if err != nil {
		return err
	}
	p.Heartbeat()
	err = p.oneCase(t)
	if f.Name == "no-heartbeat" { // its calls are too quick to be disturbed
		<-p.Done()
		_, err = p.describe(t.Context())
	}
	if stop := p.Stop(t.Context()); stop != nil {
		t.Error(stop)
	}
	nothingLeft(t, p)
	return err
}

// Which of the two it is can show first in a descriptor that cannot be sent.
func TestBuffersForADeadOrAStoppedChild(t *testing.T) {
	for signal, want := range map[unix.Signal]Kind{unix.SIGKILL: Crashed, unix.SIGSTOP: Hung} {
		p := start(t, "none")
		if err := unix.Kill(p.Pid(), signal); err != nil {
			t.Fatal(err)
		}
		var err error
		for id := uint64(0); err == nil && id < 100_000; id++ {
			err = p.Give(id, 0)
		}
		if kindOf(err) != string(want) {
			t.Errorf("after %v: %v; %s is expected", signal, err, want)
		}
	}
}
