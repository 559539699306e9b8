import { patchEntries, patched } from '../../runtime/kubernetes/json-patch';
import { applyJsonPatch } from '../fuzz/json-patch';

const PATH = '/metadata/labels';

test('adds, replaces and removes entries, and leaves the others', () => {
  const map = { same: '1', changed: '1', removed: '1', other: '1' };
  const wanted = { same: '1', changed: '2', removed: undefined, 'example.com/new~': '3', absent: undefined };
  expect(patchEntries(PATH, map, wanted)).toEqual([
    { op: 'add', path: `${PATH}/changed`, value: '2' },
    { op: 'remove', path: `${PATH}/removed` },
    { op: 'add', path: `${PATH}/example.com~1new~0`, value: '3' },
  ]);
});

test('creates the map if the object has none', () => {
  expect(patchEntries(PATH, undefined, { a: '1', absent: undefined })).toEqual([
    { op: 'add', path: PATH, value: { a: '1' } },
  ]);
});

test('is empty if all entries are as they should be', () => {
  expect(patchEntries(PATH, { a: '1' }, { a: '1', absent: undefined })).toEqual([]);
  expect(patchEntries(PATH, undefined, { absent: undefined })).toEqual([]);
});

test('the patches of admission make the object that the apiserver makes of them', () => {
  const job = {
    metadata: { name: 'a', annotations: { 'x/y': '1', 'keep~me': '2' } },
    spec: { gates: [{ name: 'first' }] },
  };
  const patch = [
    ...patchEntries('/metadata/labels', undefined, { 'fluxqueue/hold': 'true' }),
    ...patchEntries('/metadata/annotations', job.metadata.annotations, { 'x/y': undefined, 'a~b/c': '3' }),
    { op: 'add', path: '/spec/gates/-', value: { name: 'second' } },
    { op: 'add', path: '/spec/suspend', value: true },
  ] as const;
  const made = patched(job, patch);
  expect(made).toEqual(applyJsonPatch(job, patch));
  expect(made).toEqual({
    metadata: {
      name: 'a',
      labels: { 'fluxqueue/hold': 'true' },
      annotations: { 'keep~me': '2', 'a~b/c': '3' },
    },
    spec: { gates: [{ name: 'first' }, { name: 'second' }], suspend: true },
  });
  expect(job.spec.gates).toHaveLength(1);
});
