/** broker.toml: who is in the instance, what it offers, how it schedules. */

import type { Parts } from './context';
import { coreSet } from './cores';
import { brokerPort, type Host, hostlist, hosts, maxSize, serviceAddress } from './hosts';
import { CURVE_FILE, resourceFile } from './pod-paths';
import type { DefaultedSpec } from './schema';
import { ended } from './shell-quote';

/** Without CPUs in the spec: brokers look for themselves, or, where some may be missing, offer what the node of each has. */
export function resourceSource({ spec, cores }: Parts): 'cores' | 'discovered' | 'local' {
  // What users of upstream's brokerConfig point at.
  if (spec.flux.brokerConfig !== undefined) return 'local';
  if (cores !== undefined) return 'cores';
  const mayMiss = maxSize(spec) > (spec.minSize ?? spec.size) || spec.flux.bursting !== undefined;
  return mayMiss ? 'local' : 'discovered';
}

export function brokerConfig(parts: Parts): string {
  const { resource, spec } = parts;
  const { brokerConfig: given } = spec.flux;
  if (given !== undefined) return ended(given);
  const all = hosts(resource, spec);
  // Joined, it is one string; a template would stay a tree of its parts in memory.
  return [ACCESS, bootstrap(parts, all), tbon(spec), resources(parts, all), scheduler(spec)].join('');
}

/** A string of TOML; its escapes are JSON's. */
function text(value: string): string {
  return JSON.stringify(value);
}

const ACCESS = `[access]
allow-guest-user = true
allow-root-owner = true
`;

/** The default bind is every interface: no image and no network names them alike. */
function bootstrap({ resource, spec }: Parts, all: readonly Host[]): string {
  let entries = '';
  for (const { host, connect } of all) {
    const how = connect === undefined ? '' : `, connect = ${text(connect)}`;
    entries += `  { host = ${text(host)}${how} },\n`;
  }
  return `
[bootstrap]
curve_cert = "${CURVE_FILE}"
default_port = ${brokerPort(spec)}
default_bind = "tcp://*:%p"
default_connect = ${text(`tcp://%h.${serviceAddress(resource, spec)}:%p`)}
hosts = [
${entries}]
`;
}

/** A broker that dials the address of a pod that is gone must give up soon: Flux's own 30 s made a new lead wait as long. */
function tbon({ flux: { connectTimeout = '5s' } }: DefaultedSpec): string {
  const dial = connectTimeout === '' ? '' : `connect_timeout = ${text(connectTimeout)}\n`;
  return `\n[tbon]\n${dial}tcp_user_timeout = "20s"\n`;
}

function resources(parts: Parts, all: readonly Host[]): string {
  const { spec, cores = 1 } = parts;
  switch (resourceSource(parts)) {
    case 'discovered':
      return '';
    case 'local':
      return `\n[resource]\nnoverify = true\npath = ${text(resourceFile(spec))}\n`;
    case 'cores':
      return `
[resource]
noverify = true

[[resource.config]]
hosts = ${text(hostlist(all))}
cores = "${coreSet(cores)}"
`;
  }
}

function scheduler({ flux }: DefaultedSpec): string {
  if (flux.scheduler === undefined) return '';
  const { simple, queuePolicy, matchPolicy } = flux.scheduler;
  if (simple === true) return '\n[modules]\nalternatives.sched = "sched-simple"\n';
  const queue =
    queuePolicy === undefined ? '' : `\n[sched-fluxion-qmanager]\nqueue-policy = ${text(queuePolicy)}\n`;
  const match =
    matchPolicy === undefined ? '' : `\n[sched-fluxion-resource]\nmatch-policy = ${text(matchPolicy)}\n`;
  return `${queue}${match}`;
}
