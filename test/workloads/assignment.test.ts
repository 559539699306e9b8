import {
  type AssignmentPart,
  encodeAssignment,
  isBeyondAssignment,
  nodeOfIndex,
  nodesOf,
  openAssignment,
  soleNode,
} from '../../runtime/workloads/assignment';
import fc from '../fast-check';

const nodeNames = fc.stringMatching(/^[a-z0-9]([-a-z0-9.]{0,10}[a-z0-9])?$/);
const assignments = fc.uniqueArray(fc.record({ node: nodeNames, pods: fc.integer({ min: 1, max: 6 }) }), {
  minLength: 1,
  maxLength: 40,
  selector: (part) => part.node,
});

const total = (parts: readonly AssignmentPart[]) => parts.reduce((sum, { pods }) => sum + pods, 0);

describe('writing an assignment', () => {
  it('groups nodes by their number of pods, largest first, and keeps the given order', () => {
    const parts = [
      { node: 'n3', pods: 1 },
      { node: 'n2', pods: 4 },
      { node: 'n1', pods: 4 },
    ];
    expect(encodeAssignment(parts)).toBe('0/4:n2,n1;8/1:n3');
  });

  it('adds up the pods of a node that appears twice', () => {
    expect(
      encodeAssignment([
        { node: 'a', pods: 1 },
        { node: 'b', pods: 2 },
        { node: 'a', pods: 2 },
      ]),
    ).toBe('0/3:a;3/2:b');
  });

  it('stays below 100 kB for 5,000 pods on 1,250 nodes with 60-character names', () => {
    const parts = Array.from({ length: 1250 }, (_, i) => ({
      node: `${'n'.repeat(55)}-${1000 + i}`,
      pods: 4,
    }));
    expect(parts[0]!.node).toHaveLength(60);
    const text = encodeAssignment(parts);
    expect(text.length).toBeLessThan(100_000);
    expect(nodeOfIndex(text, 4999)).toBe(parts[1249]!.node);
    expect(nodeOfIndex(text, 5000)).toBeUndefined();
  });

  it.each([
    [[]],
    [[{ node: 'n1', pods: 0 }]],
    [[{ node: 'n1', pods: 1.5 }]],
    [[{ node: 'n1,n2', pods: 1 }]],
    [[{ node: '', pods: 1 }]],
  ])('refuses %j', (parts) => {
    expect(() => encodeAssignment(parts)).toThrow(
      expect.objectContaining({ code: 'FLUXQ_ASSIGNMENT_INVALID' }),
    );
  });
});

describe('reading an assignment', () => {
  it('returns the nodes and pods that were written', () => {
    fc.assert(
      fc.property(assignments, (parts) => {
        const read = nodesOf(encodeAssignment(parts));
        const byName = (a: AssignmentPart, b: AssignmentPart) => (a.node < b.node ? -1 : 1);
        expect([...read].sort(byName)).toEqual([...parts].sort(byName));
        expect(read.map(({ pods }) => pods)).toEqual(read.map(({ pods }) => pods).sort((a, b) => b - a));
      }),
    );
  });

  it('maps each index of 0..pods-1 to one node, once per pod of that node, and no other index', () => {
    fc.assert(
      fc.property(assignments, (parts) => {
        const text = encodeAssignment(parts);
        const pods = total(parts);
        const seen = Array.from({ length: pods }, (_, index) => nodeOfIndex(text, index));
        expect(seen).toEqual(nodesOf(text).flatMap(({ node, pods: n }) => Array<string>(n).fill(node)));
        for (const beyond of [-1, pods, pods + 1, 0.5, Number.NaN])
          expect(nodeOfIndex(text, beyond)).toBeUndefined();
      }),
    );
  });

  it('returns the sole node exactly if there is one', () => {
    fc.assert(
      fc.property(assignments, (parts) => {
        expect(soleNode(encodeAssignment(parts))).toBe(parts.length === 1 ? parts[0]!.node : undefined);
      }),
    );
  });

  it('maps the same indexes when it is open, and later indexes to no node', () => {
    fc.assert(
      fc.property(assignments, (parts) => {
        const closed = encodeAssignment(parts);
        const pods = total(parts);
        const text = openAssignment(closed, pods);
        expect(nodesOf(text)).toEqual(nodesOf(closed));
        expect(soleNode(text)).toBeUndefined();
        for (let index = 0; index < pods; index += 1) {
          expect(nodeOfIndex(text, index)).toBe(nodeOfIndex(closed, index));
          expect(isBeyondAssignment(text, index)).toBe(false);
        }
        for (const later of [pods, pods + 1, pods + 1000]) {
          expect(nodeOfIndex(text, later)).toBeUndefined();
          expect(isBeyondAssignment(text, later)).toBe(true);
          expect(isBeyondAssignment(closed, later)).toBe(false);
        }
        expect(isBeyondAssignment(text, Number.NaN)).toBe(false);
      }),
    );
  });

  it('never throws, and returns valid node names only', () => {
    const nearly = fc.stringMatching(/^[0-9/:;,a-zA-Z -]{0,30}$/);
    fc.assert(
      fc.property(fc.oneof(fc.string(), nearly), fc.nat(40), (text, index) => {
        for (const node of [
          nodeOfIndex(text, index),
          soleNode(text),
          ...nodesOf(text).map((part) => part.node),
        ]) {
          if (node !== undefined) expect(node).toMatch(/^[a-z0-9][-a-z0-9.]*$/);
        }
      }),
    );
  });

  it.each(['', 'n1', '0:n1', '0/0:n1', '/1:n1', '0/1', '0/1:', '-1/2:n1', '0/1:N1', '0/1:a b'])(
    'returns no node for %j',
    (text) => {
      expect(nodeOfIndex(text, 0)).toBeUndefined();
      expect(soleNode(text)).toBeUndefined();
      expect(nodesOf(text)).toEqual([]);
    },
  );
});
