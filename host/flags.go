package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"scanhost/host/internal/discover"
)

// sharedFlags are those of every command.
type sharedFlags struct {
	pluginDirs []string
	json       bool
}

func (f *sharedFlags) add(root *cobra.Command) {
	flags := root.PersistentFlags()
	flags.StringArrayVar(&f.pluginDirs, "plugin-dir", nil,
		"also look here for plugins: a plugin's folder, or a folder of them (repeatable; SCANHOST_PLUGIN_PATH is a list of the same)")
	flags.BoolVar(&f.json, "json", false, "write the result to standard output as JSON")
}

// find lists the plugins that the flags lead to.
func (f *sharedFlags) find() ([]discover.Plugin, error) { return discover.Find(f.pluginDirs) }

// choose finds the plugins of the given names.
func (f *sharedFlags) choose(names []string) ([]discover.Plugin, error) {
	all, err := f.find()
	if err != nil {
		return nil, err
	}
	return discover.Choose(all, names)
}

// kernels finds every plugin that is to be judged.
func (f *sharedFlags) kernels() ([]discover.Plugin, error) {
	all, err := f.find()
	if err != nil {
		return nil, err
	}
	var kernels []discover.Plugin
	for _, p := range all {
		if p.Kernel() {
			kernels = append(kernels, p)
		}
	}
	if len(kernels) == 0 {
		return nil, fmt.Errorf("there is no kernel here: run inside the scanhost repository, or say --plugin-dir DIR")
	}
	return kernels, nil
}

// pluginNames completes the name of a plugin on the shell's command line.
func (f *sharedFlags) pluginNames(_ *cobra.Command, taken []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	all, err := f.find()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	given := map[string]bool{}
	for _, t := range taken {
		given[t] = true
	}
	var names []cobra.Completion
	for _, p := range all {
		if !given[p.Name()] {
			names = append(names, cobra.CompletionWithDesc(p.Name(), describe(p)))
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func describe(p discover.Plugin) string {
	if p.Err != nil {
		return "bad plugin"
	}
	return p.Manifest.Role + " " + p.Manifest.Version
}

// completeWith sets what a flag's value is completed from. Only a wrong flag name can make it fail.
func completeWith(cmd *cobra.Command, flag string, f cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic(err)
	}
}
