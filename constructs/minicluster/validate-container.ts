/** Fields of one container that don't go together. */
import { OWN_VOLUMES } from './broker-pod';
import { isBatch } from './lead-command';
import { LABEL } from './names';
import { sorted } from './object';
import type { ContainerSpec } from './resource';
import type { Problem } from './validation-issue';
import { mountPathOf } from './volumes';

type VolumeSpec = NonNullable<ContainerSpec['volumes']>[string];

export function containerProblems(container: ContainerSpec, path: string): Problem[] {
  return [...commandProblems(container, path), ...volumesProblems(container, `${path}.volumes`)];
}

function commandProblems(container: ContainerSpec, path: string): Problem[] {
  const { batch, command, commands, launcher } = container;
  const problems: Problem[] = [];
  if (launcher === true && batch === true)
    problems.push({
      path: `${path}.launcher`,
      what: 'lets the command submit its own jobs, and batch submits its lines',
      value: true,
      remedy: 'choose one',
    });
  if (commands?.script !== undefined && command !== undefined)
    problems.push({
      path: `${path}.command`,
      what: 'and commands.script are two answers to what runs',
      value: command,
      remedy: 'give one',
    });
  if (isBatch(container) && (command ?? '').trim() === '')
    problems.push({
      path: `${path}.command`,
      what: 'is missing, so there is nothing to submit as batch',
      value: command,
      remedy: 'give a command, one job on each line',
    });
  return problems;
}

function volumesProblems({ volumes }: ContainerSpec, path: string): Problem[] {
  if (volumes === undefined) return [];
  const problems = sorted(volumes).flatMap(([name, volume]) =>
    volumeProblems(name, volume, `${path}.${name}`),
  );
  const places = new Map<string, string>();
  for (const [name, volume] of sorted(volumes)) {
    const place = mountPathOf(volume);
    if (place === undefined) continue;
    const other = places.get(place);
    if (other !== undefined)
      problems.push({
        path: `${path}.${name}.path`,
        what: `is where volume ${other} is mounted already`,
        value: place,
        remedy: 'mount it elsewhere',
      });
    places.set(place, name);
  }
  return problems;
}

const SOURCES = ['csiDriver', 'secretName', 'hostPath', 'configMapName', 'claimName', 'nfsServer'] as const;

function volumeProblems(name: string, volume: VolumeSpec, path: string): Problem[] {
  const sources = [
    ...SOURCES.filter((source) => volume[source] !== undefined),
    ...(volume.emptyDir === true ? ['emptyDir'] : []),
  ];
  const rules: readonly [boolean, Problem][] = [
    [
      !LABEL.test(name),
      {
        path,
        what: 'is no name of a volume',
        value: name,
        remedy: 'use lower-case letters, digits and "-", at most 63',
      },
    ],
    [
      OWN_VOLUMES.includes(name),
      { path, what: 'is a name of our own', value: name, remedy: 'give the volume another name' },
    ],
    [
      sources.length > 1,
      { path, what: 'has more than one source', value: sources, remedy: 'leave one of them' },
    ],
    [
      mountPathOf(volume) === undefined,
      { path: `${path}.path`, what: 'must say where it is mounted', value: undefined, remedy: 'give path' },
    ],
    [
      (volume.nfsServer === undefined) !== (volume.nfsPath === undefined),
      {
        path: `${path}.nfsServer`,
        what: 'and nfsPath go together',
        value: volume.nfsServer,
        remedy: 'give both or none',
      },
    ],
  ];
  return rules.filter(([applies]) => applies).map(([, problem]) => problem);
}
