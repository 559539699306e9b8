/** What one cluster has of its own in the scripts: settings, broker options, what the lead starts, the user's blocks. */
import shell from '../../imports/minicluster-shell.json';
import { CERTIFICATE_KEY } from '../names';
import { brokerConfig, resourceSource } from './broker-config';
import { hostlist, joinsAnother } from './hosts';
import { batchScript, leadScript } from './lead';
import { CURVE_FOLDER, CURVE_SOURCE, configFolder, hasView, mountPath, runFolder, SCRIPTS } from './places';
import type { ContainerSpec, MiniClusterResource } from './resource';
import type { DefaultedSpec } from './schema';
import { sorted } from './tidy';
import { assignments, quote, quoteAll } from './words';

/** A file in SCRIPTS. */
export interface ScriptFile {
  /** Path there. */
  readonly path: string;
  /** Its key in a ConfigMap, where keys have no slashes. */
  readonly key: string;
  readonly text: string;
  /** Run by others as a program, so it needs the right to. @default false */
  readonly executable?: boolean;
}

function file(path: string, text: string): ScriptFile {
  return { path, key: path.replaceAll('/', '_'), text };
}

/** What all clusters have alike. */
const SHARED = {
  batch: file('batch.sh', shell['batch.sh']),
  /** Run by Flux at its start. */
  fluxion: { ...file('rc/rc1.d/fluxion', shell['fluxion.sh']), executable: true },
  lib: file('lib.sh', shell['lib.sh']),
  sidecar: file('sidecar.sh', shell['sidecar.sh']),
  start: file('start.sh', shell['start.sh']),
  timed: file('timed.sh', shell['timed.sh']),
  view: file('view.sh', shell['view.sh']),
} as const;

/** The scripts that are the same in every cluster, as far as this one needs them, in the order of their paths. */
export function sharedScripts(
  spec: DefaultedSpec,
  runner: ContainerSpec,
  sidecars: readonly ContainerSpec[],
): ScriptFile[] {
  const files: ScriptFile[] = [];
  if (runner.batch === true || runner.batchRaw === true) files.push(SHARED.batch);
  files.push(SHARED.lib);
  if (loadsFluxion(spec)) files.push(SHARED.fluxion);
  if (sidecars.length > 0) files.push(SHARED.sidecar);
  files.push(SHARED.start);
  if (spec.logging.timed === true) files.push(SHARED.timed);
  if (hasView(spec)) files.push(SHARED.view);
  return files;
}

function loadsFluxion({ flux }: DefaultedSpec): boolean {
  return flux.scheduler?.simple !== true;
}

const CLUSTER = {
  config: file('config/broker.toml', ''),
  broker: file('cluster/broker.sh', ''),
  environment: file('cluster/environment.sh', ''),
  lead: file('cluster/lead.sh', ''),
  settings: file('cluster/settings.sh', ''),
} as const;

/** The files that say what this cluster is; a change of size changes nothing but their text. */
export function clusterFiles(
  resource: MiniClusterResource,
  spec: DefaultedSpec,
  runner: ContainerSpec,
  name: string,
): ScriptFile[] {
  return [
    { ...CLUSTER.config, text: brokerConfig(resource, spec, runner) },
    { ...CLUSTER.broker, text: brokerScript(spec) },
    { ...CLUSTER.environment, text: environment(spec) },
    { ...CLUSTER.lead, text: leadScript(spec, runner, name) },
    { ...CLUSTER.settings, text: settings(resource, spec, runner) },
  ];
}

/** The user's blocks of one container; `command` is for sidecars, the runner's is in lead.sh. */
export function containerFiles(spec: DefaultedSpec, container: ContainerSpec, name: string): ScriptFile[] {
  const { commands = {}, runFlux } = container;
  const { prefix: _, script: ownScript, ...blocks } = commands;
  const texts: Record<string, string | undefined> = { ...blocks };
  if (runFlux === true) {
    texts.script = ownScript;
    if (container.batch === true || container.batchRaw === true) texts.batch = batchScript(spec, container);
  } else {
    texts.command = ownScript ?? container.command;
  }
  return Object.keys(texts)
    .sort()
    .filter((key) => texts[key] !== undefined && texts[key] !== '')
    .map((key) => ({
      path: `commands/${name}/${key}.sh`,
      key: `commands_${name}_${key}.sh`,
      text: ended(texts[key]!),
    }));
}

function ended(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n`;
}

function environment({ flux }: DefaultedSpec): string {
  return sorted(flux.environment)
    .map(([key, value]) => `export ${key}=${quote(value)}\n`)
    .join('');
}

const CERTIFICATE = `${CURVE_SOURCE}/${CERTIFICATE_KEY}`;

function settings(resource: MiniClusterResource, spec: DefaultedSpec, runner: ContainerSpec): string {
  const { flux, logging, archive, pod } = spec;
  const local = resourceSource(spec, runner) === 'local';
  const isBatch = runner.batch === true || runner.batchRaw === true;
  const values: Record<string, string> = {
    affinity: yes(flux.cpuAffinity),
    archive: archive?.path ?? '',
    certificate: CERTIFICATE,
    complete: yes(flux.completeWorkers),
    hostname: pod.hostNetwork === true ? 'pod' : '',
    hosts: local ? hostlist(resource, spec) : '',
    joins: yes(joinsAnother(spec)),
    logs: runner.logs ?? (isBatch ? '/tmp/fluxout' : ''),
    mount: mountPath(spec),
    name: resource.metadata.name,
    python_path: flux.container?.pythonPath ?? '',
    quiet: yes(logging.quiet),
    resources: local ? 'local' : '',
    run: CURVE_FOLDER,
    socket: `local://${runFolder(spec)}/local`,
    strict: yes(logging.strict),
    timed: yes(logging.timed),
    view: yes(hasView(spec)),
    wait_socket: yes(flux.noWaitSocket !== true && flux.disableSocket !== true),
  };
  const rc = loadsFluxion(spec)
    ? `export FLUX_RC_EXTRA="\${FLUX_RC_EXTRA:+$FLUX_RC_EXTRA:}${SCRIPTS}/rc"\n`
    : '';
  return `${assignments(values)}${rc}`;
}

function yes(flag: boolean | undefined): string {
  return flag === true ? 'yes' : '';
}

const CONFIG_PATH = `--config-path=${SCRIPTS}/config`;

/** The broker and the options that all pods give it. */
function brokerScript(spec: DefaultedSpec): string {
  const { flux, logging } = spec;
  const attributes: Record<string, string | undefined> = {
    rundir: runFolder(spec),
    statedir: `${configFolder(spec)}/var/lib/flux`,
    'local-uri': flux.disableSocket === true ? undefined : `local://${runFolder(spec)}/local`,
    // Explicit, because some of the hosts may be missing for ever. Who joins another cluster leaves it to its lead.
    'broker.quorum': joinsAnother(spec) ? undefined : String(spec.minSize ?? spec.size),
    'tbon.topo': flux.topology,
    'tbon.zmqdebug': logging.zeromq === true ? '1' : undefined,
    'log-stderr-level': logging.quiet === true ? '0' : String(flux.logLevel ?? 6),
    'log-stderr-mode': 'local',
  };
  const wrap = flux.wrap === undefined ? [] : flux.wrap.split(',');
  const words = [...wrap, 'flux', 'broker', CONFIG_PATH];
  for (const key in attributes) if (attributes[key] !== undefined) words.push(`-S${key}=${attributes[key]}`);
  return `set -- ${quoteAll(words)}\n`;
}
