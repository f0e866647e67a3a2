package op

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// Real is a float64 in JSON, where NaN and the infinities have no number: they are the strings "NaN",
// "+Inf" and "-Inf". A wrong kernel gives them, and its report must still be written.
type Real float64

func (r Real) MarshalJSON() ([]byte, error) {
	f := float64(r)
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return json.Marshal(strconv.FormatFloat(f, 'g', -1, 64))
	}
	return json.Marshal(f)
}

func (r *Real) UnmarshalJSON(text []byte) error {
	var word string
	if json.Unmarshal(text, &word) != nil {
		return json.Unmarshal(text, (*float64)(r))
	}
	f, err := strconv.ParseFloat(word, 64)
	if err != nil {
		return fmt.Errorf("number is %q; a number, \"NaN\", \"+Inf\" and \"-Inf\" are accepted", word)
	}
	*r = Real(f)
	return nil
}

// The types below have the fields of theirs that may not be finite again, as Real. An outer field hides
// the embedded one of the same JSON name.

type plainPosition Position

type jsonPosition struct {
	*plainPosition
	Expected Real `json:"expected"`
	Got      Real `json:"got"`
	Bounds   Real `json:"bounds"`
}

func (p Position) MarshalJSON() ([]byte, error) {
	return json.Marshal(jsonPosition{(*plainPosition)(&p), Real(p.Expected), Real(p.Got), Real(p.Bounds)})
}

func (p *Position) UnmarshalJSON(text []byte) error {
	j := jsonPosition{plainPosition: (*plainPosition)(p)}
	if err := json.Unmarshal(text, &j); err != nil {
		return err
	}
	p.Expected, p.Got, p.Bounds = float64(j.Expected), float64(j.Got), float64(j.Bounds)
	return nil
}

type plainComparison Comparison

type jsonComparison struct {
	*plainComparison
	Worst Real `json:"worst_bounds"`
}

func (c Comparison) MarshalJSON() ([]byte, error) {
	return json.Marshal(jsonComparison{(*plainComparison)(&c), Real(c.Worst)})
}

func (c *Comparison) UnmarshalJSON(text []byte) error {
	j := jsonComparison{plainComparison: (*plainComparison)(c)}
	if err := json.Unmarshal(text, &j); err != nil {
		return err
	}
	c.Worst = float64(j.Worst)
	return nil
}
