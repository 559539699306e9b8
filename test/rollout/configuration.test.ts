/** The program of each version starts with the file that its own manifests name, whichever manifests were applied last. */
import { parse } from 'yaml';
import type { ConfigInput } from '../../runtime/config';
import type { KubeObject } from '../cluster/api';
import { waitFor } from '../cluster/wait';
import { currentRelease, type Release, releaseOf, versionBefore } from './release';

const PROPS = { externalRuntime: {}, admission: 'policies' } as const;
const KEPT = 'kustomize.toolkit.fluxcd.io/prune';

/** The ConfigMaps of a cluster, as an engine writes and prunes them. */
class Cluster {
  private readonly maps = new Map<string, KubeObject>();

  apply({ objects }: Release): void {
    for (const each of objects) if (each.kind === 'ConfigMap') this.maps.set(each.metadata.name!, each);
  }

  /** Deletes what left Git, once the new pods are Ready. */
  prune({ objects }: Release): void {
    const inGit = new Set(objects.map(({ metadata }) => metadata.name));
    for (const [name, { metadata }] of this.maps)
      if (!inGit.has(name) && metadata.annotations?.[KEPT] !== 'disabled') this.maps.delete(name);
  }

  fileOf({ configMapOf }: Release): ConfigInput {
    const map = this.maps.get(configMapOf('fluxqueue-controller'))!;
    return parse((map.data as Record<string, string>)['config.yaml']!) as ConfigInput;
  }
}

/** A pod of the release, with the sidecar's program, which needs neither apiserver nor database. */
async function starts(release: Release, cluster: Cluster): Promise<string> {
  const { roles } = release;
  const given = cluster.fileOf(release);
  const role = await roles.start('fluxion', {
    ...given,
    fluxion: { ...given.fluxion, listen: roles.fluxionAddress },
  });
  await waitFor(`a pod of ${release.name}`, () => role.isReady());
  const log = role.process.logTail();
  await role.stop();
  return log;
}

const commit = versionBefore();
const releases: Release[] = [];

afterAll(async () => {
  for (const { roles } of releases) await roles.stop();
});

test('a pod of this version starts with a setting of a later one, and warns of it', async () => {
  const cluster = new Cluster();
  const current = currentRelease(PROPS);
  releases.push(current);
  cluster.apply(current);
  expect(await starts(current, cluster)).toMatch(/the setting future in .* is not known to this version/);
});

test('a pod of this version starts again after an engine applied, and pruned for, another one', async () => {
  const cluster = new Cluster();
  const [current, next] = [currentRelease(PROPS), currentRelease({ ...PROPS, logLevel: 'warn' })];
  releases.push(current, next);
  cluster.apply(current);
  const before = cluster.fileOf(current);
  cluster.apply(next);
  cluster.prune(next);
  expect(cluster.fileOf(current)).toEqual(before);
  expect(cluster.fileOf(next)).toMatchObject({ logLevel: 'warn' });
});

if (commit === undefined) process.stderr.write('skipped: the version before (git has no history here)\n');
(commit === undefined ? test.skip : test)(
  'a pod of the version before starts again while and after this one is applied, and is rolled back',
  async () => {
    const cluster = new Cluster();
    const [before, current] = [releaseOf(commit!, PROPS), currentRelease(PROPS)];
    releases.push(before, current);
    let running = before;
    for (const applied of [before, current, before]) {
      cluster.apply(applied);
      // A pod that restarts before its Deployment replaces it, and the one that replaces it.
      await starts(running, cluster);
      await starts(applied, cluster);
      cluster.prune(applied);
      running = applied;
    }
  },
);
