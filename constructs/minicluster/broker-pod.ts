/** The pod of one broker: the init container with Flux, the sidecars, the container with the broker. */
import { REPORT_AUDIENCE } from '../api/labels';
import { affinity, topologySpread } from './affinity';
import type { ConfigMapFiles } from './config-maps';
import { type Container, container, securityContext, TEMPORARY_VOLUME } from './container';
import type { ClusterContext } from './context';
import { brokerPort, headlessName } from './hosts';
import { omitUndefined } from './object';
import { basePod, type PullsImage } from './pod';
import {
  CURVE_FOLDER,
  CURVE_SOURCE,
  hasView,
  MUNGE_FOLDER,
  mountPath,
  REPORT_FOLDER,
  SCRIPTS,
  SOFTWARE,
  SOFTWARE_TARGET,
} from './pod-paths';
import type { ContainerSpec } from './resource';
import type { DefaultedSpec } from './schema';
import { type NamedObject, pushUserVolumes } from './volumes';

const SCRIPTS_VOLUME = 'flux-operator';
const RUN_VOLUME = 'flux-run';
const SOFTWARE_VOLUME = 'flux-software';
const CURVE_VOLUME = 'flux-curve';
const CURVE_SECRET_VOLUME = 'flux-curve-secret';
const MUNGE_VOLUME = 'flux-munge';
const REPORT_VOLUME = 'flux-report';

/** Names of volumes that users cannot use. */
export const RESERVED_VOLUMES: readonly string[] = [
  SCRIPTS_VOLUME,
  RUN_VOLUME,
  SOFTWARE_VOLUME,
  CURVE_VOLUME,
  CURVE_SECRET_VOLUME,
  MUNGE_VOLUME,
  REPORT_VOLUME,
  TEMPORARY_VOLUME,
];

/**
 * Renders the spec of the pod template.
 * @param files the ConfigMaps that are mounted in every container of the pod
 */
export function brokerPod(
  context: ClusterContext,
  files: readonly ConfigMapFiles[],
): Record<string, unknown> {
  const { resource, spec } = context;
  return omitUndefined({
    ...basePod(spec, imagesOf(spec)),
    subdomain: headlessName(resource, spec),
    restartPolicy: restartPolicy(context),
    shareProcessNamespace: spec.shareProcessNamespace,
    terminationGracePeriodSeconds:
      spec.pod.terminationGracePeriodSeconds ?? (spec.archive?.path === undefined ? 30 : 120),
    initContainers: initContainers(context),
    containers: [broker(context)],
    volumes: volumes(context, files),
    affinity: affinity(context),
    topologySpreadConstraints: topologySpread(context),
  });
}

/** A StatefulSet allows Always only. The pod of a command runs once, so that its log is kept. */
export function restartPolicy({ spec, interactive }: ClusterContext): string {
  if (spec.workload === 'StatefulSet') return 'Always';
  return spec.pod.restartPolicy ?? (interactive ? 'OnFailure' : 'Never');
}

function imagesOf(spec: DefaultedSpec): readonly PullsImage[] {
  const view = spec.flux.container;
  return view?.imagePullSecret === undefined || !hasView(spec) ? spec.containers : [...spec.containers, view];
}

function initContainers(context: ClusterContext): Container[] | undefined {
  const all = hasView(context.spec) ? [view(context)] : [];
  for (const spec of context.sidecars) all.push(sidecar(context, spec));
  return all.length === 0 ? undefined : all;
}

