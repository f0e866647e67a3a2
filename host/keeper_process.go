package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"scanhost/host/internal/buffers"
	"scanhost/host/internal/discover"
	"scanhost/host/internal/launch"
	"scanhost/host/internal/machine"
	"scanhost/shared/contract"
)

// runningKeeper is the process that owns a GPU's buffers, and the space they are in.
type runningKeeper struct {
	process *launch.Process
	space   *buffers.Keeper
	unlock  func()
}

// notice tells the user something in passing, as report.Progress.Note does.
type notice func(format string, args ...any)

// startKeeper waits for the GPU, starts its keeper, which sees no other, and makes sure that it works.
func startKeeper(ctx context.Context, built *discover.Built, d machine.Device, notice notice) (*runningKeeper, error) {
	if built.Err != nil {
		return nil, fmt.Errorf("the keeper: %w", built.Err)
	}
	unlock, err := lockGPU(ctx, d, notice)
	if err != nil {
		return nil, err
	}
	p, err := launch.Start(ctx, launch.Command{Path: built.Executable[0], Args: built.Executable[1:], Env: d.Environment(),
		Service: contract.KeeperService})
	if err != nil {
		unlock()
		return nil, fmt.Errorf("the keeper: %w", err)
	}
	k := &runningKeeper{p, buffers.NewKeeper(p), unlock}
	if err := k.space.Canary(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("the GPU does not work: %w", err), k.stop())
	}
	return k, nil
}

// lockGPU waits until no other host of this user works on the GPU: two that take turns without knowing of each other
// would time and hang each other's kernels. It comes before the keeper, whose start is work as well. The system
// takes the lock from a host that dies.
func lockGPU(ctx context.Context, d machine.Device, notice notice) (unlock func(), err error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(cache, "scanhost")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	return discover.Lock(ctx, filepath.Join(dir, d.UUID+".lock"), func() {
		notice("waiting for another host that works on %s, %s", d, d.Name)
	})
}

// stop ends the keeper, also where the run was interrupted.
func (k *runningKeeper) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	defer k.unlock()
	return errors.Join(k.space.Close(), k.process.Stop(ctx))
}

// askKeepers is doctor's look at the GPUs themselves, a finding for each.
func askKeepers(ctx context.Context, devices []machine.Device) []finding {
	_, keeper, err := discover.Build(ctx, discover.BuildRequest{Backend: "cuda"})
	if err != nil {
		return []finding{{Name: "memory export", Backend: "cuda", Found: err.Error(), Fix: keeperFix}}
	}
	var list []finding
	for _, d := range devices {
		list = append(list, askKeeper(ctx, keeper, d))
	}
	return list
}

const keeperFix = "the keeper has to build and run for a run on the GPU"

func askKeeper(ctx context.Context, keeper *discover.Built, d machine.Device) finding {
	f := finding{Name: fmt.Sprintf("memory export %d", d.Number), Backend: "cuda"}
	k, err := startKeeper(ctx, keeper, d, func(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) })
	if err != nil {
		f.Found, f.Fix = err.Error(), keeperFix
		return f
	}
	defer k.stop()
	info, err := k.space.Info(ctx)
	if err != nil {
		f.Found = err.Error()
		return f
	}
	return exportFinding(f, info)
}
