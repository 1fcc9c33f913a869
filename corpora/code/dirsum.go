// Command dirsum prints a checksum for every regular file under a directory.
//
// Files are hashed by a small pool of workers, and the results are sorted by
// path before printing, so two runs over the same tree give the same output.
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sort"
	"sync"
)

// fileResult is what a worker reports about one file.
type fileResult struct {
	Path string
	Size int64
	Sum  string
	Err  error
}

// hashFile reads the whole file at path and returns its result.
func hashFile(path string) fileResult {
	f, err := os.Open(path)
	if err != nil {
		return fileResult{Path: path, Err: err}
	}
	defer f.Close()

	h := sha256.New()
	n, err := io.Copy(h, f)
	if err != nil {
		return fileResult{Path: path, Size: n, Err: err}
	}
	return fileResult{Path: path, Size: n, Sum: hex.EncodeToString(h.Sum(nil))}
}

// listFiles sends each regular file below root to the paths channel.
func listFiles(root string, paths chan<- string) error {
	defer close(paths)
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.Type().IsRegular() {
			paths <- path
		}
		return nil
	})
}

// sumTree hashes everything below root with the given number of workers.
func sumTree(root string, workers int) ([]fileResult, error) {
	paths := make(chan string)
	results := make(chan fileResult)
	walkErr := make(chan error, 1)

	go func() { walkErr <- listFiles(root, paths) }()

	var wg sync.WaitGroup
	for i := 0; i < workers; i++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for path := range paths {
				results <- hashFile(path)
			}
		}()
	}
	go func() {
		wg.Wait()
		close(results)
	}()

	var all []fileResult
	for r := range results {
		all = append(all, r)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Path < all[j].Path })
	return all, <-walkErr
}

func main() {
	workers := flag.Int("workers", runtime.NumCPU(), "number of files hashed at once")
	showSize := flag.Bool("size", false, "print the size in bytes too")
	flag.Parse()

	root := "."
	if flag.NArg() > 0 {
		root = flag.Arg(0)
	}
	if *workers < 1 {
		*workers = 1
	}

	all, err := sumTree(root, *workers)
	failed := 0
	for _, r := range all {
		switch {
		case r.Err != nil:
			failed++
			fmt.Fprintf(os.Stderr, "dirsum: %v\n", r.Err)
		case *showSize:
			fmt.Printf("%s  %10d  %s\n", r.Sum, r.Size, r.Path)
		default:
			fmt.Printf("%s  %s\n", r.Sum, r.Path)
		}
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "dirsum: %v\n", err)
		os.Exit(1)
	}
	if failed > 0 {
		os.Exit(1)
	}
}
