/** Which changes of namespaces say that their workloads have to be compared. */
import { NAMESPACE_LABEL } from '../../constructs/api/labels';
import type { Change } from '../../runtime/kubernetes/informer';
import type { KubernetesObject } from '../../runtime/kubernetes/types';
import { Namespaces } from '../../runtime/shared/namespaces';
import { Signal } from '../../runtime/signal';
import { metadata } from './fake-informer';

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
  const namespaces = new Namespaces({ changed, get: () => now }, { clusterWide: false, excluded: [] });
  const told: string[] = [];
  namespaces.changed.subscribe((name) => told.push(name));
  changed.emit({ key: 'science', now, before });
  expect(told).toEqual(expected);
});
