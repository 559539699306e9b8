-- Argo CD health of MiniCluster, FluxSetup and FluxJob (resource.customizations.health.GROUP_KIND): their conditions Ready,
-- Reconciling and Stalled mean the same for all of them.
local status = obj.status or {}
local found = {}
for _, condition in ipairs(status.conditions or {}) do
  found[condition.type] = condition
end
local ready = found["Ready"]
local message = ready and ready.message or ""

-- A FluxJob has no observedGeneration: its spec and status are written together.
if ready == nil or (status.observedGeneration or obj.metadata.generation) ~= obj.metadata.generation then
  return { status = "Progressing", message = "not observed by the controller yet" }
end
if found["Stalled"] and found["Stalled"].status == "True" then
  return { status = "Degraded", message = found["Stalled"].message }
end
if status.result == "Cancelled" then
  return { status = "Degraded", message = message }
end
if ready.status == "True" and not (found["Reconciling"] and found["Reconciling"].status == "True") then
  return { status = "Healthy", message = message }
end
if ready.reason == "Held" then
  return { status = "Suspended", message = message }
end
return { status = "Progressing", message = message }
