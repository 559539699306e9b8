import { Command } from 'commander';
import { complete, completionLines, type Lookup } from '../../runtime/cli/complete';
import { addReadCommands } from '../../runtime/cli/read-commands';
import { addRenderCommand } from '../../runtime/cli/render-command';
import { addWorkloadCommands } from '../../runtime/cli/workload-commands';

const program = new Command('fluxqueue');
addWorkloadCommands(program);
addReadCommands(program);
addRenderCommand(program);
program.command('__complete', { hidden: true });

const NAMES: Readonly<Record<Lookup, readonly string[]>> = {
  workloads: ['train', 'test', 'first'],
  nodes: ['node-1'],
  queues: ['default', 'wide'],
  namespaces: ['science', 'lab'],
  contexts: ['home', 'work'],
};

async function completed(line: string) {
  const asked: unknown[] = [];
  const { candidates, files } = await complete(program, line.split(' '), async (what, of) => {
    asked.push(of);
    return NAMES[what].map((value) => ({ value }));
  });
  return { values: candidates.map(({ value }) => value), files, asked };
}

test.each<[string, readonly string[]]>([
  ['pri', ['priority']],
  ['qu', ['queue']],
  ['__', []],
  ['unknown ', []],
  ['why t', ['train', 'test']],
  ['why train ', []],
  ['queue train ', ['test', 'first']],
  ['priority train ', []],
  ['drain ', ['node-1']],
  ['why -n ', ['science', 'lab']],
  ['why --namespace=s', ['science']],
  // As bash splits it.
  ['why --namespace = s', ['science']],
  ['why --namespace =', ['science', 'lab']],
  ['why -n science --context ', ['home', 'work']],
  ['queue --queue w', ['wide']],
  ['queue -o ', ['table', 'wide', 'name', 'json', 'yaml']],
  ['queue -A -o j', ['json']],
  ['top --by ', []],
  ['history t', ['train', 'test']],
  ['nodes node-0 n', ['node-1']],
  ['whatif --policy h', ['hybrid']],
  ['usage -o ', ['table', 'json', 'yaml']],
  ['drain --a', ['--after-jobs']],
  ['drain --after-jobs --a', []],
  ['queue -w --wa', []],
])('"%s" is completed', async (line, values) => {
  expect((await completed(line)).values).toEqual(values);
});

test('all commands of users are candidates, and no hidden one', async () => {
  const { values } = await completed('');
  expect(values).toEqual(expect.arrayContaining(['queue', 'top', 'why', 'requeue', 'drain', 'render']));
  expect(values).not.toContain('__complete');
});

test('names are looked up where the command would look', async () => {
  const { asked } = await completed('why -n science --context=work t');
  expect(asked).toEqual([{ command: 'why', options: { namespace: 'science', context: 'work' } }]);
});

test('names of files are left to the shell', async () => {
  expect((await completed('render ')).files).toBe(true);
  expect((await completed('whatif -f ')).files).toBe(true);
  expect((await completed('render -n ')).files).toBe(false);
});

test('kubectl reads candidates, descriptions and a directive', () => {
  const candidates = [{ value: 'train', description: 'Running' }, { value: 'test' }];
  expect(completionLines({ candidates, files: false })).toEqual(['train\tRunning', 'test', ':4']);
  expect(completionLines({ candidates: [], files: true })).toEqual([':0']);
});
