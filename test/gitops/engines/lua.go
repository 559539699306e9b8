package main

import (
	"fmt"

	"github.com/argoproj/argo-cd/gitops-engine/pkg/health"
	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// luaHealth runs custom health checks as Argo CD does: gopher-lua with the libraries base and table
// alone, the global obj, and a table with status and message as the result.
type luaHealth map[string]string

func (checks luaHealth) GetResourceHealth(o *unstructured.Unstructured) (*health.HealthStatus, error) {
	gvk := o.GroupVersionKind()
	key := gvk.Kind
	if gvk.Group != "" {
		key = gvk.Group + "_" + gvk.Kind
	}
	script, ok := checks[key]
	if !ok {
		return nil, nil
	}
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer state.Close()
	for name, open := range map[string]lua.LGFunction{lua.BaseLibName: lua.OpenBase, lua.TabLibName: lua.OpenTable} {
		if err := state.CallByParam(lua.P{Fn: state.NewFunction(open), Protect: true}, lua.LString(name)); err != nil {
			return nil, err
		}
	}
	state.SetGlobal("obj", luaValue(state, o.Object))
	if err := state.DoString(script); err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	table, ok := state.Get(-1).(*lua.LTable)
	if !ok {
		return nil, fmt.Errorf("%s: the script does not return a table", key)
	}
	status := health.HealthStatusCode(lua.LVAsString(table.RawGetString("status")))
	switch status {
	case health.HealthStatusHealthy, health.HealthStatusProgressing, health.HealthStatusDegraded, health.HealthStatusSuspended:
		return &health.HealthStatus{Status: status, Message: lua.LVAsString(table.RawGetString("message"))}, nil
	}
	return nil, fmt.Errorf("%s: %q is not a health of Argo CD", key, status)
}

func luaValue(state *lua.LState, value any) lua.LValue {
	switch v := value.(type) {
	case bool:
		return lua.LBool(v)
	case string:
		return lua.LString(v)
	case int64:
		return lua.LNumber(v)
	case float64:
		return lua.LNumber(v)
	case []any:
		table := state.CreateTable(len(v), 0)
		for _, item := range v {
			table.Append(luaValue(state, item))
		}
		return table
	case map[string]any:
		table := state.CreateTable(0, len(v))
		for key, item := range v {
			table.RawSetString(key, luaValue(state, item))
		}
		return table
	}
	return lua.LNil
}
