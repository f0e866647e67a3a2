package op

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// Real is a float64 in JSON where NaN and the infinities, which JSON numbers cannot say, are the strings
// "NaN", "+Inf" and "-Inf".
type Real float64

func (r Real) MarshalJSON() ([]byte, error) {
	f := float64(r)
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return json.Marshal(strconv.FormatFloat(f, 'g', -1, 64))
	}
	return json.Marshal(f)
}

func (r *Real) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) != nil {
		return json.Unmarshal(data, (*float64)(r))
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return fmt.Errorf("%q is not a number", text)
	}
	*r = Real(f)
	return nil
}

// The aliases have the fields of the exported types without their methods; their own Real fields, being less
// deeply nested, hide the float64 ones of the same JSON name.
type positionFields Position

type positionJSON struct {
	positionFields
	Expected Real `json:"expected"`
	Got      Real `json:"got"`
	Bounds   Real `json:"bounds"`
}

func (p Position) MarshalJSON() ([]byte, error) {
	return json.Marshal(positionJSON{positionFields(p), Real(p.Expected), Real(p.Got), Real(p.Bounds)})
}

func (p *Position) UnmarshalJSON(data []byte) error {
	var j positionJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	*p = Position(j.positionFields)
	p.Expected, p.Got, p.Bounds = float64(j.Expected), float64(j.Got), float64(j.Bounds)
	return nil
}

type comparisonFields Comparison

type comparisonJSON struct {
	comparisonFields
	Worst Real `json:"worst_bounds"`
}

func (c Comparison) MarshalJSON() ([]byte, error) {
	return json.Marshal(comparisonJSON{comparisonFields(c), Real(c.Worst)})
}

func (c *Comparison) UnmarshalJSON(data []byte) error {
	var j comparisonJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	*c = Comparison(j.comparisonFields)
	c.Worst = float64(j.Worst)
	return nil
}
