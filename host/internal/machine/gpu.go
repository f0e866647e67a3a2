package machine

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// GPU is one NVIDIA GPU as nvidia-smi knows it.
type GPU struct {
	Name    string `json:"name"`
	UUID    string `json:"uuid"`
	Driver  string `json:"driver"`
	Memory  string `json:"memory"`
	Compute string `json:"compute_capability"` // "9.0"
	whole   string // UUID of the GPU that this is an instance of; empty: it is whole
}

// HasGPU says whether the driver has a device, without asking the driver. Windows' Linux has one device file
// for whatever GPUs there are; nvidia-smi is there only with NVIDIA's driver.
func HasGPU() bool {
	devices, _ := filepath.Glob("/dev/nvidia[0-9]*")
	if len(devices) > 0 {
		return true
	}
	if _, err := os.Stat("/dev/dxg"); err != nil {
		return false
	}
	_, err := exec.LookPath("nvidia-smi")
	return err == nil
}

// GPUs asks nvidia-smi.
func GPUs(ctx context.Context) ([]GPU, error) {
	text, err := Ask(ctx, "nvidia-smi", "--query-gpu=name,uuid,driver_version,memory.total,compute_cap", "--format=csv,noheader")
	if err != nil {
		return nil, err
	}
	return parseGPUs(text)
}

func parseGPUs(text string) ([]GPU, error) {
	var gpus []GPU
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		f := strings.Split(strings.TrimSpace(line), ", ")
		if len(f) != 5 {
			return nil, fmt.Errorf("nvidia-smi answered %q, which has not the 5 fields asked for", strings.TrimSpace(line))
		}
		gpus = append(gpus, GPU{Name: f[0], UUID: f[1], Driver: f[2], Memory: f[3], Compute: f[4]})
	}
	return gpus, nil
}

// Folder is a GPU's name as a folder of results/: "NVIDIA H200" is h200.
func (g GPU) Folder() string {
	name := strings.ToLower(strings.TrimPrefix(g.Name, "NVIDIA "))
	return strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, name), "-")
}
