/**
 * Health of the queue's objects for engines of GitOps. The texts are files of the package (constructs/gitops/health), for
 * users who keep their settings of Argo CD and Flux CD elsewhere. docs/gitops.md has the table of what each engine says.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import fluxCdChecks from '../../imports/flux-cd-health.json';
import { FLUXJOB_GROUP, FLUXSETUP_GROUP, MINICLUSTER_GROUP } from '../api/labels';
import { checkByRules } from '../api/prop-rules';
import { text } from '../api/rules';

const FOLDER = join(__dirname, 'health');

/** Argo CD's name of each kind, and the file of its health check. */
const CHECKS = {
  batch_Job: 'job.lua',
  [`${MINICLUSTER_GROUP}_MiniCluster`]: 'resource.lua',
  [`${FLUXSETUP_GROUP}_FluxSetup`]: 'resource.lua',
  [`${FLUXJOB_GROUP}_FluxJob`]: 'resource.lua',
} as const;

/** An entry of `spec.healthCheckExprs` of a Flux CD Kustomization: CEL expressions over the object. */
export interface FluxCdHealthCheck {
  readonly apiVersion: string;
  readonly kind: string;
  readonly failed: string;
  readonly current: string;
}

/** Lua health checks by `GROUP_KIND`. */
export function argoCdHealth(): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(CHECKS).map(([kind, file]) => [kind, readFileSync(join(FOLDER, file), 'utf8')]),
  );
}

/** Value of `spec.healthCheckExprs` of a Flux CD Kustomization. */
export function fluxCdHealth(): readonly FluxCdHealthCheck[] {
  return fluxCdChecks;
}

export interface ArgoCdHealthProps {
  /** Namespace of Argo CD. @default argocd */
  readonly namespace?: string;
}

/**
 * The health checks as a part of Argo CD's settings (ConfigMap argocd-cm). It has nothing but them, so server-side apply adds
 * them to the settings that the cluster has.
 */
export class ArgoCdHealth extends Construct {
  /** @throws PropsError for a wrong prop */
  constructor(scope: Construct, id: string, props: ArgoCdHealthProps = {}) {
    super(scope, id);
    checkByRules('ArgoCdHealth', props, { namespace: text });
    const { namespace = 'argocd' } = props;
    new ApiObject(this, 'settings', {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        name: 'argocd-cm',
        namespace,
        // Argo CD reads no settings without this label.
        labels: { 'app.kubernetes.io/name': 'argocd-cm', 'app.kubernetes.io/part-of': 'argocd' },
        annotations: { 'argocd.argoproj.io/sync-options': 'ServerSideApply=true,Prune=false,Delete=false' },
      },
      data: Object.fromEntries(
        Object.entries(argoCdHealth()).map(([kind, lua]) => [`resource.customizations.health.${kind}`, lua]),
      ),
    });
  }
}
