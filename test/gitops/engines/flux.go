package main

import (
	"context"
	"fmt"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/polling"
	pollingengine "github.com/fluxcd/cli-utils/pkg/kstatus/polling/engine"
	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"github.com/fluxcd/pkg/apis/kustomize"
	"github.com/fluxcd/pkg/runtime/cel"
	"github.com/fluxcd/pkg/runtime/statusreaders"
	"github.com/fluxcd/pkg/ssa"
	"github.com/fluxcd/pkg/ssa/normalize"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const kustomizations = "flux-system"

type healthCheck struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	kustomize.HealthCheckExpressions
}

type verdict struct {
	Status  string `json:"status"`
	Message string `json:"message"`
}

// jobs is kustomize-controller's own reader of Jobs.
var jobs = statusreaders.NewCustomJobStatusReader(nil)

type fluxEngine struct {
	client  client.Client
	manager *ssa.ResourceManager
}

func newFlux(config *rest.Config) (engine, error) {
	flux := &fluxEngine{}
	if config == nil {
		return flux.run, nil
	}
	c, err := client.New(config, client.Options{})
	if err != nil {
		return nil, err
	}
	poller := polling.NewStatusPoller(c, c.RESTMapper(), polling.Options{CustomStatusReaders: []pollingengine.StatusReader{jobs}})
	// The field manager and the label group of kustomize-controller.
	owner := ssa.Owner{Field: "kustomize-controller", Group: "kustomize.toolkit.fluxcd.io"}
	flux.client, flux.manager = c, ssa.NewResourceManager(c, poller, owner)
	return flux.run, nil
}

func (f *fluxEngine) run(ctx context.Context, cmd *command) (any, error) {
	switch cmd.Op {
	case "kstatus":
		return judgeEach(cmd.Objects, func(o *unstructured.Unstructured) (*verdict, error) {
			return builtIn(ctx, o)
		})
	case "cel":
		return judgeEach(cmd.Objects, func(o *unstructured.Unstructured) (*verdict, error) {
			return evaluate(ctx, cmd.Cel, o)
		})
	}
	if f.manager == nil {
		return nil, fmt.Errorf("%q needs a kubeconfig", cmd.Op)
	}
	switch cmd.Op {
	case "apply":
		return f.apply(ctx, cmd)
	case "prune":
		return f.prune(ctx, cmd)
	case "wait":
		timeout := time.Duration(cmd.TimeoutSeconds) * time.Second
		err := f.manager.Wait(cmd.Objects, ssa.WaitOptions{Interval: 200 * time.Millisecond, Timeout: timeout})
		return "ready", err
	}
	return nil, fmt.Errorf("unknown op %q", cmd.Op)
}

// apply does what kustomize-controller does with the objects of a Kustomization.
func (f *fluxEngine) apply(ctx context.Context, cmd *command) (any, error) {
	if err := normalize.UnstructuredList(cmd.Objects); err != nil {
		return nil, err
	}
	f.manager.SetOwnerLabels(cmd.Objects, cmd.App, kustomizations)
	options := ssa.DefaultApplyOptions()
	options.Force = cmd.Force
	options.WaitInterval = 100 * time.Millisecond
	changes, err := f.manager.ApplyAllStaged(ctx, cmd.Objects, options)
	return actions(changes), err
}

// prune deletes what the inventory of the last apply has and Git has no more, as kustomize-controller does.
func (f *fluxEngine) prune(ctx context.Context, cmd *command) (any, error) {
	kept := map[string]bool{}
	for _, o := range cmd.Objects {
		kept[keyOf(o)] = true
	}
	var stale []*unstructured.Unstructured
	for _, o := range cmd.Previous {
		if !kept[keyOf(o)] {
			stale = append(stale, o)
		}
	}
	options := ssa.DefaultDeleteOptions()
	options.Inclusions = f.manager.GetOwnerLabels(cmd.App, kustomizations)
	options.Exclusions = map[string]string{
		"kustomize.toolkit.fluxcd.io/prune":     "disabled",
		"kustomize.toolkit.fluxcd.io/reconcile": "disabled",
	}
	changes, err := f.manager.DeleteAll(ctx, stale, options)
	return actions(changes), err
}

func keyOf(o *unstructured.Unstructured) string {
	return fmt.Sprintf("%s/%s/%s", o.GroupVersionKind().GroupKind(), o.GetNamespace(), o.GetName())
}

func actions(changes *ssa.ChangeSet) map[string]string {
	result := map[string]string{}
	if changes != nil {
		for _, entry := range changes.Entries {
			result[entry.Subject] = entry.Action.String()
		}
	}
	return result
}

func fromKstatus(result *status.Result) *verdict {
	if result == nil {
		return nil
	}
	return &verdict{Status: result.Status.String(), Message: result.Message}
}

// evaluate judges an object by its kind's expressions, or without them as Flux CD does by kstatus.
func evaluate(ctx context.Context, checks []healthCheck, o *unstructured.Unstructured) (*verdict, error) {
	for _, check := range checks {
		if check.APIVersion == o.GetAPIVersion() && check.Kind == o.GetKind() {
			evaluator, err := cel.NewStatusEvaluator(&check.HealthCheckExpressions)
			if err != nil {
				return nil, err
			}
			result, err := evaluator.Evaluate(ctx, o)
			return fromKstatus(result), err
		}
	}
	return builtIn(ctx, o)
}

// builtIn is what kustomize-controller says without expressions: kstatus, but for Jobs.
func builtIn(ctx context.Context, o *unstructured.Unstructured) (*verdict, error) {
	if jobs.Supports(o.GroupVersionKind().GroupKind()) {
		result, err := jobs.ReadStatusForObject(ctx, nil, o)
		if err != nil {
			return nil, err
		}
		return &verdict{Status: result.Status.String(), Message: result.Message}, result.Error
	}
	result, err := status.Compute(o)
	return fromKstatus(result), err
}

func judgeEach(objects []*unstructured.Unstructured, judge func(*unstructured.Unstructured) (*verdict, error)) ([]*verdict, error) {
	verdicts := make([]*verdict, len(objects))
	for i, o := range objects {
		result, err := judge(o)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", keyOf(o), err)
		}
		verdicts[i] = result
	}
	return verdicts, nil
}
