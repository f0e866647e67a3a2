package report

import (
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// look tells a contender's line from the others by color and by mark, since about one reader in twenty does
// not tell all colors apart.
type look struct {
	color color.RGBA
	mark  draw.GlyphDrawer
	dash  []vg.Length
}

// looks are the colors of Okabe and Ito (jfly.uni-koeln.de/color), without the yellow that is lost on white.
var looks = []look{
	{color.RGBA{0x00, 0x72, 0xb2, 0xff}, draw.CircleGlyph{}, nil},
	{color.RGBA{0xd5, 0x5e, 0x00, 0xff}, draw.SquareGlyph{}, nil},
	{color.RGBA{0x00, 0x9e, 0x73, 0xff}, draw.TriangleGlyph{}, nil},
	{color.RGBA{0xcc, 0x79, 0xa7, 0xff}, draw.PlusGlyph{}, nil},
	{color.RGBA{0x00, 0x00, 0x00, 0xff}, draw.PyramidGlyph{}, nil},
	{color.RGBA{0xe6, 0x9f, 0x00, 0xff}, draw.RingGlyph{}, nil},
	{color.RGBA{0x56, 0xb4, 0xe9, 0xff}, draw.BoxGlyph{}, nil},
	{color.RGBA{0x00, 0x72, 0xb2, 0xff}, draw.CrossGlyph{}, []vg.Length{6, 3}},
	{color.RGBA{0xd5, 0x5e, 0x00, 0xff}, draw.RingGlyph{}, []vg.Length{6, 3}},
	{color.RGBA{0x00, 0x9e, 0x73, 0xff}, draw.BoxGlyph{}, []vg.Length{6, 3}},
	{color.RGBA{0xcc, 0x79, 0xa7, 0xff}, draw.CrossGlyph{}, []vg.Length{6, 3}},
	{color.RGBA{0x00, 0x00, 0x00, 0xff}, draw.PlusGlyph{}, []vg.Length{6, 3}},
}

func (l look) stroke() draw.LineStyle {
	return draw.LineStyle{Color: l.color, Width: vg.Points(1.4), Dashes: l.dash}
}

func (l look) glyph() draw.GlyphStyle {
	return draw.GlyphStyle{Color: l.color, Radius: vg.Points(2.8), Shape: l.mark}
}

var (
	gray      = color.Gray{0x70}
	lightGray = color.Gray{0xdd}
)

func letters(size float64) draw.TextStyle {
	return draw.TextStyle{Color: color.Black, Font: font.Font{Typeface: plot.DefaultFont.Typeface, Variant: "Sans", Size: vg.Points(size)}, Handler: plot.DefaultTextHandler}
}

// newPanel is an empty panel over L in powers of two.
func newPanel(unit, title string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, "L, length of a row", unit
	p.Title.TextStyle.Font = letters(11).Font
	p.Title.Padding = vg.Points(4)
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, powersOfTwo{}
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Label.TextStyle.Font = letters(10).Font
		axis.Tick.Label.Font = letters(9.5).Font
		axis.Padding = vg.Points(4)
	}
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = lightGray, lightGray
	p.Add(grid)
	return p
}

// reference is a dashed level line.
func reference(lengths []int64, y float64) plot.Plotter {
	l := &plotter.Line{LineStyle: ceilingStyle()}
	for _, x := range lengths {
		if x > 0 {
			l.XYs = append(l.XYs, plotter.XY{X: float64(x), Y: y})
		}
	}
	return l
}

func ceilingStyle() draw.LineStyle {
	return draw.LineStyle{Color: gray, Width: vg.Points(1), Dashes: []vg.Length{2, 2}}
}

// legend lists the contenders, and what the level line is.
func (f Figure) legend(c draw.Canvas) {
	style := letters(10)
	style.YAlign = draw.YCenter
	y := c.Max.Y - 0.9*vg.Centimeter
	entry := func(name string, stroke draw.LineStyle, glyph *draw.GlyphStyle) {
		c.StrokeLine2(stroke, c.Min.X, y, c.Min.X+0.9*vg.Centimeter, y)
		if glyph != nil {
			c.DrawGlyph(*glyph, vg.Point{X: c.Min.X + 0.45*vg.Centimeter, Y: y})
		}
		c.FillText(style, vg.Point{X: c.Min.X + 1.1*vg.Centimeter, Y: y}, name)
		y -= 0.5 * vg.Centimeter
	}
	for _, l := range f.lines(f.sweep.Seconds) {
		glyph := l.look.glyph()
		entry(l.name, l.look.stroke(), &glyph)
	}
	entry("ceiling: "+f.ceilingName(), ceilingStyle(), nil)
}

func (f Figure) ceilingName() string {
	ceiling, ok := f.sweep.Ceiling(f.group.bytes)
	if !ok {
		return "not measured"
	}
	return gigabytes(ceiling.Stream) + " GB/s"
}

// powersOfTwo marks every power of two and names every second or fourth one.
type powersOfTwo struct{}

func (powersOfTwo) Ticks(low, high float64) []plot.Tick {
	first, last := int(math.Ceil(math.Log2(low)-1e-9)), int(math.Floor(math.Log2(high)+1e-9))
	every := 1 + (last-first)/7
	var ticks []plot.Tick
	for e := first; e <= last; e++ {
		t := plot.Tick{Value: math.Exp2(float64(e))}
		if (e-first)%every == 0 {
			t.Label = binary(e)
		}
		ticks = append(ticks, t)
	}
	return ticks
}

// binary names 2^e as 512, 4k, 2M.
func binary(e int) string {
	for _, unit := range []struct {
		exponent int
		suffix   string
	}{{20, "M"}, {10, "k"}} {
		if e >= unit.exponent {
			return fmt.Sprintf("%d%s", 1<<(e-unit.exponent), unit.suffix)
		}
	}
	return fmt.Sprintf("%.4g", math.Exp2(float64(e)))
}

// decades marks 1 to 9 of each power of ten, and names 1, 2 and 5, or all where there are few.
type decades struct{}

func (decades) Ticks(low, high float64) []plot.Tick {
	few := high < 6*low
	var ticks []plot.Tick
	for e := math.Floor(math.Log10(low)); e <= math.Ceil(math.Log10(high)); e++ {
		for m := 1; m <= 9; m++ {
			value := float64(m) * math.Pow(10, e)
			if value < low*(1-1e-9) || value > high*(1+1e-9) {
				continue
			}
			t := plot.Tick{Value: value}
			if m == 1 || m == 2 || m == 5 || few {
				t.Label = fmt.Sprintf("%.3g", value)
			}
			ticks = append(ticks, t)
		}
	}
	return ticks
}
