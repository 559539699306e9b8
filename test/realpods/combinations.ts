/** The combinations in which the stack runs, and the images that they need. */
import type { FluxQueueProps } from '../../constructs/fluxqueue';
import { findLibrary } from '../../runtime/fluxion/library/find';
import { findAssets } from '../cluster/assets';
import { findImages } from './images';
import { kubernetesVersion } from './programs';
import type { Combination, ScenarioOptions } from './scenario';

/** The first combination is dist/. */
const ALL: readonly Combination[] = [
  { admission: 'webhook', fluxion: 'sidecar' },
  { admission: 'policies', fluxion: 'embedded' },
  { admission: 'webhook', fluxion: 'embedded' },
  { admission: 'webhook', fluxion: 'library' },
  { admission: 'policies', fluxion: 'library' },
];

/** Returns the requested combinations that this machine supports, and reports in one line which are skipped. */
export function combinations(wanted: Partial<Combination>, say: (line: string) => void): Combination[] {
  const { admission, fluxion } = wanted;
  const asked = [...ALL, { admission: 'policies', fluxion: 'sidecar' } as const].filter(
    (one) =>
      (admission === undefined || one.admission === admission) &&
      (fluxion === undefined ? ALL.includes(one) : one.fluxion === fluxion),
  );
  if (findLibrary(undefined) !== undefined) return asked;
  if (asked.some((one) => one.fluxion === 'library')) {
    say('skipped: Fluxion as a library (no libreapi_cli.so; set FLUXION_LIBRARY)');
  }
  return asked.filter((one) => one.fluxion !== 'library');
}

/** Builds the images that it needs. */
export async function prepare(
  combination: Combination,
  progress: (line: string) => void,
): Promise<Pick<ScenarioOptions, 'admission' | 'fluxion' | 'props' | 'images'>> {
  const { admission, fluxion } = combination;
  const version = kubernetesVersion();
  // Both policies and the scheduler of the stack need the version.
  const props: FluxQueueProps = {
    ...(admission === 'policies' ? { kubernetesVersion: version, scheduler: true } : {}),
    ...(fluxion === 'embedded' ? { fluxion: 'embedded' as const } : {}),
    ...(fluxion === 'library' ? { fluxionEngine: 'library' as const } : {}),
  };
  const library = fluxion === 'library' ? findLibrary(undefined) : undefined;
  const scheduler = {
    program: (await findAssets({ progress }))['kube-scheduler'],
    image: `registry.k8s.io/kube-scheduler:v${version}`,
  };
  const images = await findImages({
    progress,
    ...(library === undefined ? {} : { library }),
    ...(props.scheduler === true ? { scheduler } : {}),
  });
  return { admission, fluxion, props, images };
}
