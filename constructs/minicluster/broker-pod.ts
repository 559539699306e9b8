/** The pod of one broker: the view of Flux, sidecars, the runner. */

import { affinity, topologySpread } from './affinity';
import type { Scripts } from './config-maps';
import { type Container, container, securityContext, TEMPORARY_VOLUME } from './container';
import type { Parts } from './context';
import { brokerPort, headlessName } from './hosts';
import { given } from './object';
import { basePod, type Pulled } from './pod';
import {
  CURVE_FOLDER,
  CURVE_SOURCE,
  hasView,
  MUNGE_FOLDER,
  mountPath,
  SCRIPTS,
  SOFTWARE,
  SOFTWARE_TARGET,
} from './pod-paths';
import type { DefaultedSpec } from './schema';
import { type Named, pushUserVolumes } from './volumes';

const SCRIPTS_VOLUME = 'flux-operator';
const RUN_VOLUME = 'flux-run';
const SOFTWARE_VOLUME = 'flux-software';
const CURVE_VOLUME = 'flux-curve';
const CURVE_SECRET_VOLUME = 'flux-curve-secret';
const MUNGE_VOLUME = 'flux-munge';

/** Names that volumes of users can't have. */
export const OWN_VOLUMES: readonly string[] = [
  SCRIPTS_VOLUME,
  RUN_VOLUME,
  SOFTWARE_VOLUME,
  CURVE_VOLUME,
  CURVE_SECRET_VOLUME,
  MUNGE_VOLUME,
  TEMPORARY_VOLUME,
];

/** The pod template's spec. @param scripts all that the pod's containers find */
export function brokerPod(parts: Parts, scripts: readonly Scripts[]): Record<string, unknown> {
  const { resource, spec } = parts;
  return given({
    ...basePod(spec, pulled(spec)),
    subdomain: headlessName(resource, spec),
    restartPolicy: restartPolicy(parts),
    shareProcessNamespace: spec.shareProcessNamespace,
    terminationGracePeriodSeconds:
      spec.pod.terminationGracePeriodSeconds ?? (spec.archive?.path === undefined ? 30 : 120),
    initContainers: initContainers(parts),
    containers: [runner(parts)],
    volumes: volumes(parts, scripts),
    affinity: affinity(parts),
    topologySpreadConstraints: topologySpread(parts),
  });
}

/** A StatefulSet restarts by itself; one try is one pod for a command, so that its log stays. */
export function restartPolicy({ spec, interactive }: Parts): string {
  if (spec.workload === 'StatefulSet') return 'Always';
  return spec.pod.restartPolicy ?? (interactive ? 'OnFailure' : 'Never');
}

function pulled(spec: DefaultedSpec): readonly Pulled[] {
  const view = spec.flux.container;
  return view?.imagePullSecret === undefined || !hasView(spec) ? spec.containers : [...spec.containers, view];
}

function initContainers(parts: Parts): Container[] | undefined {
  const all = hasView(parts.spec) ? [view(parts)] : [];
  for (const each of parts.sidecars) all.push(sidecar(parts, each));
  return all.length === 0 ? undefined : all;
}

function view({ spec }: Parts): Container {
  const { container: from = {} } = spec.flux;
  return given({
    name: from.name ?? 'flux-view',
    image: from.image,
    imagePullPolicy: from.pullAlways === true ? 'Always' : 'IfNotPresent',
    command: ['/bin/sh', `${SCRIPTS}/view.sh`, mountPath(spec)],
    workingDir: from.workingDir,
    resources: from.resources,
    securityContext: securityContext(spec, from.securityContext),
    volumeMounts: [
      scriptsMount(),
      { name: RUN_VOLUME, mountPath: mountPath(spec) },
      { name: SOFTWARE_VOLUME, mountPath: SOFTWARE_TARGET },
    ],
  });
}

/** A new one each time: YAML writes an object that is there twice as a reference. */
function scriptsMount(): Named {
  return { name: SCRIPTS_VOLUME, mountPath: SCRIPTS, readOnly: true };
}

/** In every container that may use Flux. */
function fluxMounts({ spec }: Parts): Named[] {
  const run = { name: RUN_VOLUME, mountPath: mountPath(spec) };
  if (!hasView(spec)) return [scriptsMount(), run];
  return [scriptsMount(), run, { name: SOFTWARE_VOLUME, mountPath: SOFTWARE }];
}

function runner(parts: Parts): Container {
  const { spec, runner: from, runnerName } = parts;
  const mounts = fluxMounts(parts).concat(
    { name: CURVE_VOLUME, mountPath: CURVE_FOLDER },
    { name: CURVE_SECRET_VOLUME, mountPath: CURVE_SOURCE, readOnly: true },
  );
  if (spec.flux.mungeSecret !== undefined)
    mounts.push({ name: MUNGE_VOLUME, mountPath: MUNGE_FOLDER, readOnly: true });
  return container(spec, from, {
    name: runnerName,
    command: ['/bin/sh', `${SCRIPTS}/start.sh`],
    env: spec.workload === 'StatefulSet' ? [STATEFUL_INDEX] : [],
    ports: [{ name: 'flux', containerPort: brokerPort(spec) }],
    mounts,
  });
}

/** What the Job controller gives its pods by itself. */
const STATEFUL_INDEX: Named = {
  name: 'JOB_COMPLETION_INDEX',
  valueFrom: { fieldRef: { fieldPath: "metadata.labels['apps.kubernetes.io/pod-index']" } },
};

/** A native sidecar: it starts before the broker and, unlike a plain container, does not keep the pod from ending. */
function sidecar(parts: Parts, from: Parts['runner']): Container {
  const name = from.name ?? '';
  const wrapped = from.noWrapEntrypoint !== true;
  return {
    ...container(parts.spec, from, {
      name,
      command: wrapped ? ['/bin/sh', `${SCRIPTS}/sidecar.sh`, name] : undefined,
      mounts: fluxMounts(parts),
    }),
    restartPolicy: 'Always',
  };
}

function volumes(parts: Parts, scripts: readonly Scripts[]): Named[] {
  const { spec, names, runner, sidecars } = parts;
  const { mungeSecret } = spec.flux;
  const files: Named = { name: SCRIPTS_VOLUME, projected: { sources: scripts.map(scriptSource) } };
  const run: Named = { name: RUN_VOLUME, emptyDir: {} };
  const all = (hasView(spec) ? [files, run, { name: SOFTWARE_VOLUME, emptyDir: {} }] : [files, run]).concat(
    { name: CURVE_VOLUME, emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } },
    {
      name: CURVE_SECRET_VOLUME,
      secret: { secretName: names.certificate, defaultMode: certificateMode(parts) },
    },
  );
  if (mungeSecret !== undefined)
    all.push({ name: MUNGE_VOLUME, secret: { secretName: mungeSecret, defaultMode: 0o400 } });
  if (spec.pod.restricted === true) all.push({ name: TEMPORARY_VOLUME, emptyDir: {} });
  pushUserVolumes(all, runner, ...sidecars);
  return all;
}

function scriptSource({ name, items }: Scripts) {
  return { configMap: { name, items } };
}

/** As tight as lets the runner read it: who that is, the image may decide. */
function certificateMode({ spec, runner }: Parts): number {
  const user = runner.securityContext?.runAsUser ?? spec.pod.securityContext?.runAsUser;
  const group = spec.pod.securityContext?.fsGroup;
  if (spec.pod.restricted === true || group !== undefined) return 0o440;
  return user === 0 ? 0o400 : 0o444;
}
