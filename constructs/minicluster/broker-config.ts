/** broker.toml: who is in the instance, what it offers, how it schedules. */
import { coreSet, coresOf } from './cores';
import { hostlist, hosts, maxSize, serviceAddress } from './hosts';
import { CURVE_FILE, resourceFile } from './places';
import type { ContainerSpec, MiniClusterResource } from './resource';
import type { DefaultedSpec } from './schema';

/** Without CPUs in the spec: brokers look for themselves, or, where some may be missing, offer what the node of each has. */
export function resourceSource(spec: DefaultedSpec, runner: ContainerSpec): 'cores' | 'discovered' | 'local' {
  // What users of upstream's brokerConfig point at.
  if (spec.flux.brokerConfig !== undefined) return 'local';
  if (coresOf(spec, runner) !== undefined) return 'cores';
  const mayMiss = maxSize(spec) > (spec.minSize ?? spec.size) || spec.flux.bursting !== undefined;
  return mayMiss ? 'local' : 'discovered';
}

export function brokerConfig(
  resource: MiniClusterResource,
  spec: DefaultedSpec,
  runner: ContainerSpec,
): string {
  const { brokerConfig: given } = spec.flux;
  if (given !== undefined) return given.endsWith('\n') ? given : `${given}\n`;
  const tables = [
    ACCESS,
    bootstrap(resource, spec),
    tbon(spec),
    ...resources(resource, spec, runner),
    ...scheduler(spec),
  ];
  return tables.join('\n');
}

type Value = string | number | boolean;

function table(name: string, values: Readonly<Record<string, Value>>): string {
  let text = `[${name}]\n`;
  for (const key in values) text += `${key} = ${JSON.stringify(values[key])}\n`;
  return text;
}

const ACCESS = table('access', { 'allow-guest-user': true, 'allow-root-owner': true });
const NOT_VERIFIED = table('resource', { noverify: true });

function bootstrap(resource: MiniClusterResource, spec: DefaultedSpec): string {
  const entries = hosts(resource, spec).map(({ host, connect }) => {
    const how = connect === undefined ? '' : `, connect = ${JSON.stringify(connect)}`;
    return `  { host = ${JSON.stringify(host)}${how} },\n`;
  });
  const head = table('bootstrap', {
    curve_cert: CURVE_FILE,
    default_port: spec.network.port ?? 8050,
    // Every interface: no image and no network names them alike.
    default_bind: 'tcp://*:%p',
    default_connect: `tcp://%h.${serviceAddress(resource, spec)}:%p`,
  });
  return `${head}hosts = [\n${entries.join('')}]\n`;
}

/** A broker that dials the address of a pod that is gone must give up soon: Flux's own 30 s made a new lead wait as long. */
function tbon({ flux }: DefaultedSpec): string {
  const timeout = flux.connectTimeout === '' ? {} : { connect_timeout: flux.connectTimeout ?? '5s' };
  return table('tbon', { ...timeout, tcp_user_timeout: '20s' });
}

function resources(resource: MiniClusterResource, spec: DefaultedSpec, runner: ContainerSpec): string[] {
  switch (resourceSource(spec, runner)) {
    case 'discovered':
      return [];
    case 'local':
      return [table('resource', { noverify: true, path: resourceFile(spec) })];
    case 'cores': {
      const cores = coreSet(coresOf(spec, runner) ?? 1);
      return [
        NOT_VERIFIED,
        `[[resource.config]]\nhosts = ${JSON.stringify(hostlist(resource, spec))}\ncores = "${cores}"\n`,
      ];
    }
  }
}

function scheduler({ flux }: DefaultedSpec): string[] {
  const { simple, queuePolicy, matchPolicy } = flux.scheduler ?? {};
  if (simple === true) return [table('modules', { 'alternatives.sched': 'sched-simple' })];
  return [
    ...(queuePolicy === undefined ? [] : [table('sched-fluxion-qmanager', { 'queue-policy': queuePolicy })]),
    ...(matchPolicy === undefined ? [] : [table('sched-fluxion-resource', { 'match-policy': matchPolicy })]),
  ];
}
