import { mergePatchOf } from '../../runtime/kubernetes/merge-patch';

test('has null for removed fields and the new value of the others', () => {
  expect(mergePatchOf({ phase: 'Waiting', position: 3 }, { phase: 'Ready', nodes: 'n[0-3]' })).toEqual({
    phase: 'Ready',
    position: null,
    nodes: 'n[0-3]',
  });
  expect(mergePatchOf({}, { position: 0 })).toEqual({ position: 0 });
});
