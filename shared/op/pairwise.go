package op

// pairwise chooses a value for every factor, case after case, until every pair of values of two factors has met
// in some case. sizes are the numbers of values; a case is the chosen value of each factor. Greedy and
// deterministic: each case starts from the first pair still open and takes, factor by factor, the value that
// closes most open pairs, the least used first among equals.
func pairwise(sizes []int) [][]int {
	open := newPairs(sizes)
	used := make([][]int, len(sizes))
	for f, n := range sizes {
		used[f] = make([]int, n)
	}
	var cases [][]int
	for {
		f, v, g, w, ok := open.first()
		if !ok {
			return cases
		}
		chosen := make([]int, len(sizes))
		for i := range chosen {
			chosen[i] = -1
		}
		chosen[f], chosen[g] = v, w
		for i := range chosen {
			if chosen[i] < 0 {
				chosen[i] = open.best(i, chosen, used[i])
			}
		}
		for i, v := range chosen {
			used[i][v]++
		}
		open.close(chosen)
		cases = append(cases, chosen)
	}
}

// pairs holds which pairs of values are still open: [f][v][g][w] for f < g.
type pairs struct {
	sizes []int
	open  map[[4]int]bool
}

func newPairs(sizes []int) *pairs {
	p := &pairs{sizes: sizes, open: map[[4]int]bool{}}
	p.each(func(key [4]int) bool { p.open[key] = true; return true })
	return p
}

// each visits all pairs in order until visit says false.
func (p *pairs) each(visit func([4]int) bool) {
	for f := range p.sizes {
		for g := f + 1; g < len(p.sizes); g++ {
			for v := range p.sizes[f] {
				for w := range p.sizes[g] {
					if !visit([4]int{f, v, g, w}) {
						return
					}
				}
			}
		}
	}
}

func (p *pairs) first() (f, v, g, w int, ok bool) {
	p.each(func(key [4]int) bool {
		if p.open[key] {
			f, v, g, w, ok = key[0], key[1], key[2], key[3], true
		}
		return !ok
	})
	return f, v, g, w, ok
}

// best is the value of factor i that closes most open pairs with what is chosen already.
func (p *pairs) best(i int, chosen, used []int) int {
	best, most := 0, -1
	for v := range p.sizes[i] {
		closes := 0
		for g, w := range chosen {
			if w >= 0 && p.open[pairKey(i, v, g, w)] {
				closes++
			}
		}
		if closes > most || closes == most && used[v] < used[best] {
			best, most = v, closes
		}
	}
	return best
}

func (p *pairs) close(chosen []int) {
	for f, v := range chosen {
		for g := f + 1; g < len(chosen); g++ {
			delete(p.open, [4]int{f, v, g, chosen[g]})
		}
	}
}

func pairKey(f, v, g, w int) [4]int {
	if f < g {
		return [4]int{f, v, g, w}
	}
	return [4]int{g, w, f, v}
}
