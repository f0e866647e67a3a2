//go:build !race

package litmus

func modes() []Mode { return []Mode{Fast, Count, Explore} }
