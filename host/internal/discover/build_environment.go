package discover

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// environmentFolder holds what is installed from a file of a plugin that pins packages, by the file's content: several gigabytes are
// not downloaded again for the next plugin that needs the same.
func (b *builder) environmentFolder(p Plugin, requirements string) string {
	text, err := os.ReadFile(filepath.Join(p.Dir, requirements))
	if err != nil {
		text = []byte(err.Error()) // no environment is under that name; making one says why
	}
	return filepath.Join(b.cache, "python", shortHash(string(text)))
}

// environmentMarker is written last: an environment without it is half of one.
const environmentMarker = "complete"

// makeEnvironment makes the plugin's environment from its pinned requirements.
func (b *builder) makeEnvironment(ctx context.Context, p Plugin, base python) (python, error) {
	folder := b.environmentFolder(p, p.Manifest.Requirements)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return python{}, err
	}
	unlock, err := Lock(ctx, folder+".lock", func() { b.request.Progress("waiting for another host that makes the same environment") })
	if err != nil {
		return python{}, err
	}
	defer unlock()
	dir := filepath.Join(folder, base.Version)
	marker, interpreter := filepath.Join(dir, environmentMarker), filepath.Join(dir, "bin", "python")
	if _, err := os.Stat(marker); err != nil { // otherwise that other host made it
		if err := os.RemoveAll(dir); err != nil {
			return python{}, err
		}
		if err := b.install(ctx, p, base.Executable, dir); err != nil {
			return python{}, err
		}
	}
	found, err := b.probe(ctx, interpreter, p.Manifest.Imports)
	if err != nil {
		return python{}, err
	}
	if found.Missing != "" {
		return python{}, fmt.Errorf("%s does not pin all that %s needs: it lacks %s", p.Manifest.Requirements, p.Name(), found.Missing)
	}
	return found, os.WriteFile(marker, nil, 0o644)
}

func (b *builder) install(ctx context.Context, p Plugin, base, dir string) error {
	requirements := filepath.Join(p.Dir, p.Manifest.Requirements)
	text, err := os.ReadFile(requirements)
	if err != nil {
		return err
	}
	b.request.Progress(fmt.Sprintf("installing %s for %s in %s", counted(bytes.Count(text, []byte("==")), "package"), p.Name(), dir))
	for _, argv := range [][]string{
		{base, "-m", "venv", dir},
		{filepath.Join(dir, "bin", "python"), "-m", "pip", "install", "--no-input", "--disable-pip-version-check",
			"--require-hashes", "--only-binary=:all:", "-r", requirements},
	} {
		if output, err := b.run(ctx, p.Dir, nil, argv[0], argv[1:]...); err != nil {
			return refusedInstall(ctx, p, filepath.Join(filepath.Dir(dir), "install.log"), output, err)
		}
	}
	return nil
}

func refusedInstall(ctx context.Context, p Plugin, log string, output []byte, cause error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err := os.WriteFile(log, output, 0o644); err != nil {
		log = err.Error()
	}
	first := firstError(string(output))
	if first == "" {
		first = cause.Error()
	}
	return &BuildError{Plugin: p.Name(), First: first, Log: log}
}
