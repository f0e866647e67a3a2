package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"scanhost/host/internal/discover"
	"scanhost/host/internal/report"
)

func newList(shared *sharedFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the plugins that are found",
		Long: `list shows the plugins in plugins/ of the repository around the working directory, in every --plugin-dir and
in SCANHOST_PLUGIN_PATH. It reads each plugin.toml and runs nothing.`,
		Example: `  host list
  host list --json
  host list --plugin-dir ~/kernels`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runList(shared, cmd.OutOrStdout())
		},
	}
}

// listed is one plugin in list --json.
type listed struct {
	Name       string   `json:"name"`
	Version    string   `json:"version,omitempty"`
	Role       string   `json:"role,omitempty"`
	Language   string   `json:"language,omitempty"`
	Backends   []string `json:"backends,omitempty"`
	Ops        []string `json:"ops,omitempty"`
	ImprovesOn string   `json:"improves_on,omitempty"`
	Dir        string   `json:"dir"`
	Error      string   `json:"error,omitempty"`
}

func runList(shared *sharedFlags, out io.Writer) error {
	plugins, err := shared.find()
	if err != nil {
		return err
	}
	rows := make([]listed, len(plugins))
	for i, p := range plugins {
		rows[i] = listRow(p)
	}
	if shared.json {
		return report.JSON(out, rows)
	}
	if len(rows) == 0 {
		fmt.Fprintln(out, "no plugins: run inside the scanhost repository, or say --plugin-dir DIR")
		return nil
	}
	var table [][]string
	for _, r := range rows {
		if r.Error == "" {
			table = append(table, []string{r.Name, r.Version, r.Role, strings.Join(r.Backends, " "), strings.Join(r.Ops, " "), r.ImprovesOn, r.Dir})
		}
	}
	if len(table) > 0 {
		fmt.Fprintln(out, report.Grid([]string{"name", "version", "role", "backends", "ops", "improves on", "folder"}, table))
	}
	for _, r := range rows {
		if r.Error != "" {
			fmt.Fprintf(out, "bad plugin %s: %s\n", r.Name, r.Error)
		}
	}
	return nil
}

func listRow(p discover.Plugin) listed {
	if p.Err != nil {
		return listed{Name: p.Name(), Dir: p.Dir, Error: p.Err.Error()}
	}
	m := p.Manifest
	row := listed{Name: m.Name, Version: m.Version, Role: m.Role, Language: m.Language, Backends: m.Backends, ImprovesOn: m.ImprovesOn, Dir: p.Dir}
	for _, o := range m.Ops {
		row.Ops = append(row.Ops, o.Name)
	}
	return row
}
