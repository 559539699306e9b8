/** Node's heap follows the memory limit of its container. */
import { execFileSync } from 'node:child_process';
import { totalmem } from 'node:os';
import { roleCommand } from '../../../constructs/images';
import { container, podTemplates, stackObjects } from '../manifests';

const [NODE, HEAP] = roleCommand('controller');

describe('programs of the stack in Node', () => {
  const objects = stackObjects({ admission: 'webhook' });
  const containers = podTemplates(objects).flatMap(({ owner, spec }) =>
    [...spec.containers, ...(spec.initContainers ?? [])].map((each) => ({ owner, ...each })),
  );
  const programs = containers.filter(({ command }) => command?.[0] === NODE);

  test('all have a memory limit, and a heap that follows it', () => {
    expect(programs.map(({ owner, name }) => `${owner}/${name}`).sort()).toEqual([
      'fluxqueue-controller/controller',
      'fluxqueue-controller/fluxion',
      'fluxqueue-database/migrate',
      'fluxqueue-database/password',
      'fluxqueue-reader/reader',
      'fluxqueue-webhook/webhook',
    ]);
    for (const { command, resources } of programs) {
      expect(command?.[1]).toBe(HEAP);
      expect(resources?.limits?.memory).toBeDefined();
    }
  });

  test('keep it when the limit is another one', () => {
    const resources = { limits: { memory: '8Gi' } };
    const [template] = podTemplates(stackObjects({ pods: { controller: { resources } } })).filter(
      ({ owner }) => owner === 'fluxqueue-controller',
    );
    const controller = container(template!, 'controller');
    expect(controller.resources?.limits).toEqual(resources.limits);
    expect(controller.command?.[1]).toBe(HEAP);
  });
});

test('Node takes three quarters of the memory that it may use', () => {
  const script = 'v8.getHeapStatistics().heap_size_limit';
  const limit = Number(execFileSync(process.execPath, [HEAP!, '-p', script], { encoding: 'utf8' }));
  const constrained = process.constrainedMemory();
  const available = constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
  // Young objects have a place of their own beside it, of some dozen MiB, or 190 on a large machine.
  expect(limit / available).toBeGreaterThan(0.74);
  expect(limit - 0.75 * available).toBeLessThan(2 ** 28);
});
