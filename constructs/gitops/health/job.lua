-- Argo CD health of batch/Job (resource.customizations.health.batch_Job). Argo CD itself calls a Job Healthy that has been
-- resumed, so each Job that the queue released would be Healthy before it ran.
local status = obj.status or {}
local spec = obj.spec or {}
local labels = obj.metadata.labels or {}
local annotations = obj.metadata.annotations or {}

for _, condition in ipairs(status.conditions or {}) do
  if condition.status == "True" and condition.type == "Failed" then
    return { status = "Degraded", message = condition.message or "the Job failed" }
  end
  if condition.status == "True" and condition.type == "Complete" then
    return { status = "Healthy", message = condition.message or "the Job is complete" }
  end
end

if spec.suspend then
  local hold = annotations["fluxqueue/hold"] or labels["fluxqueue/hold"]
  if labels["fluxqueue/admitted"] ~= "true" then
    return { status = "Suspended", message = "the Job is suspended" }
  end
  if hold == "true" then
    return { status = "Suspended", message = "the Job is held until fluxqueue/hold or suspend: true is removed" }
  end
  return { status = "Progressing", message = "the Job waits in its queue" }
end
if (status.ready or 0) > 0 then
  return { status = "Progressing", message = "the Job runs" }
end
return { status = "Progressing", message = "the pods of the Job start" }
