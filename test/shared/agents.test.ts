/** Which pods belong to their node: whoever may write pods writes their owners, too. */
import { ADMITTED_LABEL } from '../../constructs/api/labels';
import type { Pod } from '../../runtime/kubernetes/types';
import { isAgent, MIRROR_ANNOTATION } from '../../runtime/shared/agents';

const ownedBy = (apiVersion: string, kind: string, controller = true) => ({
  ownerReferences: [{ apiVersion, kind, name: 'o', uid: 'u', controller }],
});
const ADMITTED = { labels: { [ADMITTED_LABEL]: 'true' } };

test.each<[title: string, metadata: object, expected: boolean]>([
  ['a pod of a DaemonSet', ownedBy('apps/v1', 'DaemonSet'), true],
  ['the mirror of a static pod', { annotations: { [MIRROR_ANNOTATION]: 'x' } }, true],
  ['a pod of a Job', ownedBy('batch/v1', 'Job'), false],
  ['a pod of a DaemonSet that is not its controller', ownedBy('apps/v1', 'DaemonSet', false), false],
  ['a pod of a kind of the same name', ownedBy('example.com/v1', 'DaemonSet'), false],
  ['a pod of the queue that names a DaemonSet', { ...ownedBy('apps/v1', 'DaemonSet'), ...ADMITTED }, false],
])('%s', (_, metadata, expected) => {
  expect(isAgent({ metadata } as Pod)).toBe(expected);
});
