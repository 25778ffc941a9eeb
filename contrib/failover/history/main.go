// Check a history of answers for linearizability, key by key, with porcupine: history FILE
//
// A line of FILE has seven columns, divided by tabs: begin and end in nanoseconds, the host asked, kind, operation, key, and answer (yes,
// no, or unknown). A key is one of these:
//
//	token   active from the beginning. see: yes is active, no is not. revoke: yes or unknown
//	once    unused from the beginning. use: yes takes it, no says that it was taken before, unknown may have taken it
//
// What is unknown may have happened at any time since its begin, or never. The exit status is 1 if a history is not linearizable.
package main

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

type question struct{ operation, answer string }

// The state of a key is true while a token is active, or a thing is unused.
var model = porcupine.Model{
	Init: func() interface{} { return true },
	Step: func(state, input, output interface{}) (bool, interface{}) {
		live, asked := state.(bool), input.(question)
		switch asked.operation {
		case "see":
			return live == (asked.answer == "yes"), live
		case "revoke":
			return true, false
		case "use":
			return asked.answer == "unknown" || live == (asked.answer == "yes"), false
		}
		panic("unknown operation " + asked.operation)
	},
}

func readLine(line string, client int) (string, porcupine.Operation, error) {
	column := strings.Split(line, "\t")
	if len(column) != 7 {
		return "", porcupine.Operation{}, fmt.Errorf("%d columns, not 7", len(column))
	}
	begin, err := strconv.ParseInt(column[0], 10, 64)
	if err != nil {
		return "", porcupine.Operation{}, err
	}
	end, err := strconv.ParseInt(column[1], 10, 64)
	if err != nil {
		return "", porcupine.Operation{}, err
	}
	if column[6] == "unknown" {
		end = math.MaxInt64
	}
	return column[3] + " " + column[5], porcupine.Operation{
		ClientId: client, Input: question{column[4], column[6]}, Call: begin, Return: end}, nil
}

func readHistory(name string) (map[string][]porcupine.Operation, int, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, 0, err
	}
	defer file.Close()
	keys, count := map[string][]porcupine.Operation{}, 0
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		count++
		key, operation, err := readLine(lines.Text(), count)
		if err != nil {
			return nil, 0, fmt.Errorf("%s line %d: %v", name, count, err)
		}
		keys[key] = append(keys[key], operation)
	}
	return keys, count, lines.Err()
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: history FILE")
		os.Exit(2)
	}
	keys, count, err := readHistory(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "history:", err)
		os.Exit(2)
	}
	wrong := 0
	for key, operations := range keys {
		if porcupine.CheckOperationsTimeout(model, operations, time.Minute) != porcupine.Ok {
			wrong++
			fmt.Printf("not linearizable: %s\n", key)
		}
	}
	fmt.Printf("porcupine: %d operations on %d keys, %d keys not linearizable\n", count, len(keys), wrong)
	if wrong > 0 || count == 0 {
		os.Exit(1)
	}
}
