// Command plugin is the faulty plugin's executable; package faulty is its manual.
package main

import (
	"os"

	"scanhost/shared/faulty"
)

func main() { os.Exit(faulty.Main(os.Args[1:])) }
