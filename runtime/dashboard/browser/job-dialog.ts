import { useEffect, useRef } from 'preact/hooks';
import type { JobView } from '../messages';
import { workloadOf } from './history';
import { HistoryList } from './history-list';
import { html } from './html';
import { clockTime, duration } from './words';

interface Props {
  /** Its key, also if there is no such job any more. */
  readonly name: string;
  readonly job: JobView | undefined;
  readonly now: number;
  readonly close: () => void;
}

/** All that is known of one job. */
export function JobDialog({ name, job, now, close }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  const workload = workloadOf(name, job);
  return html`
    <dialog ref=${dialog} aria-labelledby="job-title" onClose=${close}>
      <div class="title">
        <h2 id="job-title">${job === undefined ? name : `${job.namespace}/${job.name}`}</h2>
        <form method="dialog"><button>Close</button></form>
      </div>
      ${job === undefined ? html`<p>There is no such job, or no longer.</p>` : details(job, now)}
      ${workload !== undefined && html`<${HistoryList} workload=${workload} job=${job} now=${now} />`}
    </dialog>
  `;
}

function details(job: JobView, now: number) {
  const time = (at: string | undefined) => at && clockTime(at, now);
  const facts: readonly (readonly [string, string | number | undefined])[] = [
    ['Queue', job.queue],
    ['Phase', job.result === undefined ? job.phase : `${job.phase}: ${job.result}`],
    ['Position', job.position],
    ['Why', job.phase === 'Finished' ? undefined : `${job.reason}: ${job.message}`],
    ['Starts at the latest', time(job.reserved)],
    [
      'Would start',
      job.planned && `about ${time(job.planned)}, if nothing else were submitted; this is no promise`,
    ],
    [
      'Likely starts',
      job.likely && `about ${time(job.likely)}, if workloads end as early as usual; this is no promise`,
    ],
    ['Started', time(job.started)],
    ['Ended', time(job.ended)],
    ['Nodes', job.nodes],
    ['Pods', job.pods],
    ['Walltime', job.walltimeSeconds === undefined ? undefined : duration(job.walltimeSeconds * 1000)],
    ['Priority', job.priority],
    ['Requeued', job.requeues === undefined || job.requeues === 0 ? undefined : `${job.requeues} times`],
    ['Submitted', time(job.created || undefined)],
  ];
  const isKnown = ([, value]: (typeof facts)[number]) => value !== undefined && value !== '';
  return html`
    <dl>${facts.filter(isKnown).map(([title, value]) => html`<dt>${title}</dt><dd>${value}</dd>`)}</dl>
    ${job.notes.map((note) => html`<p>${note}</p>`)}
    ${
      job.shares.some(({ cores }) => cores !== undefined) &&
      html`<h3>What it holds</h3><ul>${job.shares.map(
        ({ node, cores, gpus, exclusive }) =>
          html`<li>${node}: ${[exclusive && 'the whole node', cores !== undefined && `${cores} cores`, gpus !== undefined && `${gpus} GPUs`].filter(Boolean).join(', ')}</li>`,
      )}</ul>`
    }
  `;
}
