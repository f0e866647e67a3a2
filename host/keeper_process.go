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
	"scanhost/shared/contract"
)

// runningKeeper is the process that owns a GPU's buffers, and the space they are in.
type runningKeeper struct {
	process *launch.Process
	space   *buffers.Keeper
	unlock  func()
}

// startKeeper starts the keeper and makes sure that the GPU works.
func startKeeper(ctx context.Context, built *discover.Built) (*runningKeeper, error) {
	if built.Err != nil {
		return nil, fmt.Errorf("the keeper: %w", built.Err)
	}
	p, err := launch.Start(ctx, launch.Command{Path: built.Executable[0], Args: built.Executable[1:], Service: contract.KeeperService})
	if err != nil {
		return nil, fmt.Errorf("the keeper: %w", err)
	}
	k := &runningKeeper{p, buffers.NewKeeper(p), func() {}}
	if err := k.space.Canary(ctx); err != nil {
		k.stop()
		return nil, fmt.Errorf("the GPU does not work: %w", err)
	}
	if err := k.lock(ctx); err != nil {
		k.stop()
		return nil, err
	}
	return k, nil
}

// lock waits until no other host of this user works on the GPU: two that take turns without knowing of each other
// would time and hang each other's kernels.
func (k *runningKeeper) lock(ctx context.Context) error {
	info, err := k.space.Info(ctx)
	if err != nil {
		return err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	dir := filepath.Join(cache, "scanhost")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	k.unlock, err = discover.Lock(ctx, filepath.Join(dir, info.Uuid+".lock"), func() {
		fmt.Fprintf(os.Stderr, "waiting for another host that works on %s (%s)\n", info.Name, info.Uuid)
	})
	if err != nil {
		k.unlock = func() {}
	}
	return err
}

// stop ends the keeper, also where the run was interrupted.
func (k *runningKeeper) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	defer k.unlock()
	return errors.Join(k.space.Close(), k.process.Stop(ctx))
}

// askKeeper is doctor's look at the GPU itself.
func askKeeper(ctx context.Context) finding {
	f := finding{Name: "memory export", Backend: "cuda"}
	_, keeper, err := discover.Build(ctx, discover.BuildRequest{Backend: "cuda"})
	if err != nil {
		f.Found, f.Fix = err.Error(), "the keeper has to build and run for a run on the GPU"
		return f
	}
	k, err := startKeeper(ctx, keeper)
	if err != nil {
		f.Found, f.Fix = err.Error(), "the keeper has to build and run for a run on the GPU"
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
