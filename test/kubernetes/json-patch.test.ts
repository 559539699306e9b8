import { patchEntries } from '../../runtime/kubernetes/json-patch';

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
