/**
 * What docs/cli.md shows of each command. A new command needs one line here: the lines of a shell that show it, or why it is not
 * shown. They run in this order on the queue of `scene.ts`, so a line sees what the lines above it have changed.
 */

/** One line of a shell that is run and shown with what it prints. A string is a line that ends with exit code 0. */
export interface Run {
  readonly line: string;
  /** The line is repeated until what it prints matches: statuses follow a change a moment later. @default - it is run once */
  readonly until?: RegExp;
  /** @default 0 */
  readonly exitCode?: number;
  /** The line does not end by itself: it gets Ctrl-C when what it prints matches `until`. @default false */
  readonly interrupted?: boolean;
}

interface Shown {
  readonly command: string;
  /** What the page says before the lines. @default - nothing */
  readonly text?: string;
  readonly runs: readonly (string | Run)[];
}

interface NotShown {
  readonly command: string;
  /** Ends the sentence "Not run here, because". */
  readonly notRunBecause: string;
}

export type Entry = Shown | NotShown;

/** A section of the page. */
export interface Group {
  readonly title: string;
  readonly text: string;
  /** Who runs its lines: a user with the role `edit` in one namespace, or an administrator of the cluster. */
  readonly as: 'user' | 'admin';
  readonly entries: readonly Entry[];
}

