/** The shell scripts of the pods, run by the shells that images have, with a fake flux. */
import type { MiniClusterSpec } from '../../../../constructs/minicluster';
import { PodFiles, type Shell } from '../pod-files';

export type ContainerSpec = MiniClusterSpec['containers'][number];

/** A cluster of four with this container; the spec can have more fields. */
export function spec(
  container: Partial<ContainerSpec>,
  more: Partial<MiniClusterSpec> = {},
): MiniClusterSpec {
  return { size: 4, containers: [{ image: 'app', ...container }], ...more };
}

/** Defines tests under each shell; `make` creates the files of a pod, which are removed after the test. */
export function describeShells(
  title: string,
  define: (make: (of: MiniClusterSpec) => PodFiles, shell: Shell) => void,
): void {
  describe.each<Shell>(['bash', 'dash'])(`${title} under %s`, (shell) => {
    const pods: PodFiles[] = [];
    afterEach(() => {
      for (const pod of pods.splice(0)) pod.remove();
    });
    define((of) => {
      const pod = new PodFiles(of, shell);
      pods.push(pod);
      return pod;
    }, shell);
  });
}
