import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeShells, spec } from './suite';

const VIEW = join(__dirname, '../../../../constructs/minicluster/shell/view.sh');

describeShells('the init container', (make) => {
  test('copies the view to the volumes of the other containers, also when it runs again', () => {
    const pod = make(spec({ command: 'true' }));
    const text = readFileSync(VIEW, 'utf8').replaceAll(/\/opt|\/flux_software/g, (place) => pod.path(place));
    pod.write('view.sh', text);
    pod.write('/opt/views/._view/abc/bin/flux', '#!/bin/sh\n');
    spawnSync('chmod', ['+x', pod.path('/opt/views/._view/abc/bin/flux')]);
    pod.write('/opt/software/lib/libflux.so', 'x');
    for (const _ of [1, 2]) {
      const { status, stderr } = spawnSync(pod.path('bin/sh'), [pod.path('view.sh'), pod.path('/mnt/flux')], {
        env: { PATH: pod.path('bin') },
        encoding: 'utf8',
      });
      expect([status, stderr]).toEqual([0, '']);
    }
    expect(pod.has('/mnt/flux/view/bin/flux')).toBe(true);
    expect(pod.has('/flux_software/lib/libflux.so')).toBe(true);
  });
});
