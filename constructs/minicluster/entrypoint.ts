/** The files of the pods: the shared scripts, the settings of one cluster, the scripts of its user. */
import shell from '../../imports/minicluster-shell.json';
import { CERTIFICATE_KEY } from '../api/labels';
import { brokerConfig, resourceSource } from './broker-config';
import type { ClusterContext } from './context';
import { idset } from './cores';
import { hostDomain, hostlist, hosts, joinsAnother } from './hosts';
import { batchScript, isBatch, leadScript } from './lead-command';
import { mapSorted, sortedEntries } from './object';
import {
  CURVE_FOLDER,
  CURVE_SOURCE,
  configFolder,
  hasView,
  mountPath,
  REPORT_TOKEN,
  runFolder,
  SCRIPTS,
} from './pod-paths';
import type { ContainerSpec, ReportContact } from './resource';
import type { DefaultedSpec } from './schema';
import { assignments, quote, quoteAll, withFinalNewline } from './shell-quote';

/** A file in the directory SCRIPTS, as a projected volume lists it. */
interface Item {
  /** Key of the file in a ConfigMap, where keys have no slashes. */
  readonly key: string;
  /** Path of the file in the directory. */
  readonly path: string;
  /** Mode of the file, for programs that are executed. @default - readable */
  readonly mode?: number;
}

/** The files of one ConfigMap: their texts by key, and their paths. */
export interface Files {
  readonly data: Readonly<Record<string, string>>;
  readonly items: readonly Item[];
}

function item(path: string): Item {
  return { key: path.replaceAll('/', '_'), path };
}

type SharedScript = keyof typeof shell;

/** Scripts that are the same in all clusters. */
const SHARED_SCRIPTS: Readonly<Record<SharedScript, Item>> = {
  'batch.sh': item('batch.sh'),
  // Flux executes it when the instance starts.
  'fluxion.sh': { ...item('rc/rc1.d/fluxion'), mode: 0o555 },
  'lib.sh': item('lib.sh'),
  'rc.sh': item('rc.sh'),
  'report.py': item('report.py'),
  'sidecar.sh': item('sidecar.sh'),
  'start.sh': item('start.sh'),
  'timed.sh': item('timed.sh'),
  'view.sh': item('view.sh'),
};

/** The shared scripts that this cluster needs, in the order of their paths. */
export function sharedScripts(
  spec: DefaultedSpec,
  brokerContainer: ContainerSpec,
  sidecars: readonly ContainerSpec[],
): Files {
  const names: SharedScript[] = [];
  if (isBatch(brokerContainer)) names.push('batch.sh');
  names.push('lib.sh');
  if (loadsFluxion(spec)) names.push('fluxion.sh');
  names.push('rc.sh');
  if (spec.flux.report === true) names.push('report.py');
  if (sidecars.length > 0) names.push('sidecar.sh');
  names.push('start.sh');
  if (spec.logging.timed === true) names.push('timed.sh');
  if (hasView(spec)) names.push('view.sh');
  return filesOf(names);
}

/** The files for each combination of scripts; there are few combinations and there may be thousands of clusters. */
const FILES_BY_NAMES = new Map<string, Files>();