export const GROUPS: readonly Group[] = [
  {
    title: 'For users',
    text: `These commands need nothing but your kubeconfig and your own rights: they read FluxJobs, and change what you may change yourself. \`plan\`, \`whatif\`,
\`history\` and \`usage\` ask the read API of the stack ([decision 42](decisions/0042-read-api.md)). Here ada runs them, who has the role \`edit\` in the namespace \`science\`, which is that of her kubeconfig. A workload is \`NAME\`, \`job/NAME\` or \`pod/NAME\`.`,
    as: 'user',
    entries: [
      {
        command: 'queue',
        text: `A start without a sign is a fact, \`~\` is a promise (nodes are reserved), and \`?\` is a plan that others may change. \`-w\` redraws the table
when something changes; in a pipe, as here, it prints the rows that are new, have changed or are gone, as \`kubectl get --watch\` does. The apiserver
tells of changes; a lost connection is opened again. What is deleted in the foreground is \`Deleting\` until its pods have ended.`,
        runs: [
          {
            line: 'kubectl fluxqueue queue',
            until:
              /1 +job\/wide .*~\S+ .*Reserved\n.*2 +job\/tune .*\?\S+ .*Busy\n.*3 +job\/impossible .*Unsatisfiable/,
          },
          'kubectl fluxqueue queue -o name',
          { line: 'kubectl fluxqueue queue --all', until: /prepare .*Finished .*Succeeded/ },
          'kubectl fluxqueue queue -o wide wide tune',
          { line: 'kubectl fluxqueue queue --watch | cat', until: /impossible/, interrupted: true },
        ],
      },
      {
        command: 'top',
        text: 'It sums up what runs and waits: nodes, pods and the CPU that they request.',
        runs: ['kubectl fluxqueue top'],
      },
      {
        command: 'why',
        runs: [
          'kubectl fluxqueue why wide',
          'kubectl fluxqueue why tune',
          'kubectl fluxqueue why impossible',
          'kubectl fluxqueue why job/train',
          'kubectl fluxqueue why prepare',
          { line: 'kubectl fluxqueue why nothing', exitCode: 1 },
        ],
      },
      { command: 'when', runs: ['kubectl fluxqueue when tune', 'kubectl fluxqueue when train'] },
      {
        command: 'plan',
        text: `A bar begins and ends in the column of its time. \`-o wide\` says the same as a table without bars, for screen readers and programs; \`-w\` asks
again every 5 seconds.`,
        runs: [
          { line: 'kubectl fluxqueue plan --hours 4', until: /job\/wide +=+ .*\n(.*\n)*job\/tune +-+ / },
          'kubectl fluxqueue plan -o wide',
        ],
      },
      {
        command: 'whatif',
        text: `It asks about each workload of the file alone. Nobody is evicted in its answer: where the queue of it preempts or reclaims, it may start earlier. \`--nodes +20\`, \`--policy\` and \`--priority\` change what is asked about, never the queue.`,
        runs: [
          'kubectl fluxqueue whatif -f examples/jobs/small.yaml',
          'kubectl fluxqueue whatif -f examples/jobs/small.yaml --nodes +20',
          'kubectl fluxqueue whatif -f examples/jobs/impossible.yaml',
          { line: 'kubectl fluxqueue whatif -f examples/jobs/namespace.yaml', exitCode: 1 },
        ],
      },
      {
        command: 'hold',
        text: 'It sets the annotation `fluxqueue/hold`, or `spec.suspend` of a MiniCluster that has it. The workload keeps its place in the line, and others may start before it.',
        runs: [
          'kubectl fluxqueue hold wide',
          { line: 'kubectl fluxqueue why wide', until: /Held: (?!waiting for the next)/ },
          { line: 'kubectl fluxqueue queue', until: /wide .*Held\n.*tune .*Reserved/ },
        ],
      },
      {
        command: 'release',
        text: 'It removes the hold, and starts also what is held by `suspend: true` in its manifest, or in that of its MiniCluster. Here `tune` keeps what was promised to it meanwhile.',
        runs: [
          'kubectl fluxqueue release wide',
          { line: 'kubectl fluxqueue why wide', until: /position 1\nBusy.*\nit would start/ },
        ],
      },
      {
        command: 'priority',
        text: 'It sets the annotation `fluxqueue/priority`, or a `spec.priority` of a MiniCluster that is below 0, within the priorities that you may use. A queue with a narrower range limits it, as `why` says.',
        runs: [
          'kubectl fluxqueue priority wide -5',
          {
            line: 'kubectl fluxqueue queue',
            until: /1 +job\/tune .*~.*Reserved\n.*\n.*3 +job\/wide .*\?.*Busy/,
          },
          { line: 'kubectl fluxqueue priority wide 100', exitCode: 1 },
        ],
      },
      {
        command: 'cancel',
        text: 'Of a MiniCluster or a TrainJob it deletes the object itself, also if you name its Job or JobSet, which would be made again.',
        runs: [
          'kubectl fluxqueue cancel tune',
          { line: 'kubectl fluxqueue queue', until: /1 +job\/impossible(.|\n)*2 +job\/wide .*~/ },
        ],
      },
      {
        command: 'requeue',
        text: `It takes a running Job off its nodes and lets it wait in its queue again: its pods end, and start from the beginning.`,
        runs: ['kubectl fluxqueue requeue fit', { line: 'kubectl fluxqueue requeue wide', exitCode: 1 }],
      },
      {
        command: 'history',
        text: 'What has been deleted has a history, too; of a name that was used more often, that of its 200 newest workloads. BY is the user who submitted it, or the controller that decided or saw it; who changed a waiting workload is `unknown`: the audit log of the apiserver has the name. `-n` or `NAMESPACE/NAME` names another namespace.',
        runs: [
          'kubectl fluxqueue history prepare',
          'kubectl fluxqueue history tune',
          { line: 'kubectl fluxqueue history fit', until: /its first pod runs(.|\n)*its first pod runs/ },
          { line: 'kubectl fluxqueue history nothing', exitCode: 1 },
        ],
      },
      {
        command: 'usage',
        text: 'The hours are those of the period, also of what still runs; JOBS and PODS count what ended in it, Pods of their own as jobs, too. They are of grants: what pods use beyond theirs (`MoreThanGranted`, [scheduling.md](scheduling.md)) is charged to quota and fair share while it lasts, and is in no hours.',
        runs: [
          'kubectl fluxqueue usage',
          'kubectl fluxqueue usage --by namespace',
          { line: 'kubectl fluxqueue usage -A', exitCode: 1 },
        ],
      },
      {
        command: 'mc',
        text: 'See [miniclusters.md](miniclusters.md).',
        runs: [{ line: 'kubectl fluxqueue mc hello', until: /jobs +3 pending/ }],
      },
      {
        command: 'dashboard',
        text: `It serves a live, read-only page on this machine, of what you may read; its address has a secret. A job opens with a click or Enter, with its
history. Nodes have their free and used cores if you may list nodes. The stack serves the same page to many ([the dashboard](dashboard.md)).

![Queue, nodes, timeline, usage and fair shares](dashboard-1280-light.png)`,
        runs: [{ line: 'kubectl fluxqueue dashboard', until: /Ctrl-C ends it/, interrupted: true }],
      },
      {
        command: 'render',
        text: 'It needs no cluster ([miniclusters.md](miniclusters.md)). Here are the kinds and names of what it prints:',
        runs: [
          "kubectl fluxqueue render --keygen examples/minicluster/sweep.yaml | grep -E '^(kind|  name):'",
        ],
      },
      {
        command: 'simulate',
        text: `It needs no cluster: it replays a trace with other policies, sizes or weights of queues ([scheduling.md](scheduling.md)). Here are a few jobs on a
machine of eight cores.`,
        runs: [
          'kubectl fluxqueue simulate examples/trace.swf --policy fcfs,easy',
          'kubectl fluxqueue simulate examples/trace.swf --nodes +4 --weights gpu=3,batch=1',
        ],
      },
      {
        command: 'up',
        notRunBecause:
          'it starts a control plane of its own and runs until Ctrl-C: `npx cdk8s-fluxqueue up` prints the commands that use it ([decision 43](decisions/0043-local-cluster.md))',
      },
      {
        command: 'completion',
        text: `\`source <(fluxqueue completion bash)\` in your shell. \`kubectl fluxqueue\` is completed by kubectl's own completion, if the folder of
\`kubectl_complete-fluxqueue\`, which npm installs, is in \`PATH\`.`,
        runs: ['kubectl fluxqueue completion bash | sed -n 1,3p'],
      },
    ],
  },
  {
    title: 'For administrators',
    text: `These run with the kubeconfig of an administrator, as \`npx fluxqueue\` too. \`nodes\`, \`graph\` and \`trace\` need no more than the role \`view\` in the
whole cluster, by a ClusterRoleBinding.`,
    as: 'admin',
    entries: [
      {
        command: 'nodes',
        text: `FREE, USED, RESERVED and UNMANAGED are what Kubernetes and the rows of the queue say; \`-o wide\` has what Fluxion says beside it. Where they differ,
a node has the status Drift, and a line below the table says how. Who may see nodes also reads in \`why\` what is free on which.`,
        runs: [
          'kubectl fluxqueue nodes node-0 node-[17-19]',
          'kubectl fluxqueue nodes -o wide node-0',
          'kubectl fluxqueue why wide | grep free',
        ],
      },
      {
        command: 'graph',
        runs: ['kubectl fluxqueue graph', 'kubectl fluxqueue graph --all | sed -n 1,6p'],
      },
      {
        command: 'trace',
        text: '`fluxqueue trace | fluxqueue simulate -` replays it with other policies, sizes or weights ([scheduling.md](scheduling.md)).',
        runs: ['kubectl fluxqueue trace'],
      },
      {
        command: 'drain',
        text: 'It cordons the node and says what of the queue is on it; `--after-jobs` waits until all of that has ended by itself.',
        runs: ['kubectl fluxqueue drain node-0'],
      },
      {
        command: 'doctor',
        text: 'See [operations.md](operations.md#what-is-wrong). Exit code 1: one of the findings is an error.',
        runs: ['kubectl fluxqueue doctor'],
      },
      {
        command: 'uninstall',
        text: 'Without `--release` it refuses while a workload waits, as here ([operations.md](operations.md)).',
        runs: [{ line: 'fluxqueue uninstall', exitCode: 1 }],
      },
    ],
  },
  {
    title: 'What the stack runs itself',
    text: 'The manifests of the stack run these commands; nobody else has to.',
    as: 'admin',
    entries: [
      {
        command: 'migrate',
        text: '`$ROLE` is the role of the controllers, and `DATABASE_URL` has the login of the owner.',
        runs: [
          'fluxqueue migrate --grant-to $ROLE',
          { line: 'fluxqueue migrate --grant-to $ROLE --stay', until: /migrated/, interrupted: true },
        ],
      },
      {
        command: 'password',
        runs: [
          'fluxqueue password --namespace science --secret database --folder database --url postgres://fluxqueue_runtime@database/fluxqueue',
          'ls database',
        ],
      },
      {
        command: 'keygen',
        runs: [
          'fluxqueue keygen --namespace science --secret lammps-curve --cluster lammps',
          'fluxqueue keygen --namespace science --secret lammps-curve --cluster lammps',
        ],
      },
      {
        command: 'store-backup',
        text: '`$STORE` is the URL of a store like S3 ([recovery.md](recovery.md)).',
        runs: ['fluxqueue store-backup --folder dumps --endpoint $STORE --bucket backups --prefix north/'],
      },
    ],
  },
];

export const ENTRIES: readonly Entry[] = GROUPS.flatMap(({ entries }) => entries);

/** With its defaults. */
export function runOf(run: string | Run): Run {
  return typeof run === 'string' ? { line: run } : run;
}
