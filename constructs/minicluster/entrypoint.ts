/** What one cluster has of its own in the scripts: settings, broker options, what the lead starts, the user's blocks. */
import shell from '../../imports/minicluster-shell.json';
import { CERTIFICATE_KEY } from '../names';
import { brokerConfig, resourceSource } from './broker-config';
import { hostlist, joinsAnother } from './hosts';
import { batchScript, isBatch, leadScript } from './lead';
import { CURVE_FOLDER, CURVE_SOURCE, configFolder, hasView, mountPath, runFolder, SCRIPTS } from './places';
import type { ContainerSpec, MiniClusterResource } from './resource';
import type { DefaultedSpec } from './schema';
import { sorted } from './tidy';
import { assignments, quote, quoteAll } from './words';

/** A file in SCRIPTS, as a projected volume lists it. */
interface Item {
  /** Its key in a ConfigMap, where keys have no slashes. */
  readonly key: string;
  /** Path there. */
  readonly path: string;
  /** Run by others as a program, so it needs the right to. @default - readable */
  readonly mode?: number;
}

/** The files of one ConfigMap: their texts by key, and where each goes. */
export interface Files {
  readonly data: Readonly<Record<string, string>>;
  readonly items: readonly Item[];
}

function item(path: string): Item {
  return { key: path.replaceAll('/', '_'), path };
}

type SharedScript = keyof typeof shell;

/** What all clusters have alike. */
const SHARED: Readonly<Record<SharedScript, Item>> = {
  'batch.sh': item('batch.sh'),
  /** Run by Flux at its start. */
  'fluxion.sh': { ...item('rc/rc1.d/fluxion'), mode: 0o555 },
  'lib.sh': item('lib.sh'),
  'sidecar.sh': item('sidecar.sh'),
  'start.sh': item('start.sh'),
  'timed.sh': item('timed.sh'),
  'view.sh': item('view.sh'),
};

/** The scripts that are the same in every cluster, as far as this one needs them, in the order of their paths. */
export function sharedScripts(
  spec: DefaultedSpec,
  runner: ContainerSpec,
  sidecars: readonly ContainerSpec[],
): Files {
  const names: SharedScript[] = [];
  if (isBatch(runner)) names.push('batch.sh');
  names.push('lib.sh');
  if (loadsFluxion(spec)) names.push('fluxion.sh');
  if (sidecars.length > 0) names.push('sidecar.sh');
  names.push('start.sh');
  if (spec.logging.timed === true) names.push('timed.sh');
  if (hasView(spec)) names.push('view.sh');
  return filesOf(names);
}

/** Made once for each choice of them: there are few, and clusters by the thousand. */
const MADE = new Map<string, Files>();

function filesOf(names: readonly SharedScript[]): Files {
  const choice = names.join();
  const known = MADE.get(choice);
  if (known !== undefined) return known;
  const data = Object.fromEntries(names.map((name) => [SHARED[name].key, shell[name]]));
  const files = { data: Object.freeze(data), items: Object.freeze(names.map((name) => SHARED[name])) };
  MADE.set(choice, files);
  return files;
}

function loadsFluxion({ flux }: DefaultedSpec): boolean {
  return flux.scheduler?.simple !== true;
}

const CLUSTER_ITEMS = Object.freeze([
  item('config/broker.toml'),
  item('cluster/broker.sh'),
  item('cluster/environment.sh'),
  item('cluster/lead.sh'),
  item('cluster/settings.sh'),
]);

/** The files that say what this cluster is; a change of size changes nothing but their text. */
export function clusterFiles(
  resource: MiniClusterResource,
  spec: DefaultedSpec,
  runner: ContainerSpec,
  name: string,
): Files {
  return {
    data: {
      'config_broker.toml': brokerConfig(resource, spec, runner),
      'cluster_broker.sh': brokerScript(spec),
      'cluster_environment.sh': environment(spec),
      'cluster_lead.sh': leadScript(spec, runner, name),
      'cluster_settings.sh': settings(resource, spec, runner),
    },
    items: CLUSTER_ITEMS,
  };
}

/** The user's blocks of one container; `command` is for sidecars, the runner's is in lead.sh. */
export function containerFiles(spec: DefaultedSpec, container: ContainerSpec, name: string): Files {
  const { commands = {}, runFlux } = container;
  const { prefix: _, script: ownScript, ...blocks } = commands;
  const texts: Record<string, string | undefined> = { ...blocks };
  if (runFlux === true) {
    texts.script = ownScript;
    if (isBatch(container)) texts.batch = batchScript(spec, container);
  } else {
    texts.command = ownScript ?? container.command;
  }
  const data: Record<string, string> = {};
  const items: Item[] = [];
  for (const [block, text] of sorted(texts)) {
    if (text === undefined || text === '') continue;
    const each = item(`commands/${name}/${block}.sh`);
    data[each.key] = ended(text);
    items.push(each);
  }
  return { data, items };
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
  const values: Record<string, string> = {
    affinity: yes(flux.cpuAffinity),
    archive: archive?.path ?? '',
    certificate: CERTIFICATE,
    complete: yes(flux.completeWorkers),
    hostname: pod.hostNetwork === true ? 'pod' : '',
    hosts: local ? hostlist(resource, spec) : '',
    joins: yes(joinsAnother(spec)),
    logs: runner.logs ?? (isBatch(runner) ? '/tmp/fluxout' : ''),
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
