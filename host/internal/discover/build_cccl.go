package discover

import (
	"context"
	"errors"
	"fmt"
	"hash"
	"os"
	"os/exec"
	"path/filepath"
)

// CCCLVariable names a folder with the headers of CCCL, in place of those that a plugin pins.
const CCCLVariable = "SCANHOST_CCCL"

// cubFile is in every folder of CCCL's headers.
var cubFile = filepath.Join("cub", "version.cuh")

// findCCCL gives the folder of headers for a plugin that needs another CUB than the toolkit's, and "" for others: the
// folder that SCANHOST_CCCL names, or what pip installed from the file that the plugin's key cccl names. It is
// installed where the request says Install.
func (b *builder) findCCCL(ctx context.Context, p Plugin) (string, error) {
	if p.Manifest.CCCL == "" || b.request.Backend != "cuda" {
		return "", nil
	}
	if own := os.Getenv(CCCLVariable); own != "" {
		if !isFile(filepath.Join(own, cubFile)) {
			return "", fmt.Errorf("%s is %s, where %s is not", CCCLVariable, own, cubFile)
		}
		return filepath.Abs(own)
	}
	folder := b.environmentFolder(p, p.Manifest.CCCL)
	headers, err := headersIn(folder)
	if err == nil && isFile(filepath.Join(folder, environmentMarker)) {
		return headers, nil
	}
	if !b.request.Install {
		return "", fmt.Errorf("%s needs CUB's headers: go tool host build %s downloads them, or %s names a folder that has cub/", p.Name(), b.asArgument(p), CCCLVariable)
	}
	return b.installCCCL(ctx, p, folder)
}

// installCCCL unpacks the pinned wheel; it holds headers, so any Python with pip will do.
func (b *builder) installCCCL(ctx context.Context, p Plugin, folder string) (string, error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	unlock, err := Lock(ctx, folder+".lock", func() { b.request.Progress("waiting for another host that installs CUB's headers") })
	if err != nil {
		return "", err
	}
	defer unlock()
	marker := filepath.Join(folder, environmentMarker)
	if !isFile(marker) { // otherwise that other host installed it
		argv := []string{"-m", "pip", "install", "--no-input", "--disable-pip-version-check", "--no-deps", "--upgrade", "--require-hashes",
			"--only-binary=:all:", "--target", filepath.Join(folder, "packages"), "-r", filepath.Join(p.Dir, p.Manifest.CCCL)}
		python, err := anyPython()
		if err != nil {
			return "", fmt.Errorf("%s: CUB's headers are installed by pip, and %w; %s may name a folder that has cub/", p.Name(), err, CCCLVariable)
		}
		b.request.Progress("installing CUB's headers for " + p.Name())
		if output, err := b.run(ctx, p.Dir, nil, python, argv...); err != nil {
			return "", refusedInstall(ctx, p, filepath.Join(folder, "install.log"), output, err)
		}
	}
	headers, err := headersIn(folder)
	if err != nil {
		return "", fmt.Errorf("%s does not pin what %s needs: %w", p.Manifest.CCCL, p.Name(), err)
	}
	return headers, os.WriteFile(marker, nil, 0o644)
}

// headersIn looks where NVIDIA's packages for pip have them.
func headersIn(folder string) (string, error) {
	for _, layout := range []string{"nvidia/*/include/cccl", "nvidia/*/include"} {
		found, err := filepath.Glob(filepath.Join(folder, "packages", layout, cubFile))
		if err == nil && len(found) > 0 {
			return filepath.Dir(filepath.Dir(found[0])), nil
		}
	}
	return "", errors.New("there is no " + cubFile + " in it")
}

func anyPython() (string, error) {
	names := pythonNames
	if own := os.Getenv(PythonVariable); own != "" {
		names = []string{own}
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s is not in PATH", names[0])
}

// hashCCCL covers the headers by their contents: a folder that a user names has no version to go by.
func hashCCCL(h hash.Hash, t *target) error {
	if t.cccl == "" {
		return nil
	}
	return hashFolder(h, t.cccl, everyFile)
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
