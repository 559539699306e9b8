/** What readers of one namespace see of a view of all. */

import { changed, EMPTY, type State } from '../../runtime/dashboard/browser/state';
import type { Changes, JobView, NodeView } from '../../runtime/dashboard/messages';
import { NamespaceView } from '../../runtime/dashboard/namespace-view';
import { jobView, nodeView } from '../../runtime/dashboard/view';
import fc from '../fast-check';
import { node, RUNNING } from './sample';
import { StaticView } from './static-view';

const NOTHING: Changes = { jobs: [], goneJobs: [], nodes: [], goneNodes: [] };
const NODES = ['node0', 'node1', 'node2'].map((name) => nodeView(node(name)));
const TRAIN = jobView(RUNNING);

const job = (namespace: string, name: string, nodes: readonly string[]): JobView => ({
  ...TRAIN,
  namespace,
  key: `${namespace}/${name}`,
  shares: nodes.map((held) => ({ node: held })),
});

function viewOf(source: StaticView, namespace = 'science') {
  const view = new NamespaceView(source, namespace);
  const told: Changes[] = [];
  const end = view.listen((changes) => told.push(changes));
  return { view, told, end };
}

test('has the jobs of the namespace, the nodes that they hold, and says so', () => {
  const { told } = viewOf(new StaticView([TRAIN, job('secret', 'hidden', ['node2'])], NODES));
  expect(told).toEqual([
    {
      ...NOTHING,
      jobs: [TRAIN],
      nodes: NODES.slice(0, 2),
      namespace: 'science',
      nodesUnknown:
        'Only nodes that jobs of science hold are shown, without what other namespaces hold of them.',
    },
  ]);
});

test('a node is seen while a job of the namespace holds it', () => {
  const source = new StaticView([job('science', 'a', [])], NODES);
  const { told } = viewOf(source);
  source.tell({ jobs: [job('science', 'a', ['node1'])] });
  source.tell({ nodes: [{ ...NODES[1]!, state: 'drained' }] });
  source.tell({ goneJobs: ['science/a'] });
  expect(told.slice(1)).toMatchObject([
    { nodes: [NODES[1]] },
    { jobs: [], nodes: [{ name: 'node1', state: 'drained' }] },
    { goneJobs: ['science/a'], goneNodes: ['node1'] },
  ]);
});

test('tells that the view hears nothing, and when it hears again', () => {
  const source = new StaticView([TRAIN], NODES);
  const { view, told } = viewOf(source);
  const trouble = { message: 'The queue cannot be read now.', since: '2026-11-23T12:00:00Z' };
  source.tell({ trouble });
  source.tell({ trouble });
  expect(told.slice(1)).toEqual([{ ...NOTHING, trouble }]);
  view.listen((changes) => expect(changes).toMatchObject({ jobs: [TRAIN], trouble }))();
  source.tell({});
  expect(told.slice(2)).toEqual([NOTHING]);
});

test('tells nothing when others change', () => {
  const source = new StaticView([TRAIN], NODES);
  const { told } = viewOf(source);
  source.tell({ jobs: [job('secret', 'hidden', ['node2'])], nodes: [{ ...NODES[2]!, state: 'down' }] });
  source.tell({ goneJobs: ['secret/hidden', 'secret/science/train-job'], goneNodes: ['node2'] });
  // A namespace whose name begins like this one.
  source.tell({ jobs: [job('science-2', 'x', ['node0'])], goneJobs: ['science-2/y'] });
  expect(told).toHaveLength(1);
});

test('is idle when its last reader has left', () => {
  const { view, end } = viewOf(new StaticView([], []));
  expect(view.isIdle).toBe(false);
  end();
  expect(view.isIdle).toBe(true);
});

const namespaces = ['science', 'secret', 'science-2'];
const names = ['a', 'b', 'c'];
const nodeNames = NODES.map(({ name }) => name);
const someJob = fc
  .tuple(
    fc.constantFrom(...namespaces),
    fc.constantFrom(...names),
    fc.uniqueArray(fc.constantFrom(...nodeNames)),
  )
  .map(([namespace, name, nodes]) => job(namespace, name, nodes));
const someNode = fc
  .tuple(fc.constantFrom(...NODES), fc.constantFrom('up', 'down', 'drained'))
  .map(([view, state]): NodeView => ({ ...view, state }));
const someChange = fc.oneof(
  someJob.map((one) => ({ jobs: [one] })),
  someJob.map(({ key }) => ({ goneJobs: [key] })),
  someNode.map((one) => ({ nodes: [one] })),
  fc.constantFrom(...nodeNames).map((name) => ({ goneNodes: [name] })),
);

test('after any changes, a reader knows what one knows who comes then, and nothing of others', () => {
  fc.assert(
    fc.property(fc.array(someChange, { maxLength: 30 }), (changes) => {
      const source = new StaticView([], []);
      const { view, told } = viewOf(source);
      for (const change of changes) source.tell(change);
      const known = told.reduce<State>((state, message, i) => changed(state, message, i === 0), EMPTY);
      const late: Changes[] = [];
      view.listen((message) => late.push(message));
      const fresh = changed(EMPTY, late[0]!, true);
      expect(new Set(known.jobs.values())).toEqual(new Set(fresh.jobs.values()));
      expect(new Set(known.nodes.values())).toEqual(new Set(fresh.nodes.values()));
      expect([...known.jobs.values()].every(({ namespace }) => namespace === 'science')).toBe(true);
      const held = new Set(
        [...known.jobs.values()].flatMap(({ shares }) => shares.map((share) => share.node)),
      );
      expect([...known.nodes.keys()].every((name) => held.has(name))).toBe(true);
    }),
  );
});
