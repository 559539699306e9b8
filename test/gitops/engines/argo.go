package main

import (
	"context"
	"fmt"
	"time"

	"github.com/argoproj/argo-cd/gitops-engine/pkg/cache"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/diff"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/health"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/sync"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/sync/common"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/utils/kube"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/utils/tracing"
	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
)

const (
	// Argo CD tracks by this annotation, as its version 3 does by default.
	tracking = "argocd.argoproj.io/tracking-id"
	manager  = "argocd-controller"
)

type argoEngine struct {
	config *rest.Config
	cache  cache.ClusterCache
}

func newArgo(config *rest.Config) (engine, error) {
	argo := &argoEngine{config: config}
	if config == nil {
		return argo.run, nil
	}
	argo.cache = cache.NewClusterCache(config, cache.SetLogr(logr.Discard()), cache.SetPopulateResourceInfoHandler(
		func(o *unstructured.Unstructured, _ bool) (any, bool) {
			id := o.GetAnnotations()[tracking]
			return id, id != ""
		}))
	if err := argo.cache.EnsureSynced(); err != nil {
		return nil, err
	}
	return argo.run, nil
}

func (a *argoEngine) run(ctx context.Context, cmd *command) (any, error) {
	if cmd.Op == "health" {
		return judgeEach(cmd.Objects, func(o *unstructured.Unstructured) (*verdict, error) {
			result, err := health.GetResourceHealth(o, luaHealth(cmd.Lua))
			if result == nil {
				// No opinion, which Argo CD shows as no health at all and counts as healthy.
				return nil, err
			}
			return &verdict{Status: string(result.Status), Message: result.Message}, err
		})
	}
	if a.config == nil {
		return nil, fmt.Errorf("%q needs a kubeconfig", cmd.Op)
	}
	track(cmd.App, cmd.Objects)
	switch cmd.Op {
	case "sync":
		return a.sync(ctx, cmd)
	case "diff":
		return a.diff(cmd)
	}
	return nil, fmt.Errorf("unknown op %q", cmd.Op)
}

func trackingID(app string, key kube.ResourceKey) string {
	return fmt.Sprintf("%s:%s/%s:%s/%s", app, key.Group, key.Kind, key.Namespace, key.Name)
}

func track(app string, objects []*unstructured.Unstructured) {
	for _, o := range objects {
		annotations := o.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[tracking] = trackingID(app, kube.GetResourceKey(o))
		o.SetAnnotations(annotations)
	}
}

// isManaged is exact: what copied the annotation from its owner is not the app's.
func isManaged(app string) func(*cache.Resource) bool {
	return func(r *cache.Resource) bool { return r.Info == trackingID(app, r.ResourceKey()) }
}

// sync goes on as Argo CD's controller does: each round has the live objects of that moment and the results so far. The
// engine's own Sync keeps the live objects of its start, so a wave with new objects never ends.
func (a *argoEngine) sync(ctx context.Context, cmd *command) (any, error) {
	timeout := time.Duration(cmd.TimeoutSeconds) * time.Second
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	phase, message, started := common.OperationRunning, "", metav1.Now()
	var results []common.ResourceSyncResult
	for {
		pairs, err := a.pairs(cmd)
		if err != nil {
			return nil, err
		}
		round, cleanup, err := sync.NewSyncContext("HEAD", pairs, a.config, a.config, &kube.KubectlCmd{Log: logr.Discard(), Tracer: tracing.NopTracer{}}, "default",
			sync.WithInitialState(phase, message, results, started),
			sync.WithOperationSettings(false, cmd.Prune, cmd.Force, false),
			sync.WithServerSideApply(cmd.ServerSide), sync.WithServerSideApplyManager(manager),
			sync.WithHealthOverride(luaHealth(cmd.Lua)), sync.WithLogr(logr.Discard()))
		if err != nil {
			return nil, err
		}
		round.Sync()
		phase, message, results = round.GetState()
		cleanup()
		outcome := map[string]string{}
		for _, result := range results {
			outcome[result.ResourceKey.String()] = fmt.Sprintf("%s: %s", result.Status, result.Message)
		}
		if phase.Completed() {
			return outcome, nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: %s: %v", ctx.Err(), message, outcome)
		case <-time.After(500 * time.Millisecond):
		}
	}
}

func (a *argoEngine) pairs(cmd *command) (sync.ReconciliationResult, error) {
	live, err := a.cache.GetManagedLiveObjs(cmd.Objects, isManaged(cmd.App))
	if err != nil {
		return sync.ReconciliationResult{}, err
	}
	return sync.Reconcile(cmd.Objects, live, "default", a.cache), nil
}

// diff gives the objects that Argo CD would show as OutOfSync, each with the live and the predicted object.
func (a *argoEngine) diff(cmd *command) (any, error) {
	// The cache follows the watch; a diff is about now.
	a.cache.Invalidate()
	if err := a.cache.EnsureSynced(); err != nil {
		return nil, err
	}
	pairs, err := a.pairs(cmd)
	if err != nil {
		return nil, err
	}
	options := []diff.Option{diff.WithLogr(logr.Discard()), diff.WithManager(manager), diff.WithGVKParser(a.cache.GetGVKParser())}
	if cmd.ServerSide {
		runner, stop, err := a.dryRunner()
		if err != nil {
			return nil, err
		}
		defer stop()
		options = append(options, diff.WithServerSideDiff(true), diff.WithServerSideDryRunner(runner))
	}
	drift := map[string]any{}
	for i, target := range pairs.Target {
		shown := target
		if shown == nil {
			shown = pairs.Live[i]
		}
		result, err := diff.Diff(target, pairs.Live[i], options...)
		if err != nil {
			drift[keyOf(shown)] = err.Error()
		} else if result.Modified {
			drift[keyOf(shown)] = map[string]string{"live": string(result.NormalizedLive), "predicted": string(result.PredictedLive)}
		}
	}
	return drift, nil
}

func (a *argoEngine) dryRunner() (diff.ServerSideDryRunner, func(), error) {
	kubectl := &kube.KubectlCmd{Log: logr.Discard(), Tracer: tracing.NopTracer{}}
	ops, cleanup, err := kubectl.ManageServerSideDiffDryRuns(a.config)
	if err != nil {
		return nil, nil, err
	}
	return diff.NewK8sServerSideDryRunner(ops), cleanup, nil
}