function filesOf(names: readonly SharedScript[]): Files {
  const combination = names.join();
  const known = FILES_BY_NAMES.get(combination);
  if (known !== undefined) return known;
  const data = Object.fromEntries(names.map((name) => [SHARED_SCRIPTS[name].key, shell[name]]));
  const files = {
    data: Object.freeze(data),
    items: Object.freeze(names.map((name) => SHARED_SCRIPTS[name])),
  };
  FILES_BY_NAMES.set(combination, files);
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

const REPORTING_ITEMS = Object.freeze([...CLUSTER_ITEMS, item('cluster/report.json')]);

/**
 * The files with the settings of this cluster; a change of its size changes only their text.
 * @param report whom the lead broker reports to
 */
export function clusterFiles(context: ClusterContext, report?: ReportContact): Files {
  const { spec } = context;
  const reports = spec.flux.report === true;
  return {
    data: {
      'config_broker.toml': brokerConfig(context),
      'cluster_broker.sh': brokerScript(spec),
      'cluster_environment.sh': environment(spec),
      'cluster_lead.sh': leadScript(context),
      'cluster_settings.sh': settings(context),
      ...(reports && { 'cluster_report.json': `${JSON.stringify(report ?? {})}\n` }),
    },
    items: reports ? REPORTING_ITEMS : CLUSTER_ITEMS,
  };
}

/** The user's scripts of the brokers' container; its command is in lead.sh. */
export function brokerContainerFiles(spec: DefaultedSpec, brokerContainer: ContainerSpec): Files {
  const batch = isBatch(brokerContainer) ? batchScript(spec, brokerContainer) : undefined;
  return userScripts('runner', { ...brokerContainer.commands, batch });
}

/** The user's scripts of a sidecar, with its command as one of them. */
export function sidecarFiles({ name = '', command, commands = {} }: ContainerSpec): Files {
  const { script, ...scripts } = commands;
  return userScripts(`sidecars/${name}`, { ...scripts, command: script ?? command });
}

/** @param folder folder of the container, which makes the keys in the ConfigMap unique */
function userScripts(folder: string, scripts: Readonly<Record<string, string | undefined>>): Files {
  const data: Record<string, string> = {};
  const items: Item[] = [];
  for (const [name, text] of sortedEntries(scripts)) {
    // The prefix is in lead.sh.
    if (text === undefined || text === '' || name === 'prefix') continue;
    const file = item(`${folder}/${name}.sh`);
    data[file.key] = withFinalNewline(text);
    items.push(file);
  }
  return { data, items };
}

function environment({ flux }: DefaultedSpec): string {
  return mapSorted(flux.environment, (key, value) => `export ${key}=${quote(value)}\n`).join('');
}

const CERTIFICATE = `${CURVE_SOURCE}/${CERTIFICATE_KEY}`;

function settings(context: ClusterContext): string {
  const { resource, spec, brokerContainer } = context;
  const { flux, logging, archive, network, pod } = spec;
  const local = resourceSource(context) === 'local';
  const values: Record<string, string> = {
    affinity: flag(flux.cpuAffinity),
    archive: archive?.path ?? '',
    certificate: CERTIFICATE,
    gpus: local && context.gpus > 0 ? idset(context.gpus) : '',
    complete: flag(flux.completeWorkers),
    domain: hostDomain(resource, spec),
    hostname: pod.hostNetwork === true || network.fqdn === true ? 'pod' : '',
    hosts: local ? hostlist(hosts(resource, spec)) : '',
    joins: flag(joinsAnother(spec)),
    logs: brokerContainer.logs ?? (isBatch(brokerContainer) ? '/tmp/fluxout' : ''),
    mount: mountPath(spec),
    name: resource.metadata.name,
    python_path: flux.container?.pythonPath ?? '',
    quiet: flag(logging.quiet),
    report: flux.report === true ? REPORT_TOKEN : '',
    resources: local ? 'local' : '',
    run: CURVE_FOLDER,
    socket: `local://${runFolder(spec)}/local`,
    strict: flag(logging.strict),
    timed: flag(logging.timed),
    view: flag(hasView(spec)),
    wait_socket: flag(flux.noWaitSocket !== true && flux.disableSocket !== true),
  };
  const rc = loadsFluxion(spec)
    ? `export FLUX_RC_EXTRA="\${FLUX_RC_EXTRA:+$FLUX_RC_EXTRA:}${SCRIPTS}/rc"\n`
    : '';
  return `${assignments(values)}${rc}`;
}

function flag(flag: boolean | undefined): string {
  return flag === true ? 'yes' : '';
}

const CONFIG_PATH = `--config-path=${SCRIPTS}/config`;

/** The broker and its options, which are the same in all pods. */
function brokerScript(spec: DefaultedSpec): string {
  const { flux, logging } = spec;
  const words = flux.wrap === undefined ? [] : flux.wrap.split(',');
  words.push('flux', 'broker', CONFIG_PATH);
  words.push(`-Srundir=${runFolder(spec)}`, `-Sstatedir=${configFolder(spec)}/var/lib/flux`);
  if (flux.disableSocket !== true) words.push(`-Slocal-uri=local://${runFolder(spec)}/local`);
  // Set explicitly, because some hosts may never come. In a cluster that joins another the lead broker there decides.
  if (!joinsAnother(spec)) words.push(`-Sbroker.quorum=${spec.minSize ?? spec.size}`);
  if (flux.topology !== undefined) words.push(`-Stbon.topo=${flux.topology}`);
  if (logging.zeromq === true) words.push('-Stbon.zmqdebug=1');
  words.push(
    `-Slog-stderr-level=${logging.quiet === true ? 0 : (flux.logLevel ?? 6)}`,
    '-Slog-stderr-mode=local',
  );
  // Otherwise each worker prints `overlay.crit` when the lead broker ends.
  if (logging.quiet === true) words.push('-Slog-critical-level=0');
  return `set -- ${quoteAll(words)}\n`;
}
