import { NAMESPACE_LABEL } from '../../constructs/api/labels';
import type { Change, Informer } from '../../runtime/kubernetes/informer';
import type { KubernetesObject } from '../../runtime/kubernetes/types';
import { Namespaces } from '../../runtime/shared/namespaces';
import { Signal } from '../../runtime/signal';
import { FakeInformer, metadata } from './fake-informer';

const IN = { 'fluxqueue/enabled': 'true' };

class Watch extends FakeInformer<KubernetesObject> {
  override isComplete = false;

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
  watch.isComplete = true;
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

const science = (value?: string): KubernetesObject => ({
  metadata: metadata('science', value === undefined ? {} : { labels: { [NAMESPACE_LABEL]: value } }),
});

test.each<[string, KubernetesObject | undefined, KubernetesObject | undefined, readonly string[]]>([
  ['loses its label', science('true'), science(), ['science']],
  ['gets its label', science(), science('true'), ['science']],
  ['changes otherwise', science('true'), science('true'), []],
  ['is seen for the first time with its label', undefined, science('true'), []],
  // Its list may come long after its workloads: then nothing said before that it has left.
  ['is seen for the first time without its label', undefined, science(), ['science']],
  ['is deleted', science('true'), undefined, []],
])('a namespace that %s', (_, before, now, expected) => {
  const changed = new Signal<Change<KubernetesObject>>();
  const namespaces = new Namespaces(
    { changed, get: () => now, isComplete: true },
    { clusterWide: false, excluded: [] },
  );
  const told: string[] = [];
  namespaces.changed.subscribe((name) => told.push(name));
  changed.emit({ key: 'science', now, before });
  expect(told).toEqual(expected);
});
