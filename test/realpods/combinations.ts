/** The forms in which the stack is run, and what each of them needs. */
import type { FluxQueueProps } from '../../constructs/fluxqueue';
import { findLibrary } from '../../runtime/fluxion/library/find';
import { findAssets } from '../cluster/assets';
import { findImages } from './images';
import { kubernetesVersion } from './programs';
import type { Combination, ScenarioOptions } from './scenario';

/** The first is the stack as dist/ has it. */
const ALL: readonly Combination[] = [
  { admission: 'webhook', fluxion: 'sidecar' },
  { admission: 'policies', fluxion: 'embedded' },
  { admission: 'webhook', fluxion: 'embedded' },
  { admission: 'webhook', fluxion: 'library' },
  { admission: 'policies', fluxion: 'library' },
];

/** Those that were asked for and are possible here; says in one line what is left out. */
export function combinations(wanted: Partial<Combination>, say: (line: string) => void): Combination[] {
  const { admission, fluxion } = wanted;
  const asked = [...ALL, { admission: 'policies', fluxion: 'sidecar' } as const].filter(
    (one) =>
      (admission === undefined || one.admission === admission) &&
      (fluxion === undefined ? ALL.includes(one) : one.fluxion === fluxion),
  );
  if (findLibrary(undefined) !== undefined) return asked;
  if (asked.some((one) => one.fluxion === 'library')) {
    say('left out: Fluxion as a library (no libreapi_cli.so; set FLUXION_LIBRARY)');
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
  // With policies also the stack's own scheduler: both need the version.
  const props: FluxQueueProps = {
    ...(admission === 'policies' ? { kubernetesVersion: version, scheduler: true } : {}),
    ...(fluxion === 'embedded' ? { fluxion: 'embedded' as const } : {}),
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
