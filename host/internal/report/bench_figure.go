package report

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"scanhost/host/internal/bench"
)

// Figure is the picture of one array size: time against L, and % of the ceiling against L.
type Figure struct {
	Name  string // such as 96MB
	sweep bench.Sweep
	group group
}

// Figures has one for each group of cells that has a time.
func Figures(s bench.Sweep) []Figure {
	var all []Figure
	for _, g := range groups(s) {
		f := Figure{Name: strings.ReplaceAll(bench.Megabytes(g.bytes), " ", ""), sweep: s, group: g}
		if g.op != "affine_scan" || g.options != "" || g.dtype != "fp32" {
			f.Name = strings.ReplaceAll(strings.Join([]string{g.op, string(g.dtype), g.options, f.Name}, "-"), "--", "-")
		}
		if len(f.lines(s.Seconds)) > 0 {
			all = append(all, f)
		}
	}
	return all
}

const (
	figureWidth  = 26 * vg.Centimeter
	figureHeight = 11 * vg.Centimeter
	legendWidth  = 5.6 * vg.Centimeter
	titleHeight  = 1 * vg.Centimeter
	dotsPerInch  = 150
)

// Write draws the figure as svg or png.
func (f Figure) Write(w io.Writer, format string) error {
	var canvas vg.CanvasWriterTo
	switch format {
	case "svg":
		canvas = vgsvg.New(figureWidth, figureHeight)
	case "png":
		canvas = vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(figureWidth, figureHeight), vgimg.UseDPI(dotsPerInch))}
	default:
		return fmt.Errorf("figure format %q is not known; svg and png are", format)
	}
	if err := f.draw(draw.New(canvas)); err != nil {
		return err
	}
	_, err := canvas.WriteTo(w)
	return err
}

func (f Figure) draw(c draw.Canvas) error {
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	times, err := f.timePanel()
	if err != nil {
		return err
	}
	parts, err := f.ceilingPanel()
	if err != nil {
		return err
	}
	title := letters(12)
	title.XAlign, title.YAlign = draw.XCenter, draw.YTop
	c.FillText(title, vg.Point{X: c.Center().X, Y: c.Max.Y - 0.25*vg.Centimeter}, f.group.title(f.sweep))

	half := (figureWidth - legendWidth) / 2
	panels := [][]*plot.Plot{{times, parts}}
	tiles := draw.Tiles{Rows: 1, Cols: 2, PadX: 0.6 * vg.Centimeter, PadLeft: 0.3 * vg.Centimeter, PadBottom: 0.2 * vg.Centimeter}
	area := draw.Crop(c, 0, -legendWidth, 0, -titleHeight)
	for i, p := range plot.Align(panels, tiles, area)[0] {
		panels[0][i].Draw(p)
	}
	f.legend(draw.Crop(c, 2*half+0.4*vg.Centimeter, 0, 0, -titleHeight))
	return nil
}

func (f Figure) timePanel() (*plot.Plot, error) {
	p := newPanel("time in ms", "time per launch")
	p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, decades{}
	least, ok := f.floor()
	if ok {
		p.Add(reference(f.lengths(), 1000*least))
	}
	err := f.add(p, f.lines(func(c bench.Cell) float64 { return 1000 * f.sweep.Seconds(c) }))
	p.Y.Min, p.Y.Max = p.Y.Min/1.1, p.Y.Max*1.1
	return p, err
}

func (f Figure) ceilingPanel() (*plot.Plot, error) {
	p := newPanel("% of ceiling", "share of the ceiling")
	p.Add(reference(f.lengths(), 100))
	err := f.add(p, f.lines(func(c bench.Cell) float64 { return 100 * f.sweep.OfCeiling(c) }))
	p.Y.Min, p.Y.Max = 0, math.Max(105, p.Y.Max)
	return p, err
}

// floor is the time of the op's least traffic at the ceiling.
func (f Figure) floor() (float64, bool) {
	for _, c := range f.group.cells {
		if part := f.sweep.OfCeiling(c); part > 0 {
			return f.sweep.Seconds(c) * part, true
		}
	}
	return 0, false
}

func (f Figure) lengths() []int64 {
	lengths, _ := f.group.axes(f.sweep)
	return lengths
}

// line is what a contender shows in one panel, in the look that it has in both.
type line struct {
	name   string
	look   look
	points plotter.XYs
}

// lines has the contenders that have a value anywhere, and of twins the first.
func (f Figure) lines(value func(bench.Cell) float64) []line {
	lengths, contenders := f.group.axes(f.sweep)
	contenders = slices.DeleteFunc(contenders, f.sweep.SecondTwin)
	var all []line
	for i, name := range contenders {
		l := line{name: name, look: looks[i%len(looks)]}
		for _, length := range lengths {
			if c, found := f.group.at(name, length); found && length > 0 {
				if y := value(c); y > 0 {
					l.points = append(l.points, plotter.XY{X: float64(length), Y: y})
				}
			}
		}
		if len(l.points) > 0 {
			all = append(all, l)
		}
	}
	return all
}

func (f Figure) add(p *plot.Plot, lines []line) error {
	for _, l := range lines {
		path, err := plotter.NewLine(l.points)
		if err != nil {
			return err
		}
		marks, err := plotter.NewScatter(l.points)
		if err != nil {
			return err
		}
		path.LineStyle, marks.GlyphStyle = l.look.stroke(), l.look.glyph()
		p.Add(path, marks)
	}
	return nil
}
