import {
  clusterWide,
  jobs,
  nodes,
  objectPath,
  resourceOf,
  resourcePath,
} from '../../runtime/kubernetes/paths';

const namespaces = clusterWide('', 'v1', 'namespaces');

test.each([
  [jobs(), '/apis/batch/v1/jobs'],
  [jobs('a'), '/apis/batch/v1/namespaces/a/jobs'],
  [jobs('a', 'b', 'status'), '/apis/batch/v1/namespaces/a/jobs/b/status'],
  [nodes('n'), '/api/v1/nodes/n'],
  [
    resourcePath({ group: 'g.io', version: 'v1alpha1', resource: 'things', namespace: 'a', name: 'b' }),
    '/apis/g.io/v1alpha1/namespaces/a/things/b',
  ],
])('%s', (path, expected) => {
  expect(path).toBe(expected);
});

test('escapes names, so that user input stays one part of the path', () => {
  expect(jobs('a/../b', 'x?dryRun=All')).toBe('/apis/batch/v1/namespaces/a%2F..%2Fb/jobs/x%3FdryRun%3DAll');
});

test.each([
  ['a name', () => jobs('a', '')],
  ['a namespace', () => jobs('', 'b')],
  ['a node', () => nodes('')],
])('%s that is empty is refused: the path would be that of all of them', (_, path) => {
  expect(path).toThrow('FLUXQ_EMPTY_NAME');
});

test.each([
  [jobs(), 'jobs'],
  [jobs('a', 'b'), 'jobs'],
  [jobs('a', 'b', 'status'), 'jobs/status'],
  [nodes('n', 'status'), 'nodes/status'],
  [namespaces(), 'namespaces'],
  [namespaces('a'), 'namespaces'],
  [namespaces('a', 'status'), 'namespaces/status'],
  [`${jobs('a')}?limit=500&continue=x/y/z`, 'jobs'],
])('the resource of %s is %s', (path, resource) => {
  expect(resourceOf(path)).toBe(resource);
});

test.each([
  [jobs('a', 'b', 'status'), jobs('a', 'b')],
  [jobs('a', 'b'), jobs('a', 'b')],
  [nodes('n', 'status'), nodes('n')],
  [`${namespaces('a', 'status')}?dryRun=All`, namespaces('a')],
])('the object of %s is %s', (path, object) => {
  expect(objectPath(path)).toBe(object);
});
