// The engines of Flux CD and Argo CD behind one line of JSON per command: stdin gets {"op": ..., ...}, stdout answers with
// {"result": ...} or {"error": ...}. The scenarios are in TypeScript; this program knows nothing of them.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
)

// command is one line of stdin. Each operation reads the fields that it needs.
type command struct {
	Op string `json:"op"`
	// App is the name of the Kustomization or Application, whose marks say what a prune may delete.
	App string `json:"app"`
	// Objects are what Git has, or what is judged.
	Objects []*unstructured.Unstructured `json:"objects"`
	// Previous is what Git had at the last apply.
	Previous []*unstructured.Unstructured `json:"previous"`
	// Force deletes and creates again what cannot be updated.
	Force bool `json:"force"`
	Prune bool `json:"prune"`
	// ServerSide chooses server-side apply for Argo CD, whose default is the apply of a client.
	ServerSide bool `json:"serverSide"`
	// Lua has Argo CD's custom health checks, by group_Kind.
	Lua map[string]string `json:"lua"`
	// Cel has Flux CD's healthCheckExprs.
	Cel            []healthCheck `json:"cel"`
	TimeoutSeconds int           `json:"timeoutSeconds"`
}

type engine func(context.Context, *command) (any, error)

var programs = map[string]func(*rest.Config) (engine, error){"flux": newFlux, "argo": newArgo}

func main() {
	start, ok := programs[filepath.Base(os.Args[0])]
	if !ok {
		fail(fmt.Errorf("gitops: call me as flux or argo, with a kubeconfig as argument, or none for offline commands"))
	}
	klog.SetOutput(io.Discard)
	klog.LogToStderr(false)
	ctrllog.SetLogger(logr.Discard())
	config, err := restConfig()
	if err != nil {
		fail(err)
	}
	run, err := start(config)
	if err != nil {
		fail(err)
	}
	serve(run)
}

// restConfig is nil without a kubeconfig: health is judged without a cluster.
func restConfig() (*rest.Config, error) {
	if len(os.Args) < 2 {
		return nil, nil
	}
	config, err := clientcmd.BuildConfigFromFlags("", os.Args[1])
	if err != nil {
		return nil, err
	}
	config.QPS, config.Burst = 500, 1000
	return config, nil
}

func serve(run engine) {
	lines := bufio.NewReader(os.Stdin)
	answers := json.NewEncoder(os.Stdout)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var cmd command
		answer := map[string]any{}
		if err := json.Unmarshal(line, &cmd); err != nil {
			answer["error"] = err.Error()
		} else if result, err := run(context.Background(), &cmd); err != nil {
			answer["error"] = err.Error()
		} else {
			answer["result"] = result
		}
		if err := answers.Encode(answer); err != nil {
			fail(err)
		}
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
