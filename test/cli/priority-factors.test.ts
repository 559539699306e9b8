import type { PrioritizedJob } from '../../runtime/reader/kinds';
import { waits } from './fluxjobs';
import { type Answer, playedReadApi, refusal } from './played-read-api';

const getApi = playedReadApi();
const WAITING = waits('train', 1);
const JOB: PrioritizedJob = {
  namespace: 'science',
  name: 'train',
  kind: 'Job',
  uid: WAITING.spec.workload.uid,
  queue: 'default',
  points: 10.8625,
  factors: { own: 10, queue: 0, age: 0.3625, fairShare: 0.25, size: 0.25 },
};

async function why(priorities: Answer, ...words: readonly string[]): Promise<string> {
  const answers: Readonly<Record<string, Answer>> = {
    '/fluxjobs/train-job': { body: WAITING },
    '/fluxjobs': { body: { items: [WAITING] } },
    '/priorities': priorities,
    '/nodereports': refusal(403, 'Forbidden', 'no'),
  };
  const api = getApi();
  api.answer = ({ path }) =>
    Object.entries(answers).find(([end]) => path.endsWith(end))?.[1] ?? refusal(404, 'NotFound', 'not found');
  const { refused, output } = await api.run('why', 'train', ...words);
  expect(refused).toBeUndefined();
  return output;
}

test('why says which factors the place of a waiting workload comes from', async () => {
  expect(await why({ body: { jobs: [{ ...JOB, uid: 'of-another-one', points: 1 }, JOB] } })).toContain(
    'its place in the order comes from 10.863 points: 10 of its own + 0 of its queue + 0.363 for its age + 0.25 for fair share + 0.25 for its size\n',
  );
});

test.each([
  ['who may not ask', refusal(403, 'Forbidden', 'no')],
  ['of a stack whose reader is older', refusal(404, 'NotFound', 'not found')],
  ['who asks for the workload of another user', { body: { jobs: [] } }],
])('why says the rest to a user %s', async (_, answer) => {
  const output = await why(answer);
  expect(output).toContain('job/train waits in queue');
  expect(output).not.toContain('points');
});
