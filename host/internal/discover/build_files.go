package discover

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// keptUnused is how long objects and executables stay in the cache folder after their last use.
const keptUnused = 7 * 24 * time.Hour

// Lock takes the file's lock, which the system releases when its holder dies, however it dies. waiting is
// called once if another holds it.
func Lock(ctx context.Context, path string, waiting func()) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("lock file: %w", err)
	}
	for told := false; ; {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { f.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			f.Close()
			return nil, fmt.Errorf("locking %s: %w", path, err)
		}
		if !told {
			told = true
			waiting()
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// hashFolder adds the folder's files that want accepts, with their names and sizes, in name order. Hidden files
// and folders are left out.
func hashFolder(h hash.Hash, dir string, want func(path string) bool) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if strings.HasPrefix(d.Name(), ".") && path != dir {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		relative, err := filepath.Rel(dir, path)
		if err != nil || !d.Type().IsRegular() || !want(relative) {
			return err
		}
		text, err := os.ReadFile(path)
		fmt.Fprintf(h, "%s %d\n", relative, len(text))
		h.Write(text)
		return err
	})
}

func everyFile(string) bool { return true }

// sourceHash is the hash that results carry.
func (b *builder) sourceHash(ctx context.Context, t *target) (string, error) {
	headers, err := b.headers(ctx, t)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	fmt.Fprintf(h, "%s %q %q %q %q\n", b.request.Backend, nvccFlags, b.tools.archs, b.tools.nvcc.Version, b.tools.versions)
	if err := hashFolder(h, t.dir, everyFile); err != nil {
		return "", err
	}
	want := everyFile
	if b.request.Backend == "cuda" {
		want = nvccReads
	}
	if err := hashFolder(h, headers, want); err != nil {
		return "", err
	}
	if err := hashCCCL(h, t); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func shortHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:6])
}

// publish gives the executable a second name that holds its contents' hash. The go tool replaces its output by
// a new file, so the old one stays what it was under this name.
func (b *builder) publish(t *target) (string, error) {
	f, err := os.Open(t.output)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	dir := filepath.Join(b.dir, "run")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	path := filepath.Join(dir, t.name+"-"+hex.EncodeToString(h.Sum(nil)[:8]))
	if err := os.Link(t.output, path); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	return path, touch(path)
}

func touch(path string) error {
	now := time.Now()
	return os.Chtimes(path, now, now)
}

// prune removes what no build has used for a while. What it cannot remove stays.
func (b *builder) prune() {
	for _, dir := range []string{filepath.Join(b.dir, "run"), filepath.Join(b.cache, "objects")} {
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > keptUnused {
				os.Remove(filepath.Join(dir, e.Name()))
			}
		}
	}
}

// prebuilt resolves entry. Paths in it are relative to the plugin's folder; a bare name that is no file there,
// such as python3, is looked up in PATH.
func prebuilt(p Plugin) (argv []string, hash string, err error) {
	h := sha256.New()
	for i, word := range p.Manifest.Entry {
		inside := filepath.Join(p.Dir, word)
		if info, err := os.Stat(inside); err == nil && info.Mode().IsRegular() && !filepath.IsAbs(word) {
			word = inside
		}
		if i == 0 {
			if word, err = exec.LookPath(word); err != nil {
				return nil, "", fmt.Errorf("%s: entry %q: %w", filepath.Join(p.Dir, ManifestFile), p.Manifest.Entry[0], err)
			}
			if word, err = filepath.Abs(word); err != nil {
				return nil, "", err
			}
		}
		argv = append(argv, word)
	}
	if err := hashFile(h, argv[0]); err != nil {
		return nil, "", err
	}
	if err := hashFolder(h, p.Dir, everyFile); err != nil {
		return nil, "", err
	}
	return argv, hex.EncodeToString(h.Sum(nil)), nil
}

func hashFile(h hash.Hash, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(h, f)
	return err
}
