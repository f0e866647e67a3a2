package main

import (
	"context"
	"fmt"
	"time"

	"scanhost/host/internal/discover"
	"scanhost/host/internal/launch"
	"scanhost/shared/contract"
	"scanhost/shared/contract/keeperv1"
)

// keeperCall bounds a question to the keeper. Its first makes the GPU's context, some 0.4 s.
const keeperCall = 20 * time.Second

// startKeeper starts the process that owns a GPU's buffers and checks that the GPU works.
func startKeeper(ctx context.Context, built *discover.Built) (*launch.Process, error) {
	if built.Err != nil {
		return nil, fmt.Errorf("the keeper: %w", built.Err)
	}
	p, err := launch.Start(ctx, launch.Command{Path: built.Executable[0], Args: built.Executable[1:], Service: contract.KeeperService})
	if err != nil {
		return nil, fmt.Errorf("the keeper: %w", err)
	}
	if err := canary(ctx, p); err != nil {
		p.Kill(err.Error())
		return nil, err
	}
	return p, nil
}

// canary runs a tiny kernel on the GPU and checks what it computed.
func canary(ctx context.Context, p *launch.Process) error {
	var answer *keeperv1.CanaryResponse
	err := p.Call(ctx, "canary", keeperCall, func(ctx context.Context) (err error) {
		answer, err = p.Keeper().Canary(ctx, &keeperv1.CanaryRequest{})
		return err
	})
	if err == nil && !answer.Ok {
		err = fmt.Errorf("%s", answer.Text)
	}
	if err != nil {
		return fmt.Errorf("the GPU does not work: %w", err)
	}
	return nil
}

// gpuInfo asks the driver, through the keeper.
func gpuInfo(ctx context.Context, p *launch.Process) (*keeperv1.InfoResponse, error) {
	var answer *keeperv1.InfoResponse
	err := p.Call(ctx, "info", keeperCall, func(ctx context.Context) (err error) {
		answer, err = p.Keeper().Info(ctx, &keeperv1.InfoRequest{})
		return err
	})
	return answer, err
}

// askKeeper is doctor's look at the GPU itself.
func askKeeper(ctx context.Context) finding {
	f := finding{Name: "memory export", Backend: "cuda"}
	_, keeper, err := discover.Build(ctx, discover.BuildRequest{Backend: "cuda"})
	if err != nil {
		f.Found, f.Fix = err.Error(), "the keeper has to build and run for a run on the GPU"
		return f
	}
	p, err := startKeeper(ctx, keeper)
	if err != nil {
		f.Found, f.Fix = err.Error(), "the keeper has to build and run for a run on the GPU"
		return f
	}
	defer func() {
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), keeperCall)
		defer cancel()
		_ = p.Stop(stop) // what matters of it, being unkillable, shows in the next command
	}()
	info, err := gpuInfo(ctx, p)
	if err != nil {
		f.Found = err.Error()
		return f
	}
	f.OK = info.MemoryExport
	f.Found = fmt.Sprintf("%s, CUDA runtime %s, %.1f of %.1f GB free; buffers can be exported: %v", info.Name, info.Runtime,
		float64(info.MemoryFreeBytes)/1e9, float64(info.MemoryBytes)/1e9, info.MemoryExport)
	if !f.OK {
		f.Fix = "the driver cannot export memory here (a container or an old driver); use --backend simt"
	}
	return f
}
