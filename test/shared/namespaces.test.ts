import type { Informer } from '../../runtime/kubernetes/informer';
import type { KubernetesObject } from '../../runtime/kubernetes/types';
import { Namespaces } from '../../runtime/shared/namespaces';
import { FakeInformer, metadata } from './fake-informer';

const IN = { 'fluxqueue/enabled': 'true' };

class Watch extends FakeInformer<KubernetesObject> {
  hasListed = false;

  label(name: string, labels: Record<string, string>): void {
    this.set({ metadata: metadata(name, { labels }) });
  }
}

function start() {
  const watch = new Watch();
  const namespaces = new Namespaces(watch as unknown as Informer<KubernetesObject>, {
    clusterWide: false,
    excluded: [],
  });
  const changed: string[] = [];
  namespaces.changed.subscribe((name) => changed.push(name));
  return { watch, namespaces, changed };
}

test('a namespace names the queue of its workloads by its label, and a change of it is told', () => {
  const { watch, namespaces, changed } = start();
  watch.label('science', IN);
  expect(namespaces.queueOf('science')).toBeUndefined();
  watch.label('science', { ...IN, 'fluxqueue/queue': 'team' });
  expect(namespaces.queueOf('science')).toBe('team');
  watch.label('science', { ...IN, 'fluxqueue/queue': 'team', tier: 'gold' });
  watch.label('science', IN);
  expect(changed).toEqual(['science', 'science']);
});

test('a namespace that the watch does not show yet is awaited, and its arrival is told', () => {
  const { watch, namespaces, changed } = start();
  // Before the first list nothing is reconciled, and without the right to list, nothing is awaited.
  expect(namespaces.isAwaited('science')).toBe(false);
  watch.hasListed = true;
  watch.label('other', IN);
  expect(changed).toEqual([]);
  expect(namespaces.isAwaited('science')).toBe(true);
  watch.label('science', IN);
  expect(namespaces.isAwaited('science')).toBe(false);
  expect(changed).toEqual(['science']);
});

test('a namespace leaves and comes back by its label', () => {
  const { watch, namespaces, changed } = start();
  watch.label('science', IN);
  watch.label('science', {});
  expect([namespaces.hasLeft('science'), namespaces.hasLeft('unknown')]).toEqual([true, false]);
  watch.label('science', IN);
  expect(changed).toEqual(['science', 'science']);
});
