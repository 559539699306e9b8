/** The lines of a shell in README and docs, and who runs each of them where. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '../..');

export interface Line {
  /** Document and line number. */
  readonly place: string;
  /** Word by word; one with a here-document has several lines. */
  readonly text: string;
}

const BLOCK = /^( *)```(bash|sh|console)\n(.*?)^\1```$/gms;

/** Every line that the documents tell a reader to type. docs/cli.md is written by a test that runs its lines. */
export function documentedLines(): readonly Line[] {
  return globSync('{README.md,docs/*.md}', { cwd: ROOT })
    .filter((document) => document !== 'docs/cli.md')
    .sort()
    .flatMap((document) => {
      const page = readFileSync(join(ROOT, document), 'utf8');
      return [...page.matchAll(BLOCK)].flatMap(({ index, 2: language, 3: block = '' }) => {
        const place = `${document}:${page.slice(0, index).split('\n').length}`;
        return typed(block, language === 'console').map((text) => ({ place, text }));
      });
    });
}

/** A console shows what a line prints; in another block each line is typed. */
function typed(block: string, isConsole: boolean): readonly string[] {
  if (isConsole) return [...block.matchAll(/^ *\$ (.*)$/gm)].map(([, text = '']) => text);
  const found: string[] = [];
  let end: string | undefined;
  for (const line of block.split('\n').map((text) => text.trimEnd())) {
    if (end === undefined && line.trim() === '') continue;
    if (end === undefined) found.push(line.trim());
    else found[found.length - 1] += `\n${line}`;
    if (line === end) end = undefined;
    else end ??= /<<'?(\w+)'?/.exec(line)?.[1];
  }
  return found;
}

export type Where =
  /** A project with nothing but the package, on each Node. */
  | 'project'
  /** The clone of this repository. */
  | 'clone'
  /** A cluster without the stack. */
  | 'empty cluster';

export interface Plan {
  readonly where: Where;
  /** An administrator of the cluster, or somebody with the role `edit` or `admin` in one namespace. */
  readonly as: 'admin' | 'user' | 'owner';
  /** It does not end by itself: it gets Ctrl-C when what it prints matches. */
  readonly until?: RegExp;
  /** On Node 20 it is refused with this sentence. */
  readonly refusedOn20?: RegExp;
}

export interface Skipped {
  readonly because: string;
}

const REAL_NODES = 'it shows real nodes, on which npm run -s realpods installs, uses and removes the stack';

/** Documents of which another command runs the lines, or whose objects are those of a reader. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'docs/gitops.md': 'test/stack/documented-commands runs them',
  'docs/helm.md': 'the chart is not published yet; test/helm installs it',
  'docs/network.md':
    'the nodes are simulated, so no kubelet forwards a port; npm run -s realpods has real ones',
  'docs/reasons.md': 'it is generated from what the program prints (test/cli/why)',
};

/** The first that matches says what happens to a line. */
const PLANS: readonly (readonly [pattern: RegExp, plan: Plan | Skipped])[] = [
  [/^npm ci && npm start/, { because: 'npm start -- --keep is what the other lines run on; CI runs npm ci' }],
  [/^npm ci && npm test/, { because: 'this is a part of it' }],
  [/^npm install \.\/cdk8s-fluxqueue/, { because: 'each project is made by it' }],
  [/^kubectl apply --server-side -f dist\//, { where: 'empty cluster', as: 'admin' }],
  [/^for file in dist\/\*\.yaml; do kubectl apply/, { where: 'empty cluster', as: 'admin' }],
  [/^kubectl apply -f examples\/jobs\/namespace\.yaml/, { where: 'project', as: 'admin' }],
  [/^kubectl fluxqueue simulate /, { where: 'project', as: 'user', refusedOn20: /FLUXQ_NODE.*24/s }],
  [
    /^npx cdk8s-fluxqueue up/,
    { where: 'project', as: 'user', until: /Your own jobs/, refusedOn20: /FLUXQ_NODE.*24/s },
  ],
  [/^kubectl fluxqueue dashboard/, { where: 'project', as: 'user', until: /http:\/\/\S+/ }],
  [/^kubectl fluxqueue mc solver/, { because: 'docs/cli.md has a MiniCluster that reports' }],
  [/^kubectl fluxqueue doctor/, { because: 'it shows a broken stack; docs/cli.md has a whole one' }],
  [/^kubectl get mc hello -w/, { where: 'project', as: 'user', until: /^hello .*(Running|Finished)/m }],
  [/^kubectl logs /, { because: 'the nodes are simulated, so no kubelet has logs' }],
  [/^kubectl proxy/, { where: 'project', as: 'user', until: /Starting to serve/ }],
  [/^npx fluxqueue render --keygen/, { where: 'empty cluster', as: 'admin' }],
  [/-f manifests\//, { where: 'clone', as: 'owner' }],
  [/^npx cdk8s synth --app |examples\/minicluster/, { where: 'clone', as: 'user' }],
  [/^kubectl fluxqueue trace /, { where: 'project', as: 'admin' }],
  [
    /-n fluxqueue-system|-n team|namespace team|fluxqueue-system$|-f jobs\.yaml|kubectl delete -f \$file/,
    { because: REAL_NODES },
  ],
  [/^kubectl get fs -n physics/, { where: 'project', as: 'admin' }],
  [/^(kubectl|npx) /, { where: 'project', as: 'user' }],
];

/** What happens to a line; undefined if nobody has decided it. */
export function planOf({ place, text }: Line): Plan | Skipped | undefined {
  const because = ELSEWHERE[place.split(':')[0]!];
  return because === undefined ? PLANS.find(([pattern]) => pattern.test(text))?.[1] : { because };
}

export const isSkipped = (plan: Plan | Skipped): plan is Skipped => 'because' in plan;

/** Commands in the text of README, which are no lines of a block. */
export const INLINE: readonly Line[] = [
  'npx cdk8s synth',
  'npx fluxqueue render lammps.yaml',
  'npx cdk8s-fluxqueue up',
].map((text) => ({ place: 'README.md', text }));
