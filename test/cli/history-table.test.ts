import { historyLines } from '../../runtime/cli/history-table';
import type { HistoryEntry } from '../../runtime/reader/kinds';

const entry: HistoryEntry = {
  at: '2027-01-15T08:00:00Z',
  uid: 'u1',
  kind: 'Job',
  event: 'Submitted',
  actor: 'ada',
  message: 'was admitted',
};
const nameless = { ...entry, at: '2027-01-15T08:01:00Z', event: 'Finished', actor: '', message: '' };

test('each event has a line', () => {
  expect(historyLines([entry, nameless], { wide: false })).toEqual([
    'TIME                  EVENT      BY       REASON',
    '2027-01-15T08:00:00Z  Submitted  ada      was admitted',
    '2027-01-15T08:01:00Z  Finished   unknown',
  ]);
});

test('lines name kind and uid if several workloads had the name, or if they are asked for', () => {
  const named = 'TIME                  KIND  UID  EVENT      BY   REASON';
  expect(historyLines([entry, { ...entry, uid: 'u2', kind: 'Pod' }], { wide: false })).toEqual([
    named,
    '2027-01-15T08:00:00Z  Job   u1   Submitted  ada  was admitted',
    '2027-01-15T08:00:00Z  Pod   u2   Submitted  ada  was admitted',
  ]);
  expect(historyLines([entry], { wide: true })[0]).toBe(named);
});

test('a message of several lines stays in its row', () => {
  const lines = historyLines([{ ...entry, message: 'a\r\n\u001b[31mb' }], { wide: false });
  expect(lines).toHaveLength(2);
  expect(lines[1]).toMatch(/a \[31mb$/);
});

test('equal events one after the other share a line', () => {
  const at = (second: number) => ({ ...entry, at: `2027-01-15T08:00:0${second}Z` });
  const other = { ...at(4), message: 'was changed' };
  expect(historyLines([at(1), at(2), at(3), other, at(5)], { wide: false })).toEqual([
    'TIME                  EVENT      BY   REASON',
    '2027-01-15T08:00:01Z  Submitted  ada  was admitted (3 times, last at 2027-01-15T08:00:03Z)',
    '2027-01-15T08:00:04Z  Submitted  ada  was changed',
    '2027-01-15T08:00:05Z  Submitted  ada  was admitted',
  ]);
});
