import { mergePatchOf } from '../../runtime/kubernetes/merge-patch';

test('names what is gone as null, and what is there as it is', () => {
  expect(mergePatchOf({ phase: 'Waiting', position: 3 }, { phase: 'Ready', nodes: 'n[0-3]' })).toEqual({
    phase: 'Ready',
    position: null,
    nodes: 'n[0-3]',
  });
  expect(mergePatchOf({}, { position: 0 })).toEqual({ position: 0 });
});
