package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"scanhost/host/internal/discover"
	"scanhost/host/internal/machine"
)

var backendChoices = []string{"auto", "cuda", "simt"}

// backendFlag is --backend.
type backendFlag string

func (b *backendFlag) add(cmd *cobra.Command) {
	*b = "auto"
	cmd.Flags().Var(b, "backend", "where kernels run: cuda, simt (the simulated GPU), or auto, which is cuda where nvcc and a GPU that CUDA_VISIBLE_DEVICES does not hide are here")
	completeWith(cmd, "backend", cobra.FixedCompletions(backendChoices, cobra.ShellCompDirectiveNoFileComp))
}

func (b *backendFlag) String() string { return string(*b) }
func (b *backendFlag) Type() string   { return "name" }

func (b *backendFlag) Set(s string) error {
	if !slices.Contains(backendChoices, s) {
		return fmt.Errorf("%s are accepted", strings.Join(backendChoices, ", "))
	}
	*b = backendFlag(s)
	return nil
}

// resolve turns auto into a backend, and refuses one that this machine cannot build for.
func (b backendFlag) resolve(ctx context.Context) (string, error) {
	switch b {
	case "cuda":
		if _, err := findNVCC(ctx); err != nil {
			return "", fmt.Errorf("backend cuda: %w; --backend simt needs no GPU", err)
		}
		return "cuda", nil
	case "simt":
		return "simt", nil
	}
	return autoBackend(ctx), nil
}

// resolveToRun is resolve for a command that runs what it builds.
func (b backendFlag) resolveToRun(ctx context.Context) (string, error) {
	if b == "cuda" && !machine.HasGPU() {
		return "", errors.New("backend cuda needs an NVIDIA GPU, and there is no /dev/nvidia0; --backend simt needs none")
	}
	return b.resolve(ctx)
}

func autoBackend(ctx context.Context) string {
	if machine.HasGPU() && !machine.AllHidden() {
		if _, err := findNVCC(ctx); err == nil {
			return "cuda"
		}
	}
	return "simt"
}

// findNVCC bounds the search: a compiler on a network disk may not answer.
func findNVCC(ctx context.Context) (discover.NVCC, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	return discover.FindNVCC(ctx)
}

// release is the version in what nvcc --version prints, such as "13.0, V13.0.88".
func release(n discover.NVCC) string {
	_, version, _ := strings.Cut(n.Version, "release ")
	line, _, _ := strings.Cut(version, "\n")
	return strings.TrimSpace(line)
}
