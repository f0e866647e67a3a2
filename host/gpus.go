package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"scanhost/host/internal/judge"
	"scanhost/host/internal/machine"
	"scanhost/host/internal/report"
)

// gpuFlag is --gpu: which of the visible GPUs, none named meaning all, or the first where one is needed.
type gpuFlag []string

func (g *gpuFlag) add(cmd *cobra.Command, text string) {
	cmd.Flags().StringSliceVar((*[]string)(g), "gpu", nil, text)
	completeWith(cmd, "gpu", completeGPUs)
}

func completeGPUs(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	devices, err := machine.Visible(cmd.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []cobra.Completion
	for _, d := range devices {
		names = append(names, cobra.CompletionWithDesc(fmt.Sprint(d.Number), d.Name+", "+d.UUID))
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// choose finds the GPUs of a run on the backend; there are none on the simulated one.
func (g gpuFlag) choose(ctx context.Context, backend string) ([]machine.Device, error) {
	if backend != "cuda" {
		if len(g) > 0 {
			return nil, fmt.Errorf("gpu %s is asked for, and the backend is %s, which uses none", strings.Join(g, ","), backend)
		}
		return nil, nil
	}
	devices, err := machine.Visible(ctx)
	if err != nil {
		return nil, err
	}
	return machine.Choose(devices, g)
}

// chooseOne is choose where the work is on one GPU: the named one, or the first.
func (g gpuFlag) chooseOne(ctx context.Context, backend string) (machine.Device, error) {
	if len(g) > 1 {
		return machine.Device{}, fmt.Errorf("gpu is %s; one is accepted here", strings.Join(g, ","))
	}
	devices, err := g.choose(ctx, backend)
	if err != nil || len(devices) == 0 {
		return machine.Device{}, err
	}
	return devices[0], nil
}

// resultsName is the folder of results that a run's rows go to: the GPU's, or simt. GPUs of several kinds share one.
func resultsName(backend string, devices []machine.Device) string {
	if backend != "cuda" || len(devices) == 0 {
		return backend
	}
	name := devices[0].Folder()
	for _, d := range devices {
		if d.Folder() != name {
			return "mixed"
		}
	}
	return name
}

// judge runs the targets: on every one of the devices at once, or on the simulated GPU where there are none.
func (b builtTargets) judge(ctx context.Context, o judge.Options, memory memoryFlag, devices []machine.Device,
	progress *report.Progress) (results []judge.KernelResult, err error) {
	if b.keeper == nil {
		w, err := b.workplace(ctx, memory, machine.Device{}, progress.Note)
		if err != nil {
			return nil, err
		}
		e := w.engine(o)
		e.Progress = progress.Event
		results, err = e.Run(ctx, b.targets)
		return results, errors.Join(err, w.close())
	}
	fleet := judge.Fleet{Progress: progress.Event}
	for _, d := range devices {
		fleet.Places = append(fleet.Places, judge.Place{Name: d.String(), Open: func(ctx context.Context) (*judge.Engine, func() error, error) {
			w, err := b.workplace(ctx, memory, d, progress.Note)
			if err != nil {
				return nil, nil, err
			}
			return w.engine(o), w.close, nil
		}})
	}
	return fleet.Run(ctx, b.targets)
}
