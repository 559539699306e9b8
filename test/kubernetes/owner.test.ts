import { controllerOf } from '../../runtime/kubernetes/owner';

const METADATA = { name: 'p', uid: 'p', resourceVersion: '1', creationTimestamp: '1970-01-01T00:00:00Z' };
const owner = (name: string, controller?: boolean) => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  name,
  uid: name,
  ...(controller === undefined ? {} : { controller }),
});

test('finds the one of several owners that is the controller', () => {
  const ownerReferences = [owner('a'), owner('b', false), owner('c', true)];
  expect(controllerOf({ metadata: { ...METADATA, ownerReferences } })?.name).toBe('c');
  expect(
    controllerOf({ metadata: { ...METADATA, ownerReferences: ownerReferences.slice(0, 2) } }),
  ).toBeUndefined();
  expect(controllerOf({ metadata: METADATA })).toBeUndefined();
});
