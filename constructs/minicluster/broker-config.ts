/** The configuration file broker.toml: the hosts of the instance, their resources, the scheduler. */
import type { ClusterContext } from './context';
import { idset } from './cores';
import { brokerPort, type Host, hostDomain, hostlist, hosts, maxSize, serviceAddress } from './hosts';
import { CURVE_FILE, resourceFile } from './pod-paths';
import type { DefaultedSpec } from './schema';
import { withFinalNewline } from './shell-quote';

/**
 * Where Flux gets the resources of the hosts from. `cores`: the configuration names them. `discovered`: without CPU
 * amounts in the spec every broker discovers its own. `local`: where brokers may be missing or come back, a file with
 * the resources of the own node stands for all of them, because Flux forgets discovered resources with their broker.
 * GPUs are in that file too, because Flux does not always discover the devices of a pod.
 */
export function resourceSource(context: ClusterContext): 'cores' | 'discovered' | 'local' {
  const { spec, cores } = context;
  // Users of flux-operator refer to this file in their broker.toml.
  if (spec.flux.brokerConfig !== undefined) return 'local';
  if (cores !== undefined) return 'cores';
  const mayMiss = maxSize(spec) > (spec.minSize ?? spec.size) || spec.flux.bursting !== undefined;
  const comeBack = maxSize(spec) > 1 && (context.interactive || (spec.backoffLimit ?? 0) > 0);
  return mayMiss || comeBack || context.gpus > 0 ? 'local' : 'discovered';
}

export function brokerConfig(context: ClusterContext): string {
  const { resource, spec } = context;
  if (spec.flux.brokerConfig !== undefined) return withFinalNewline(spec.flux.brokerConfig);
  const all = hosts(resource, spec);
  // V8 keeps a template as a tree of its parts in memory; a joined string is flat.
  return [ACCESS, bootstrap(context, all), tbon(spec), resources(context, all), scheduler(spec)].join('');
}

/** Quotes a string for TOML, whose escapes are those of JSON. */
function quoted(value: string): string {
  return JSON.stringify(value);
}

const ACCESS = `[access]
allow-guest-user = true
allow-root-owner = true
`;

/**
 * Brokers listen on every interface, because images and networks name them differently. Without enable_ipv6 brokers
 * never connect in a cluster with IPv6 only; with it they use IPv4 where there is no IPv6.
 */
function bootstrap({ resource, spec }: ClusterContext, all: readonly Host[]): string {
  let entries = '';
  for (const { host, connect } of all) {
    const address = connect === undefined ? '' : `, connect = ${quoted(connect)}`;
    entries += `  { host = ${quoted(host)}${address} },\n`;
  }
  return `
[bootstrap]
curve_cert = "${CURVE_FILE}"
enable_ipv6 = true
default_port = ${brokerPort(spec)}
default_bind = "tcp://*:%p"
default_connect = ${quoted(`tcp://%h${hostDomain(resource, spec) === '' ? `.${serviceAddress(resource, spec)}` : ''}:%p`)}
hosts = [
${entries}]
`;
}

/** A broker that connects to the address of a deleted pod must give up soon: with Flux's 30 s a new lead waited as long. */
function tbon({ flux: { connectTimeout = '5s' } }: DefaultedSpec): string {
  const timeout = connectTimeout === '' ? '' : `connect_timeout = ${quoted(connectTimeout)}\n`;
  return `\n[tbon]\n${timeout}tcp_user_timeout = "20s"\n`;
}

function resources(context: ClusterContext, all: readonly Host[]): string {
  const { spec, cores = 1, gpus } = context;
  switch (resourceSource(context)) {
    case 'discovered':
      return '';
    case 'local':
      return `\n[resource]\nnoverify = true\npath = ${quoted(resourceFile(spec))}\n`;
    case 'cores':
      return `
[resource]
noverify = true

[[resource.config]]
hosts = ${quoted(hostlist(all))}
cores = "${idset(cores)}"
${gpus === 0 ? '' : `gpus = "${idset(gpus)}"\n`}`;
  }
}

function scheduler({ flux }: DefaultedSpec): string {
  if (flux.scheduler === undefined) return '';
  const { simple, queuePolicy, matchPolicy } = flux.scheduler;
  if (simple === true) return '\n[modules]\nalternatives.sched = "sched-simple"\n';
  const queue =
    queuePolicy === undefined ? '' : `\n[sched-fluxion-qmanager]\nqueue-policy = ${quoted(queuePolicy)}\n`;
  const match =
    matchPolicy === undefined ? '' : `\n[sched-fluxion-resource]\nmatch-policy = ${quoted(matchPolicy)}\n`;
  return `${queue}${match}`;
}
