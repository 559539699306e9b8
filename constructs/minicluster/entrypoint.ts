/** What one cluster has of its own in the scripts: settings, broker options, what the lead starts, the user's blocks. */
import shell from '../../imports/minicluster-shell.json';
import { CERTIFICATE_KEY } from '../api/labels';
import { brokerConfig, resourceSource } from './broker-config';
import type { Parts } from './context';
import { hostlist, hosts, joinsAnother } from './hosts';
import { batchScript, isBatch, leadScript } from './lead-command';
import { mapSorted, sorted } from './object';
import {
  CURVE_FOLDER,
  CURVE_SOURCE,
  configFolder,
  hasView,
  mountPath,
  runFolder,
  SCRIPTS,
} from './pod-paths';
import type { ContainerSpec } from './resource';
import type { DefaultedSpec } from './schema';
import { assignments, ended, quote, quoteAll } from './shell-quote';

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
export function clusterFiles(parts: Parts): Files {
  const { spec } = parts;
  return {
    data: {
      'config_broker.toml': brokerConfig(parts),
      'cluster_broker.sh': brokerScript(spec),
      'cluster_environment.sh': environment(spec),
      'cluster_lead.sh': leadScript(parts),
      'cluster_settings.sh': settings(parts),
    },
    items: CLUSTER_ITEMS,
  };
}

/** The runner's blocks and script; its command is in lead.sh. */
export function runnerFiles(spec: DefaultedSpec, runner: ContainerSpec): Files {
  const batch = isBatch(runner) ? batchScript(spec, runner) : undefined;
  return blockFiles('runner', { ...runner.commands, batch });
}

/** A sidecar's blocks, with what it runs as one of them. */
export function sidecarFiles({ name = '', command, commands = {} }: ContainerSpec): Files {
  const { script, ...blocks } = commands;
  return blockFiles(`sidecars/${name}`, { ...blocks, command: script ?? command });
}

/** @param folder the container's own, so that its blocks have names of their own in the ConfigMap too */
function blockFiles(folder: string, blocks: Readonly<Record<string, string | undefined>>): Files {
  const data: Record<string, string> = {};
  const items: Item[] = [];
  for (const [block, text] of sorted(blocks)) {
    // The prefix is in lead.sh.
    if (text === undefined || text === '' || block === 'prefix') continue;
    const each = item(`${folder}/${block}.sh`);
    data[each.key] = ended(text);
    items.push(each);
  }
  return { data, items };
}

function environment({ flux }: DefaultedSpec): string {
  return mapSorted(flux.environment, (key, value) => `export ${key}=${quote(value)}\n`).join('');
}

const CERTIFICATE = `${CURVE_SOURCE}/${CERTIFICATE_KEY}`;

function settings(parts: Parts): string {
  const { resource, spec, runner } = parts;
  const { flux, logging, archive, pod } = spec;
  const local = resourceSource(parts) === 'local';
  const values: Record<string, string> = {
    affinity: yes(flux.cpuAffinity),
    archive: archive?.path ?? '',
    certificate: CERTIFICATE,
    complete: yes(flux.completeWorkers),
    hostname: pod.hostNetwork === true ? 'pod' : '',
    hosts: local ? hostlist(hosts(resource, spec)) : '',
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
  const words = flux.wrap === undefined ? [] : flux.wrap.split(',');
  words.push('flux', 'broker', CONFIG_PATH);
  words.push(`-Srundir=${runFolder(spec)}`, `-Sstatedir=${configFolder(spec)}/var/lib/flux`);
  if (flux.disableSocket !== true) words.push(`-Slocal-uri=local://${runFolder(spec)}/local`);
  // Explicit, because some of the hosts may be missing for ever. Who joins another cluster leaves it to its lead.
  if (!joinsAnother(spec)) words.push(`-Sbroker.quorum=${spec.minSize ?? spec.size}`);
  if (flux.topology !== undefined) words.push(`-Stbon.topo=${flux.topology}`);
  if (logging.zeromq === true) words.push('-Stbon.zmqdebug=1');
  words.push(
    `-Slog-stderr-level=${logging.quiet === true ? 0 : (flux.logLevel ?? 6)}`,
    '-Slog-stderr-mode=local',
  );
  return `set -- ${quoteAll(words)}\n`;
}
