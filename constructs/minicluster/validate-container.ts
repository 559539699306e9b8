/** Fields of one container that conflict with each other. */
import { amountOf, lessThan } from '../api/amounts';
import { RESERVED_VOLUMES } from './broker-pod';
import { isBatch } from './lead-command';
import { DNS_LABEL } from './names';
import { sortedEntries } from './object';
import type { ContainerSpec, VolumeSpec } from './resource';
import type { ValidationIssue } from './validation-issue';
import { mountPathOf } from './volumes';

export function containerIssues(container: ContainerSpec, path: string): ValidationIssue[] {
  return [
    ...commandIssues(container, path),
    ...volumesIssues(container, `${path}.volumes`),
    ...resourceIssues(container, `${path}.resources`),
  ];
}

/** Amounts that the apiserver refuses in the pods. */
function resourceIssues({ resources = {} }: ContainerSpec, path: string): ValidationIssue[] {
  const { requests = {}, limits = {} } = resources;
  return [
    ...sortedEntries(requests).flatMap(([name, amount]) => amountIssues(name, amount, `${path}.requests`)),
    ...sortedEntries(limits).flatMap(([name, amount]) => amountIssues(name, amount, `${path}.limits`)),
    ...sortedEntries(limits).flatMap(([name, amount]) => {
      const request = requests[name];
      if (request === undefined || !lessThan(amount, request)) return [];
      const message = `is less than the request of ${request}`;
      return [
        { path: `${path}.limits.${name}`, message, value: amount, remedy: 'raise it, or lower the request' },
      ];
    }),
  ];
}

/** Thousandths of a core are the smallest amount of cpu. */
const FINEST = 1e-3;

function amountIssues(name: string, value: string | number, parent: string): ValidationIssue[] {
  const path = `${parent}.${name}`;
  const amount = amountOf(value);
  if (amount === undefined)
    return [
      {
        path,
        message: 'must be an amount of 0 or more',
        value,
        remedy: 'give a number, or a quantity of Kubernetes',
      },
    ];
  if (name !== 'cpu' || isWhole(amount / FINEST)) return [];
  return [
    { path, message: 'must be whole thousandths of a core', value, remedy: 'give 0.001 or a multiple of it' },
  ];
}

function isWhole(value: number): boolean {
  return Math.abs(value - Math.round(value)) < 1e-6;
}

function commandIssues(container: ContainerSpec, path: string): ValidationIssue[] {
  const { batch, command, commands, launcher } = container;
  const issues: ValidationIssue[] = [];
  if (launcher === true && batch === true)
    issues.push({
      path: `${path}.launcher`,
      message: 'cannot be combined with batch',
      value: true,
      remedy: 'remove one of them',
    });
  if (commands?.script !== undefined && command !== undefined)
    issues.push({
      path: `${path}.command`,
      message: 'cannot be combined with commands.script',
      value: command,
      remedy: 'remove one of them',
      propRemedy: 'remove command or script',
    });
  if (isBatch(container) && (command ?? '').trim() === '')
    issues.push({
      path: `${path}.command`,
      message: 'is required with batch',
      value: command,
      remedy: 'set a command with one job on each line',
    });
  return issues;
}

function volumesIssues({ volumes }: ContainerSpec, path: string): ValidationIssue[] {
  if (volumes === undefined) return [];
  const issues = sortedEntries(volumes).flatMap(([name, volume]) =>
    volumeIssues(name, volume, `${path}.${name}`),
  );
  const byMountPath = new Map<string, string>();
  for (const [name, volume] of sortedEntries(volumes)) {
    const mountPath = mountPathOf(volume);
    if (mountPath === undefined) continue;
    const other = byMountPath.get(mountPath);
    if (other !== undefined)
      issues.push({
        path: `${path}.${name}.path`,
        message: `is the mount path of volume ${other} too`,
        value: mountPath,
        remedy: 'mount one of them at another path',
      });
    byMountPath.set(mountPath, name);
  }
  return issues;
}

const SOURCES = ['csiDriver', 'secretName', 'hostPath', 'configMapName', 'claimName', 'nfsServer'] as const;

function volumeIssues(name: string, volume: VolumeSpec, path: string): ValidationIssue[] {
  const sources = [
    ...SOURCES.filter((source) => volume[source] !== undefined),
    ...(volume.emptyDir === true ? ['emptyDir'] : []),
  ];
  const rules: readonly [boolean, ValidationIssue][] = [
    [
      !DNS_LABEL.test(name),
      {
        path,
        message: 'is not a valid name of a volume',
        value: name,
        remedy: 'use at most 63 lower-case letters, digits and "-"',
      },
    ],
    [
      RESERVED_VOLUMES.includes(name),
      { path, message: 'has a reserved name', value: name, remedy: 'give the volume another name' },
    ],
    [
      sources.length > 1,
      { path, message: 'must have only one source', value: sources, remedy: 'remove all but one' },
    ],
    [
      mountPathOf(volume) === undefined,
      { path: `${path}.path`, message: 'is required', value: undefined, remedy: 'set the mount path' },
    ],
    [
      (volume.nfsServer === undefined) !== (volume.nfsPath === undefined),
      {
        path: `${path}.nfsServer`,
        message: 'requires nfsPath and is required by it',
        value: volume.nfsServer,
        remedy: 'set both or none',
      },
    ],
  ];
  return rules.filter(([applies]) => applies).map(([, issue]) => issue);
}
