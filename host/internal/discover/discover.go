// Package discover finds plugin folders and builds what they hold.
//
// A plugin is a folder with a plugin.toml. Three places are searched, in this order:
//
//  1. plugins/ of the scanhost repository that the working directory lies in;
//  2. every --plugin-dir, which is such a folder itself or a folder of such folders;
//  3. every entry of SCANHOST_PLUGIN_PATH, a list like PATH.
//
// Finding runs nothing: it reads plugin.toml and no more. A manifest that cannot be read costs its own
// plugin (Plugin.Err), since one bad folder must not hide the others. What makes the whole answer
// untrustworthy is an error: a place that does not exist, one that everybody may write to, or two plugins
// of one name, of which the caller would run an arbitrary one.
package discover

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"scanhost/shared/contract"
)

// PathVariable is the environment variable that adds places to search.
const PathVariable = "SCANHOST_PLUGIN_PATH"

// ManifestFile is the file that makes a folder a plugin.
const ManifestFile = "plugin.toml"

// Plugin is one folder with a plugin.toml.
type Plugin struct {
	Dir      string // absolute, links resolved
	Manifest contract.Manifest
	Err      error // why the manifest is not one; the row is then bad-plugin
	InTree   bool  // below the root of the scanhost repository, and so part of its Go module
}

// Name is the manifest's, or the folder's where the manifest gives none.
func (p Plugin) Name() string {
	if p.Manifest.Name == "" {
		return filepath.Base(p.Dir)
	}
	return p.Manifest.Name
}

// Kernel says whether the plugin is here to be judged, and not as a baseline beside those that are.
func (p Plugin) Kernel() bool { return p.Err != nil || p.Manifest.Role == "kernel" }

// Find lists the plugins in dirs (of --plugin-dir), in the repository around the working directory and in
// SCANHOST_PLUGIN_PATH, sorted by name.
func Find(dirs []string) ([]Plugin, error) {
	root := Root()
	if root != "" {
		if own := filepath.Join(root, "plugins"); isDir(own) {
			dirs = append([]string{own}, dirs...)
		}
	}
	for _, d := range filepath.SplitList(os.Getenv(PathVariable)) {
		if d != "" {
			dirs = append(slices.Clip(dirs), d)
		}
	}
	return findIn(root, dirs)
}

// Root is the root of the scanhost repository that the working directory lies in, or "".
func Root() string {
	here, err := os.Getwd()
	if err != nil {
		return ""
	}
	return RootAbove(here)
}

// RootAbove is the root of the scanhost repository that dir lies in, or "". It walks past the go.mod of a plugin outside the module, such as one below shared/.
func RootAbove(dir string) string {
	for {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && isOurs(string(text)) {
			if real, err := filepath.EvalSymlinks(dir); err == nil {
				return real
			}
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}

func isOurs(gomod string) bool {
	for line := range strings.Lines(gomod) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == "module" {
			return strings.Trim(f[1], `"`) == "scanhost"
		}
	}
	return false
}

func findIn(root string, places []string) ([]Plugin, error) {
	var found []Plugin
	seen := map[string]bool{}
	for _, place := range places {
		folders, err := pluginFolders(place)
		if err != nil {
			return nil, err
		}
		for _, dir := range folders {
			if !seen[dir] {
				seen[dir] = true
				found = append(found, read(dir, root))
			}
		}
	}
	slices.SortStableFunc(found, func(a, b Plugin) int { return strings.Compare(a.Name(), b.Name()) })
	for i := 1; i < len(found); i++ {
		if found[i-1].Name() == found[i].Name() {
			return nil, fmt.Errorf("two plugins are named %q: %s and %s; rename one in its %s",
				found[i].Name(), found[i-1].Dir, found[i].Dir, ManifestFile)
		}
	}
	return found, nil
}

// pluginFolders lists the plugin folders of one place: the place itself, or those directly in it.
func pluginFolders(place string) ([]string, error) {
	dir, err := filepath.Abs(place)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil || !isDir(dir) {
		return nil, fmt.Errorf("plugin folder %s is not a folder that exists", place)
	}
	if err := refuseWorldWritable(dir); err != nil {
		return nil, err
	}
	if hasManifest(dir) {
		return []string{dir}, nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("plugin folder %s cannot be listed: %w", place, err)
	}
	var folders []string
	for _, e := range entries {
		sub, err := filepath.EvalSymlinks(filepath.Join(dir, e.Name()))
		if err == nil && isDir(sub) && hasManifest(sub) {
			folders = append(folders, sub)
		}
	}
	return folders, nil
}

func read(dir, root string) Plugin {
	p := Plugin{Dir: dir, InTree: InModule(root, dir)}
	if p.Err = refuseWorldWritable(dir); p.Err != nil {
		return p
	}
	text, err := os.ReadFile(filepath.Join(dir, ManifestFile))
	if err != nil {
		p.Err = err
		return p
	}
	if p.Manifest, err = contract.ParseManifest(string(text)); err != nil {
		p.Err = fmt.Errorf("%s: %w", filepath.Join(dir, ManifestFile), err)
		// A name that is itself refused must not reach reports or paths.
		p.Manifest = contract.Manifest{Role: p.Manifest.Role}
	}
	return p
}

// refuseWorldWritable keeps anybody on the machine from adding a program that the host would then run.
func refuseWorldWritable(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if info.Mode().Perm()&0o002 != 0 {
		return fmt.Errorf("plugin folder %s is writable by everybody (mode %04o), so anybody could put a program there; run chmod o-w on it",
			dir, info.Mode().Perm())
	}
	return nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func hasManifest(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, ManifestFile))
	return err == nil && info.Mode().IsRegular()
}

// InModule says whether dir is part of the Go module at root.
func InModule(root, dir string) bool {
	if root == "" {
		return false
	}
	rel, err := filepath.Rel(root, dir)
	if err != nil || rel == ".." || strings.HasPrefix(rel, "../") {
		return false
	}
	// A go.mod between the root and the folder starts a module of its own.
	for ; dir != root; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return false
		}
	}
	return true
}