function view({ spec }: ClusterContext): Container {
  const { container: from = {} } = spec.flux;
  return omitUndefined({
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

/** Returns a new object each time, because YAML writes an object that occurs twice as an alias. */
function scriptsMount(): NamedObject {
  return { name: SCRIPTS_VOLUME, mountPath: SCRIPTS, readOnly: true };
}

/** Mounts of every container that may use Flux. */
function fluxMounts({ spec }: ClusterContext): NamedObject[] {
  const run = { name: RUN_VOLUME, mountPath: mountPath(spec) };
  if (!hasView(spec)) return [scriptsMount(), run];
  return [scriptsMount(), run, { name: SOFTWARE_VOLUME, mountPath: SOFTWARE }];
}

function broker(context: ClusterContext): Container {
  const { spec, brokerContainer: from, brokerContainerName } = context;
  const mounts = fluxMounts(context).concat(
    { name: CURVE_VOLUME, mountPath: CURVE_FOLDER },
    { name: CURVE_SECRET_VOLUME, mountPath: CURVE_SOURCE, readOnly: true },
  );
  if (spec.flux.mungeSecret !== undefined)
    mounts.push({ name: MUNGE_VOLUME, mountPath: MUNGE_FOLDER, readOnly: true });
  if (spec.flux.report === true)
    mounts.push({ name: REPORT_VOLUME, mountPath: REPORT_FOLDER, readOnly: true });
  return container(spec, from, {
    name: brokerContainerName,
    command: ['/bin/sh', `${SCRIPTS}/start.sh`],
    env: spec.workload === 'StatefulSet' ? [STATEFUL_INDEX] : [],
    ports: [{ name: 'flux', containerPort: brokerPort(spec) }],
    mounts,
  });
}

/** The scripts read this variable; the Job controller sets it, the StatefulSet controller does not. */
const STATEFUL_INDEX: NamedObject = {
  name: 'JOB_COMPLETION_INDEX',
  valueFrom: { fieldRef: { fieldPath: "metadata.labels['apps.kubernetes.io/pod-index']" } },
};

/** A native sidecar starts before the broker and, unlike a plain container, does not keep the pod from ending. */
function sidecar(context: ClusterContext, from: ContainerSpec): Container {
  const name = from.name ?? '';
  const wrapped = from.noWrapEntrypoint !== true;
  return {
    ...container(context.spec, from, {
      name,
      command: wrapped ? ['/bin/sh', `${SCRIPTS}/sidecar.sh`, name] : undefined,
      mounts: fluxMounts(context),
    }),
    restartPolicy: 'Always',
  };
}

function volumes(context: ClusterContext, files: readonly ConfigMapFiles[]): NamedObject[] {
  const { spec, names, brokerContainer, sidecars } = context;
  const { mungeSecret } = spec.flux;
  const scripts: NamedObject = { name: SCRIPTS_VOLUME, projected: { sources: files.map(projection) } };
  const run: NamedObject = { name: RUN_VOLUME, emptyDir: {} };
  const all = (
    hasView(spec) ? [scripts, run, { name: SOFTWARE_VOLUME, emptyDir: {} }] : [scripts, run]
  ).concat(
    { name: CURVE_VOLUME, emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } },
    {
      name: CURVE_SECRET_VOLUME,
      secret: { secretName: names.certificate, defaultMode: certificateMode(context) },
    },
  );
  if (mungeSecret !== undefined)
    all.push({ name: MUNGE_VOLUME, secret: { secretName: mungeSecret, defaultMode: 0o400 } });
  if (spec.flux.report === true) all.push(reportToken());
  if (spec.pod.restricted === true) all.push({ name: TEMPORARY_VOLUME, emptyDir: {} });
  pushUserVolumes(all, brokerContainer, ...sidecars);
  return all;
}

/** The kubelet replaces the token when most of its time has passed; ten minutes are the least. */
function reportToken(): NamedObject {
  const serviceAccountToken = { audience: REPORT_AUDIENCE, expirationSeconds: 600, path: 'token' };
  return { name: REPORT_VOLUME, projected: { sources: [{ serviceAccountToken }] } };
}

function projection({ name, items }: ConfigMapFiles) {
  return { configMap: { name, items } };
}

/** The strictest mode with which the container can still read the file, as its image may choose the user. */
function certificateMode({ spec, brokerContainer }: ClusterContext): number {
  const user = brokerContainer.securityContext?.runAsUser ?? spec.pod.securityContext?.runAsUser;
  const group = spec.pod.securityContext?.fsGroup;
  if (spec.pod.restricted === true || group !== undefined) return 0o440;
  return user === 0 ? 0o400 : 0o444;
}
