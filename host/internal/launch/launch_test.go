package launch

import (
	"testing"
	"time"
)

func TestHonestPluginPassesAndStops(t *testing.T) {
	began := time.Now()
	p := start(t, "none")
	if _, err := p.describe(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Logf("start to first RPC: %v", time.Since(began))
	p.Heartbeat()
	if err := p.oneCase(t); err != nil {
		t.Fatal(err)
	}
	if err := p.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if e := p.Evidence(); e.Killed || e.ExitCode != 0 || !e.Ended {
		t.Errorf("evidence %q; a clean exit is expected", e)
	}
	nothingLeft(t, p)
}
