import { useEffect, useMemo, useState } from 'preact/hooks';
import { holdsNodes, isActive } from '../../queue-order';
import { addressOf, keyIn } from './history';
import { html } from './html';
import { JobDialog } from './job-dialog';
import { NodeMap } from './node-map';
import { QueueTable } from './queue-table';
import type { State } from './state';
import { Timeline } from './timeline';
import { UsageSection } from './usage-section';
import { clockTime, count } from './words';

/** The job of the address, so that the page of a job can be kept as a bookmark and the browser's "back" closes it. */
function useChosenJob(): [string | undefined, (key: string | undefined) => void] {
  const read = () => keyIn(location.hash);
  const [chosen, setChosen] = useState(read);
  useEffect(() => {
    const listener = () => setChosen(read());
    addEventListener('hashchange', listener);
    return () => removeEventListener('hashchange', listener);
  }, []);
  const choose = (key: string | undefined) => {
    location.hash = addressOf(key);
  };
  return [chosen, choose];
}

const CONNECTIONS = {
  connecting: 'Connecting …',
  live: 'Live',
  lost: 'The connection is lost; trying again. What you see may be old. If the command that serves the page was ended, start it again and open its address.',
};

function Connection({ connection, now }: Pick<State, 'connection'> & { now: number }) {
  const isOld = typeof connection === 'object';
  return html`<p role="status" class=${`connection ${isOld ? 'lost' : connection}`}>${sentenceOf(connection, now)}</p>`;
}

function sentenceOf(connection: State['connection'], now: number): string {
  if (typeof connection === 'string') return CONNECTIONS[connection];
  if ('refused' in connection) return connection.refused;
  return `${connection.message} It tries again. What you see may have changed since ${clockTime(connection.since, now)}.`;
}

export function Page({ state }: { state: State }) {
  const [chosen, choose] = useChosenJob();
  const now = Date.now();
  const counts = useMemo(() => summary(state), [state.jobs]);
  return html`
    <header>
      <h1>fluxqueue</h1>
      <p>${counts}</p>
      ${state.namespace !== undefined && html`<p>Namespace <strong>${state.namespace}</strong></p>`}
      <${Connection} connection=${state.connection} now=${now} />
      <nav aria-label="Sections">
        <a href="#queue">Queue</a> <a href="#nodes">Nodes</a> <a href="#timeline">Timeline</a> <a href="#usage">Usage</a>
      </nav>
    </header>
    <main>
      <${QueueTable} jobs=${state.jobs} now=${now} choose=${choose} />
      <${NodeMap} state=${state} choose=${choose} />
      <${Timeline} jobs=${state.jobs} now=${now} choose=${choose} />
      <${UsageSection} jobs=${state.jobs} />
    </main>
    ${
      chosen !== undefined &&
      html`<${JobDialog} key=${chosen} name=${chosen} job=${state.jobs.get(chosen)} now=${now} close=${() => choose(undefined)} />`
    }
  `;
}

function summary({ jobs }: State): string {
  let running = 0;
  let waiting = 0;
  for (const job of jobs.values())
    if (holdsNodes(job)) running += 1;
    else if (isActive(job)) waiting += 1;
  return `${count(running, 'job runs', 'jobs run')}, ${waiting} ${waiting === 1 ? 'waits' : 'wait'}`;
}
